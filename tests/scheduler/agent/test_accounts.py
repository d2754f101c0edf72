"""Whose account a session runs as: the table, and what a job of another account finds and can do."""

import json
import os
import pwd
import shutil

import pytest

from scheduler.agent import accounts, launch
from scheduler.protocol import messages
from tests.conformance import programs
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import strangers

PEOPLE = {"ann": 1001, "daemon": 1, "root": 0, "nobody": 65_534, "toor": 0}


@pytest.fixture
def table(tmp_path, monkeypatch):
    def entry(name):
        return pwd.struct_passwd((name, "x", PEOPLE[name], 1001, "", f"/home/{name}", "/bin/sh"))

    monkeypatch.setattr(pwd, "getpwnam", entry)
    monkeypatch.setattr(os, "getgrouplist", lambda name, gid: [gid, 0, 44])
    path = tmp_path / "accounts.json"
    path.write_text(json.dumps({"alice": "ann", **{name: name for name in PEOPLE}, "bob": "gone"}))
    path.chmod(0o644)
    return accounts.Table(path)


@strangers.NEEDS_ROOT
def test_an_owner_gets_the_account_of_the_table_with_its_groups_but_never_roots(table):
    assert table.account_of("alice") == accounts.Account("ann", 1001, 1001, (1001, 44), "/home/ann")


@strangers.NEEDS_ROOT
@pytest.mark.parametrize(
    ("owner", "says"),
    [
        ("eve", "no account on this node belongs to eve"),
        ("", "belongs to a session without owner"),
        ("bob", "the account gone of bob does not exist"),
        ("root", "may not run as root, user id 0"),
        ("toor", "may not run as toor, user id 0"),
        ("daemon", "may not run as daemon, user id 1,"),
        ("nobody", "may not run as nobody"),
    ],
)
def test_no_owner_gets_an_account_that_is_not_his_own(table, owner, says):
    with pytest.raises(accounts.AccountError, match=says):
        table.account_of(owner)


@strangers.NEEDS_ROOT
@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_table_that_others_may_write_is_refused(table, tmp_path, mode):
    (tmp_path / "accounts.json").chmod(mode)
    with pytest.raises(accounts.AccountError, match="writable by root alone"):
        table.account_of("alice")


@strangers.NEEDS_ROOT
def test_a_table_that_belongs_to_another_is_refused(table, tmp_path):
    os.chown(tmp_path / "accounts.json", 1001, 0)
    with pytest.raises(accounts.AccountError, match="must belong to root"):
        table.account_of("alice")


@pytest.mark.parametrize("text", ["", "[]", '{"alice": 0}'])
def test_a_table_of_another_form_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.setattr(os, "fstat", lambda descriptor: os.stat_result([0o100600, *[0] * 9]))
    path = tmp_path / "accounts.json"
    path.write_text(text)
    with pytest.raises(accounts.AccountError, match=r"cannot read the table|must be an object"):
        accounts.Table(path).read()


# -- a job of another account

FACTS = """
import json, resource
def tried(act):
    try:
        return repr(act())
    except OSError as fault:
        return fault.strerror
def facts(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(l.split()[1:] for l in lines if l.startswith(name + ":"))
run = os.path.dirname(os.environ["XCE_OUTPUT_DIR"])
print(json.dumps({
    "ids": [os.getresuid(), os.getresgid(), os.getgroups()], "capabilities": facts("CapEff"),
    "no_new_privs": facts("NoNewPrivs"), "root_again": tried(lambda: os.setuid(0)),
    "set_user_id": tried(lambda: os.popen(f"{SET_USER_ID} -u").read().strip()),
    "work": tried(lambda: open("mine", "w").close()),
    "told": tried(lambda: open(os.environ["XCE_CHECKPOINTED_FILE"], "w").close()),
    "checkpoint": tried(lambda: open(os.environ["XCE_CHECKPOINT_DIR"] + "/x", "w").close()),
    "spec": tried(lambda: open(run + "/spec").read()), "journal": tried(lambda: open(run + "/../../journal").read()),
    "list": tried(lambda: os.listdir(run)), "make": tried(lambda: os.mkdir(run + "/x")),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
    "person": [os.environ["USER"], os.environ["HOME"] == os.getcwd()],
}))
ready()
"""


@pytest.fixture
async def crowd(forks):
    """A bench whose sessions run as another account."""
    with strangers.public_place() as place:
        one = benches.Bench(place, forks, multi_user=True, table=strangers.Table())
        await one.up()
        yield one
        await one.clear()


@strangers.NEEDS_ROOT
async def test_a_job_has_the_rights_of_its_account_and_no_others(crowd):
    set_user_id = crowd.place / "id"
    shutil.copy(shutil.which("id"), set_user_id)
    set_user_id.chmod(0o4755)
    code = FACTS.replace("{SET_USER_ID}", str(set_user_id)).replace("SET_USER_ID", str(set_user_id))
    argv = (strangers.python(), *programs.python(code)[1:])
    start = benches.a_start(argv=argv)
    crowd.tell(start)
    ended = await crowd.report(messages.Ended, session=start.session)
    text = (crowd.space.run_dir(start.session, 1) / "output").read_text()
    facts, uid = json.loads(text.splitlines()[0]), strangers.UID

    assert facts["ids"] == [[uid] * 3, [uid] * 3, list(strangers.GROUPS)]
    assert (facts["capabilities"], facts["no_new_privs"]) == (["0000000000000000"], ["1"])
    assert (facts["root_again"], facts["set_user_id"]) == ("Operation not permitted", repr(str(uid)))
    assert [facts[name] for name in ("work", "told", "checkpoint")] == ["None"] * 3
    assert [facts[name] for name in ("spec", "journal", "list", "make")] == ["Permission denied"] * 4
    assert facts["files"] <= 16_384
    assert facts["person"] == [f"stranger-{uid}", True]
    assert (ended.exit_code, ended.checkpointed, ended.known) == (0, True, True)


@strangers.NEEDS_ROOT
async def test_a_session_of_another_account_is_suspended_resumed_ended_and_its_files_go(crowd):
    run = await crowd.started(script="umask 077; mkdir deep; touch deep/file; while :; do sleep 0.01; done")
    await crowd.until(lambda: (run.directory / "work/deep/file").exists(), "it has written")
    await crowd.ask(run.suspend(), messages.Stopped)
    assert {p.state for p in run.members} == {"T"}
    await crowd.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    ended = await crowd.ask(run.kill(epoch=2), messages.Ended)
    crowd.space.remove(run.session, 1)

    assert (ended.known, run.members) == (True, [])
    assert not run.directory.exists()


@strangers.NEEDS_ROOT
async def test_an_owner_without_an_account_is_a_failed_start(forks, table):
    with strangers.public_place() as place:
        one = benches.Bench(place, forks, multi_user=True, table=table)
        await one.up()
        failed = await one.ask(benches.a_start(owner="eve"), messages.StartFailed)
        await one.clear()

    assert failed.error == "no account on this node belongs to eve"


@strangers.NEEDS_ROOT
@pytest.mark.parametrize("wrong", [{"uid": 0}, {"gid": 0}, {"groups": [0, 7]}], ids=str)
def test_a_right_of_root_that_is_left_ends_the_start(wrong):
    account = {"uid": strangers.UID, "gid": strangers.UID, "groups": []} | wrong
    pid = os.fork()
    if pid == 0:
        try:
            launch._become(account)
        except PermissionError:
            os._exit(7)
        finally:
            os._exit(0)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
