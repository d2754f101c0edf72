import os
import pathlib
import subprocess
import sys

import pytest

from xceweb.stack import datadir, errors


def test_a_new_directory_is_private_and_laid_out(tmp_path):
    directory = datadir.open_at(tmp_path / "new" / "data", None)

    assert directory.root.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in directory.root.iterdir()} == {"log", "agents", "home"}


def test_a_path_through_a_file_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(errors.StackError, match=r"cannot be used: Not a directory; choose another"):
        datadir.open_at(tmp_path / "file" / "data", None)


def test_a_directory_without_rights_is_refused(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    tmp_path.chmod(0)

    with pytest.raises(errors.StackError, match="Permission denied"):
        datadir.open_at(tmp_path, None)


def test_a_full_directory_is_refused_before_anything_is_written(only_root, tmp_path):
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", str(tmp_path)], **CAPTURED
    )

    assert done.stderr.strip().endswith(
        "cannot be used: No space left on device; choose another with --data-dir"
    )
    assert done.returncode == 1


def test_the_second_lock_names_the_running_stack(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    held = datadir.lock(directory)
    datadir.write_run_file(directory, url="http://127.0.0.1:8000", env={})
    try:
        with pytest.raises(
            errors.StackError, match=rf"already runs at http://127.0.0.1:8000 \(pid {os.getpid()}\)"
        ):
            datadir.lock(directory)
        assert datadir.is_locked(directory)
    finally:
        os.close(held)
    assert not datadir.is_locked(directory)


def test_a_stack_that_has_no_address_yet_is_starting(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    held = datadir.lock(directory)
    try:
        with pytest.raises(errors.StackError, match="starting or stopping"):
            datadir.lock(directory)
    finally:
        os.close(held)


def test_the_run_file_is_private(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    datadir.write_run_file(directory, url="http://x", env={"SECRET_KEY": "s"})

    assert directory.run_file.stat().st_mode & 0o777 == 0o600
    assert directory.read(directory.run_file)["env"] == {"SECRET_KEY": "s"}


def test_a_file_that_is_not_there_reads_as_none_and_a_damaged_one_is_named(tmp_path):
    directory = datadir.DataDir(tmp_path)
    assert directory.read(directory.logins_file) is None
    directory.logins_file.write_text("{")

    with pytest.raises(errors.StackError, match=r"logins\.json is damaged"):
        directory.read(directory.logins_file)


CAPTURED = {
    "capture_output": True,
    "text": True,
    "check": False,
    "cwd": str(pathlib.Path(__file__).parents[3]),
}
ON_A_SMALL_DISK = (
    f"mount -t tmpfs -o size=4m none $1 && exec {sys.executable} -c "
    '"import pathlib, sys; from xceweb.stack import datadir, errors;'
    ' errors.run(lambda: datadir.open_at(pathlib.Path(sys.argv[1]), None))" $1'
)
