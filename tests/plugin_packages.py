"""Packages with preemption policies, installed where a test can find them: the example by pip, others by hand."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile

#: What each package that is installed by hand says of itself.
SUMMARY = "Stops whoever costs least"
EXAMPLE = pathlib.Path(__file__).parent / "data" / "example_policy"


def install_example(place: pathlib.Path) -> pathlib.Path:
    """Build the example package and install it with pip, without network; returns the directory for the path."""
    wheel, installed = _wheel(EXAMPLE, place), place / "installed"
    options = ["--no-index", "--no-deps", "--disable-pip-version-check", "--no-compile"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(installed), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return installed


def _wheel(source: pathlib.Path, place: pathlib.Path) -> pathlib.Path:
    """Build a package of plain modules from its `pyproject.toml`, as its own build tool would: that needs network."""
    settings = tomllib.loads((source / "pyproject.toml").read_text())
    project, modules = settings["project"], settings["tool"]["setuptools"]["py-modules"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    points = [
        line
        for group, named in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in named.items()))
    ]
    texts = {f"{module}.py": (source / f"{module}.py").read_text() for module in modules}
    texts |= {
        f"{stem}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        ),
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": "\n".join([*points, ""]),
    }
    record = [*(f"{name},," for name in texts), f"{stem}.dist-info/RECORD,,"]
    texts[f"{stem}.dist-info/RECORD"] = "\n".join([*record, ""])
    wheel = place / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return wheel


def install(place: pathlib.Path, package: str, policies: dict[str, str], *, code: str = "") -> pathlib.Path:
    """
    Write a package of one module with its metadata, as an installer would leave it.

    Args:
        package: its name; the module is called the same.
        policies: name -> target, ``module:function`` or only the function.

    Returns:
        The directory to put on the path.
    """
    metadata = place / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (place / f"{package}.py").write_text(textwrap.dedent(code))
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nSummary: {SUMMARY}\n"
    )
    targets = {name: target if ":" in target else f"{package}:{target}" for name, target in policies.items()}
    lines = [f"{name} = {target}" for name, target in targets.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[xce.preempt_policies]", *lines, ""]))
    return place


def uninstall(place: pathlib.Path, package: str) -> None:
    """Take a package away that ``install`` wrote."""
    shutil.rmtree(place / f"{package}-1.0.dist-info")
    (place / f"{package}.py").unlink()
