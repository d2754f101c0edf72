"""The command line: everything that keeps an agent from starting is one clear line."""

import fcntl
import json
import os

import pytest

from scheduler.agent import __main__ as main
from tests.scheduler.agent import controller as ends


@pytest.fixture
def agent(tmp_path):
    return ends.AgentProcess(tmp_path, "redis://127.0.0.1:1/0")


def refusal(agent, *more):
    done = ends.run(*agent.arguments, *more)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused")
def test_root_is_refused_because_sessions_would_be_root(agent):
    assert "refusing to run as root" in refusal(agent)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may name a table")
def test_a_table_of_accounts_that_others_may_write_is_refused(agent, tmp_path):
    table = tmp_path / "accounts.json"
    table.write_text("{}")
    table.chmod(0o666)

    assert "writable by root alone" in refusal(agent, "--accounts", str(table))


def test_accounts_of_others_need_root(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    options = main.parse(
        ["--node", "n1", "--broker", "memory://", "--key-file", "k", "--state-dir", "s", "--accounts", "t"]
    )
    with pytest.raises(main.UsageError, match="--accounts needs root"):
        main._check_user(options)


def test_a_key_of_another_node_is_refused(agent):
    key = json.loads(agent.key_file.read_text()) | {"node": "n2"}
    agent.key_file.write_text(json.dumps(key))

    assert "belongs to the node n2, not to n1" in refusal(agent, "--allow-root")


def test_a_key_file_of_another_form_is_refused(agent):
    agent.key_file.write_text("{}")

    assert "write it with agent_enroll" in refusal(agent, "--allow-root")


def test_a_second_agent_on_the_same_state_directory_is_refused(agent, tmp_path):
    (tmp_path / "state").mkdir()
    with (tmp_path / "state" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        assert "another agent works in" in refusal(agent, "--allow-root")


def test_a_damaged_journal_is_refused_and_named(agent, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "journal").write_text("damage\n")

    assert "line 1 is damaged" in refusal(agent, "--allow-root")


def test_a_state_directory_that_cannot_be_made_is_named(agent, tmp_path):
    (tmp_path / "state").write_text("a file")

    assert str(tmp_path / "state") in refusal(agent, "--allow-root")


def test_a_freezer_that_is_not_delegated_cannot_be_asked_for(monkeypatch):
    monkeypatch.setattr(main.freezer, "delegated_root", lambda: None)
    with pytest.raises(main.UsageError, match="use --stop-method signals"):
        main._cgroup_root("freezer")

    assert main._cgroup_root("auto") is None
