"""The environment maker of `bin/`: it runs before anything is installed, so it is loaded from its file."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

BIN = pathlib.Path(__file__).resolve().parents[2] / "bin"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    specification = importlib.util.spec_from_file_location("xce_environment", BIN / "environment.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setenv("XCE_VENV", str(tmp_path / "venv"))
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\n")
    return module


def test_the_environment_is_made_once(environment, capsys):
    python = environment.prepare("requirements.txt")
    made = capsys.readouterr().out
    assert subprocess.check_output([python, "-c", "print(1)"]) == b"1\n"
    environment.prepare("requirements.txt")

    assert [line.split()[0] for line in made.splitlines()] == ["making", "installing"]
    assert capsys.readouterr().out == ""


def test_a_changed_requirements_file_is_installed_again(environment, tmp_path, capsys):
    environment.prepare("requirements.txt")
    (tmp_path / "requirements.txt").write_text("# changed\n")
    capsys.readouterr()
    environment.prepare("requirements.txt")

    assert capsys.readouterr().out.startswith("installing requirements.txt")


def test_a_file_depends_on_those_it_includes(environment, tmp_path):
    before = environment.digest("requirements-dev.txt")
    (tmp_path / "requirements.txt").write_text("# changed\n")

    assert environment.digest("requirements-dev.txt") != before


def test_the_development_files_hold_for_the_runtime_too(environment, capsys):
    environment.prepare("requirements-dev.txt")
    capsys.readouterr()
    environment.prepare("requirements.txt")

    assert capsys.readouterr().out == ""


def test_another_python_means_a_new_environment(environment, tmp_path, capsys):
    environment.prepare("requirements.txt")
    facts = tmp_path / "venv" / "installed.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "python": [3, 11, 0]}))
    capsys.readouterr()
    environment.prepare("requirements.txt")

    assert capsys.readouterr().out.startswith("making")


def test_a_directory_of_somebody_else_is_left_alone(environment, tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "precious").touch()

    with pytest.raises(environment.CannotPrepare, match="made by something else"):
        environment.prepare("requirements.txt")
    assert (tmp_path / "venv" / "precious").exists()


def test_an_environment_that_was_interrupted_in_the_making_is_made_again(environment, tmp_path, capsys):
    (tmp_path / "venv" / "lib").mkdir(parents=True)
    (tmp_path / "venv" / "installed.json").write_text("{}")
    python = environment.prepare("requirements.txt")

    assert subprocess.check_output([python, "-c", "print(1)"]) == b"1\n"


def test_a_failed_install_is_one_line_and_not_remembered(environment, tmp_path):
    (tmp_path / "requirements.txt").write_text("not a requirement\n")

    for _ in range(2):
        with pytest.raises(
            environment.CannotPrepare, match=r"pip could not install requirements\.txt: ERROR"
        ):
            environment.prepare("requirements.txt")


@pytest.mark.parametrize("script", ["up", "manage", "test", "check"])
def test_an_old_python_is_one_line_and_exit_code_1(script):
    code = f"import sys; sys.version_info = (3, 8, 1, 'final', 0); exec(open({str(BIN / script)!r}).read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == "error: XCE Web needs Python 3.11 or newer; this is 3.8\n"
