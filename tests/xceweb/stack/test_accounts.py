import os
import subprocess

import pytest

from xceweb.stack import accounts, errors


def test_an_ordinary_user_runs_everything_as_itself(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert accounts.choose() is None
    assert accounts.popen_arguments(None) == {}


def test_root_gives_its_processes_to_nobody(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("XCE_RUN_AS", raising=False)

    assert accounts.choose().name == "nobody"


@pytest.mark.parametrize(("name", "message"), [("root", "is root"), ("no-such-account", "no account")])
def test_an_account_that_will_not_do_is_refused(name, message, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("XCE_RUN_AS", name)

    with pytest.raises(errors.StackError, match=message):
        accounts.choose()


def test_a_process_of_the_account_has_no_right_of_root(only_root, account):
    script = "id -u; id -G; grep CapEff /proc/self/status; touch /etc/xce-test 2>/dev/null || echo refused"
    done = subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        **accounts.popen_arguments(account),
    )

    assert done.stdout.split() == [
        str(account.uid),
        str(account.gid),
        "CapEff:",
        "0000000000000000",
        "refused",
    ]


def test_a_tree_changes_hands_without_following_links(only_root, account, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner" / "file").touch()
    (tree / "link").symlink_to(outside)
    accounts.give_tree(tree, account)

    assert {path.lstat().st_uid for path in [tree, *tree.rglob("*")]} == {account.uid}
    assert outside.stat().st_uid == 0


def test_a_file_with_a_second_name_keeps_its_owner(only_root, account, tmp_path):
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.touch()
    tree.mkdir()
    os.link(outside, tree / "name")
    accounts.give_tree(tree, account)

    assert outside.stat().st_uid == 0


def test_private_entries_stay_with_their_owner(only_root, account, tmp_path):
    (tmp_path / "secrets.json").touch()
    (tmp_path / "log").mkdir()
    accounts.give_tree(tmp_path, account, private=frozenset({"secrets.json"}))

    assert (tmp_path / "secrets.json").stat().st_uid == 0
    assert (tmp_path / "log").stat().st_uid == account.uid
