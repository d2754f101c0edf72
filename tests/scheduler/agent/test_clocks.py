"""A node's wall clock is wrong, or jumps: nothing that the agent does or says depends on it (P17)."""

import itertools
import time

import pytest

from scheduler.agent import loop
from scheduler.protocol import fields, messages

HOUR_S = 3600
#: Name of a clock -> by how much it is wrong, reading after reading, in seconds.
CLOCKS = {
    "an hour ahead": lambda: itertools.repeat(HOUR_S),
    "an hour behind": lambda: itertools.repeat(-HOUR_S),
    "jumping": lambda: itertools.cycle([0, 600, -600, HOUR_S, -HOUR_S]),
}
COUNTER = """
ready()
while True:
    time.sleep(0.01); tick()
"""


@pytest.fixture(params=CLOCKS)
def wrong_clock(request, monkeypatch):
    real, shifts = time.time, CLOCKS[request.param]()
    monkeypatch.setattr(time, "time", lambda: real() + next(shifts))


async def test_P17_a_whole_life_is_ordered_and_timed_alike_whatever_the_wall_clock_says(
    bench, wrong_clock, tmp_path
):
    run = await bench.started(COUNTER, env={"TICKS": str(tmp_path / "ticks")})
    await bench.ask(run.suspend(), messages.Stopped)
    await bench.restart()
    await bench.ask(run.about(messages.ResumeCommand, epoch=2), messages.Resumed)
    stopped = await bench.ask(
        run.about(messages.StopCommand, epoch=2, action="suspend", mode="suspend"), messages.Stopped
    )
    kill = run.about(messages.KillCommand, epoch=2, cause="cancelled", grace_ms=0)
    ended = await bench.ask(kill, messages.Ended)

    numbers = list(dict.fromkeys((envelope.boot, envelope.seq) for envelope in bench.wire.envelopes))
    assert numbers == sorted(numbers)
    assert 0 < ended.ran_ms < HOUR_S * 1000
    assert stopped.waited_ms < HOUR_S * 1000
    assert ended.at_mono_ms > stopped.at_mono_ms


async def test_P17_a_limit_of_wall_time_and_a_fence_count_what_really_passed(bench, wrong_clock):
    fenced = await bench.started(fence_ms=1_800_000)
    limited = await bench.started(
        script="trap '' TERM; while :; do sleep 0.05; done", wall_limit_s=1, grace_ms=100
    )
    ended = await bench.report(messages.Ended, session=limited.session)

    assert ended.cause is fields.EndCause.WALL_TIME
    assert 1000 <= ended.ran_ms < HOUR_S * 1000
    assert fenced.members != []


async def test_P17_output_is_kept_for_its_time_though_the_clock_has_jumped_over_it(bench, wrong_clock):
    run = await bench.started(script="echo kept")
    await bench.report(messages.Ended, session=run.session)
    for _ in range(5):
        loop.clean(bench.means, retention_s=HOUR_S // 2)

    assert run.output == "kept\n"
