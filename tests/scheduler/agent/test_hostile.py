"""Sessions that do all they can against their supervision and the machine: contained, stopped, accounted, shown."""

import contextlib
import os

import pytest

from scheduler.agent import limits, processes
from scheduler.protocol import fields, messages
from tests.conformance import programs
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import strangers

MIB = 2**20
PROCESSES, MEMORY, OUTPUT = 60, 256 * MIB, MIB
#: Its name closes a bracket; it escapes by setsid, forks without pause, fills memory and output, and ignores all.
HOSTILE = """
ctypes.CDLL(None).prctl(15, b"a) R (b", 0, 0, 0)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN):
    signal.signal(number, signal.SIG_IGN)
def note(name):
    open(os.environ["XCE_CHECKPOINT_DIR"] + "/" + name, "w").close()
def eat():
    held = []
    try:
        while True:
            held.append(bytearray(8 << 20))
    except MemoryError:
        note("memory-refused")
    while True:
        time.sleep(1)
def bomb():
    os.setsid()
    while True:
        try:
            fork(bomb)
        except BlockingIOError:
            note("fork-refused"); time.sleep(0.01)
def flood():
    while True:
        os.write(1, b"x" * 65536); time.sleep(0.002)
fork(eat); fork(flood)
while not os.path.exists(os.environ["XCE_CHECKPOINT_DIR"] + "/memory-refused"):
    time.sleep(0.01)
fork(bomb); ready()
while True:
    time.sleep(0.01)
"""


@pytest.fixture
async def victim(forks):
    """A bench with tight limits; as root its sessions run as an account of their own."""
    is_root = os.geteuid() == 0
    more = {"table": strangers.Table(strangers.UID + 1)} if is_root else {}
    bounds = limits.Limits(processes=PROCESSES if is_root else PROCESSES + _own_threads())
    with strangers.public_place() as place:
        one = benches.Bench(place, forks, multi_user=is_root, limits=bounds, **more)
        await one.up()
        yield one
        await one.clear()


def _own_threads():
    mine = (p for p in processes.scan().values() if _uid(p.pid) == os.getuid())
    return sum(process.threads for process in mine)


def _uid(pid):
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid
    return -1


async def test_a_hostile_session_is_contained_suspended_ended_and_accounted(victim):
    argv = (strangers.python(), *programs.python(HOSTILE)[1:])
    run = await victim.started(argv=argv, slots={"mem": MEMORY}, output_limit_bytes=OUTPUT)
    signs = victim.space.checkpoint_dir(run.session)
    await victim.until(lambda: (signs / "fork-refused").exists(), "the kernel refuses a fork")
    await victim.until(
        lambda: (run.directory / "output").stat().st_size > 4 * OUTPUT, "the output is a flood"
    )

    assert (signs / "memory-refused").exists()
    assert 10 < len(run.members) <= PROCESSES
    assert max(processes.resident_bytes(p.pid) for p in run.members) <= MEMORY + 32 * MIB

    stopped = await victim.ask(run.suspend(), messages.Stopped)
    assert {p.state for p in run.members} == {"T"}
    assert len(stopped.members) == len(run.members)
    path = run.directory / "output"
    await victim.until(lambda: path.stat().st_blocks * 512 <= OUTPUT + 8192, "the output is within its limit")
    await victim.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)

    shepherd = run.shepherd
    ended = await victim.ask(run.kill(epoch=2), messages.Ended)
    assert (run.members, processes.is_alive(shepherd)) == ([], False)
    assert (ended.known, ended.cause) == (True, fields.EndCause.KILLED)
    assert ended.cpu_ms > 0
    assert ended.peak_bytes > MEMORY // 4
    assert ended.output_bytes > 4 * OUTPUT


async def test_the_kernel_looks_at_sessions_first_when_memory_runs_out(bench):
    run = await bench.started()
    score = {
        who: int((processes.PROC / str(who) / "oom_score_adj").read_text())
        for who in (run.pid, run.shepherd.pid)
    }

    assert score[run.pid] > score[run.shepherd.pid]
