"""At most one coroutine at a time."""

import asyncio

from scheduler.agent import work


async def forever(log, name):
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        log.append(name)
        raise


async def turns(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_new_intention_cancels_the_one_before():
    one, log = work.Work("s"), []
    one.begin(forever(log, "first"))
    await turns()
    one.begin(forever(log, "second"))
    await turns()

    assert log == ["first"]
    assert one.is_busy

    one.cancel()
    await turns()

    assert log == ["first", "second"]
    assert not one.is_busy


async def test_work_that_is_done_leaves_it_idle():
    one = work.Work("s")
    one.begin(turns(1))
    await turns()

    assert not one.is_busy


async def test_a_failure_is_logged_with_the_session(caplog):
    async def fail():
        raise RuntimeError("broken")

    one = work.Work("session-7")
    one.begin(fail())
    await turns()

    assert "session-7" in caplog.text
    assert not one.is_busy


async def test_a_coroutine_that_cancels_itself_goes_on_to_its_end():
    one, log = work.Work("s"), []

    async def finish():
        one.cancel()
        await asyncio.sleep(0)
        log.append("end")

    one.begin(finish())
    await turns()

    assert log == ["end"]


async def test_released_work_counts_as_idle_while_it_ends():
    one = work.Work("s")
    one.begin(turns(3))
    one.release()

    assert not one.is_busy
    await turns()


async def test_what_fails_again_and_again_is_told_once_until_it_works_or_fails_otherwise(caplog):
    async def fail(text):
        raise OSError(text)

    async def works():
        pass

    one = work.Work("s")
    for act in (fail("full"), fail("full"), fail("broken"), works(), fail("broken")):
        one.begin(act)
        await turns()

    assert len(caplog.records) == 3
