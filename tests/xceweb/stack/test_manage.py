import os
import subprocess
import sys

import pytest

from xceweb.stack import datadir, errors, manage


def test_a_running_stack_gives_its_environment(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    held = datadir.lock(directory)
    datadir.write_run_file(directory, url="http://x", env={"DATABASE_URL": "postgresql://running/x"})
    try:
        with manage.environment(directory) as env:
            assert env == {"DATABASE_URL": "postgresql://running/x"}
    finally:
        os.close(held)


def test_a_stack_that_is_just_starting_is_not_disturbed(tmp_path):
    directory = datadir.open_at(tmp_path, None)
    held = datadir.lock(directory)
    try:
        with pytest.raises(errors.StackError, match="starting or stopping"), manage.environment(directory):
            pass
    finally:
        os.close(held)


def test_without_a_stack_servers_are_started_for_the_command(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "xceweb.stack.manage", "showmigrations", "scheduler"],
        env={**env, "XCE_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "[ ] 0001_initial" in done.stdout
    assert not datadir.is_locked(datadir.DataDir(tmp_path / "data"))


def run(*arguments):
    env = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    return subprocess.run(
        [sys.executable, "-P", "-m", "xceweb.stack.manage", *arguments],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("named", [("--data-dir", "{}"), ("--data-dir={}",)])
def test_a_database_without_tables_is_one_clear_line(tmp_path, named):
    done = run(*(word.format(tmp_path / "data") for word in named), "verify_invariants")

    assert done.returncode == 1
    assert done.stderr.startswith("error: the database is not prepared")
    assert "bin/up" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_data_directory_that_is_not_named_is_asked_for():
    done = run("--data-dir")

    assert (done.returncode, done.stderr.strip()) == (
        1,
        "error: --data-dir needs a directory: bin/manage --data-dir DIR COMMAND",
    )
