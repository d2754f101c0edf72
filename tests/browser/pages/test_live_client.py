"""The socket client of the pages: nothing lost, nothing twice, and it says in which state it is."""

import pytest
from playwright import sync_api

pytestmark = pytest.mark.browser

HELD = 48_211  # the number that the sample pages begin with


@pytest.fixture
def page(open_page):
    """The overview with time under control."""
    found = open_page("overview", clock=True)
    found.wait_for_function("document.querySelector('[data-live-button]').dataset.state === 'live'")
    return found


def _told(page, kind):
    return [number for name, number in page.evaluate("window.told") if name == kind]


def _wait_told(page, kind, count):
    page.wait_for_function(
        "([kind, count]) => window.told.filter(([name]) => name === kind).length >= count", arg=[kind, count]
    )


def _wait_asked(page, stream, topic, count):
    for _ in range(200):
        if len(stream.asked(topic)) >= count:
            return
        page.evaluate("1")  # lets the messages of the socket arrive
        page.clock.run_for(50)
    raise AssertionError(f"{topic} was asked for {stream.asked(topic)}, not {count} times")


def _state(page):
    return page.locator("[data-live-button]").get_attribute("data-state")


def test_every_topic_goes_on_from_the_page(page, stream):
    _wait_asked(page, stream, "user:me", 1)

    assert stream.asked("cluster") == [HELD]
    assert stream.asked("user:me") == [HELD]


def test_an_event_is_told_by_all_its_names(page, stream):
    stream.batch(HELD, HELD + 1)
    _wait_told(page, "xce:group-gpu", 1)

    assert _told(page, "xce:event") == [HELD + 1]
    assert len(_told(page, "xce:cluster")) == 1
    assert len(_told(page, "xce:session-s1")) == 1


def test_a_gap_is_asked_for_and_then_told_in_order(page, stream):
    _wait_asked(page, stream, "cluster", 1)
    stream.batch(HELD + 2, HELD + 3)
    _wait_asked(page, stream, "cluster", 2)
    stream.batch(HELD, HELD + 1, HELD + 2, HELD + 3)
    _wait_told(page, "xce:event", 3)

    assert stream.asked("cluster") == [HELD, HELD]
    assert _told(page, "xce:event") == [HELD + 1, HELD + 2, HELD + 3]


def test_many_frames_beyond_a_gap_ask_once(page, stream):
    _wait_asked(page, stream, "cluster", 1)
    for number in range(HELD + 3, HELD + 9):
        stream.batch(number, number + 1)
    _wait_asked(page, stream, "cluster", 2)
    page.clock.run_for(200)

    assert stream.asked("cluster") == [HELD, HELD]


def test_an_overlap_is_told_once(page, stream):
    stream.batch(HELD, HELD + 1, HELD + 2)
    stream.batch(HELD, HELD + 1, HELD + 2)
    stream.batch(HELD + 1, HELD + 2, HELD + 3)
    _wait_told(page, "xce:event", 3)

    assert _told(page, "xce:event") == [HELD + 1, HELD + 2, HELD + 3]


def test_a_reconnect_goes_on_from_the_last_number(page, stream):
    stream.batch(HELD, HELD + 1)
    _wait_told(page, "xce:event", 1)
    stream.sockets[-1].close(code=1012)
    _wait_asked(page, stream, "cluster", 2)

    assert stream.asked("cluster") == [HELD, HELD + 1]
    assert len(stream.sockets) == 2


def test_a_storm_rings_at_once_and_once_more(page, stream):
    stream.batch(HELD, *range(HELD + 1, HELD + 40))
    _wait_told(page, "xce:event", 39)
    page.clock.run_for(5_000)

    assert len(_told(page, "xce:session-s1")) == 2
    assert len(_told(page, "xce:cluster")) == 2


def test_a_resync_rings_and_sets_the_number(page, stream):
    stream.send(type="resync", topic="cluster", last=HELD + 900)
    _wait_told(page, "xce:cluster", 1)
    stream.batch(HELD + 900, HELD + 901)
    _wait_told(page, "xce:event", 1)

    assert _told(page, "xce:event") == [HELD + 901]


def test_a_ping_is_answered(page, stream):
    stream.send(type="ping")
    page.wait_for_function("true")
    for _ in range(100):
        if {"type": "pong"} in stream.frames:
            break
        page.evaluate("1")

    assert {"type": "pong"} in stream.frames


def test_pausing_holds_everything_and_resuming_tells_it(page, stream):
    page.locator("[data-live-button]").click()
    stream.batch(HELD, HELD + 1, HELD + 2)
    page.wait_for_function("document.querySelector('[data-live-word]').textContent === 'Paused, 2 changes'")
    while_paused = _told(page, "xce:event")
    page.locator("[data-live-button]").click()
    _wait_told(page, "xce:event", 2)

    assert while_paused == []
    assert _told(page, "xce:event") == [HELD + 1, HELD + 2]
    assert _state(page) == "live"


def test_lost_rights_end_it(page, stream):
    stream.sockets[-1].close(code=4401)
    page.wait_for_function("document.querySelector('[data-live-word]').textContent === 'Signed out'")
    page.clock.run_for(120_000)

    assert len(stream.sockets) == 1


def _run_until(page, seconds, condition):
    for _ in range(seconds):
        page.clock.run_for(1_000)
        if condition():
            return True
    return False


def test_blocked_sockets_become_polling(page, stream):
    stream.block()

    assert _run_until(page, 180, lambda: len(_told(page, "xce:cluster")) >= 3)
    assert _run_until(page, 30, lambda: _state(page) == "polling")


def test_silence_without_a_connection_is_shown_as_stale(page, stream):
    page.route("**/*", lambda route: route.abort())
    stream.block()

    assert _run_until(page, 60, lambda: _state(page) == "stale")
    assert page.locator("[data-live-word]").text_content().startswith("Stale since ")


def test_the_feed_shows_text_as_text(page, stream):
    stream.batch(HELD, HELD + 1, text="**<img src=x onerror=alert(1)>** runs")
    first = page.locator("[data-feed] li").first
    sync_api.expect(first).to_have_attribute("data-number", str(HELD + 1))

    assert first.locator("b").text_content() == "<img src=x onerror=alert(1)>"
    assert first.locator("img").count() == 0


def test_the_feed_leads_nowhere_outside(page, stream):
    stream.batch(HELD, HELD + 1, link="javascript:alert(1)")
    first = page.locator("[data-feed] li").first
    sync_api.expect(first).to_have_attribute("data-number", str(HELD + 1))

    assert first.locator("a").count() == 0


def test_a_stop_of_ones_own_session_is_announced(page, stream):
    stream.batch(HELD, HELD + 1, topic="user:me", type="session.preempted", text="**s1** is being stopped")
    sync_api.expect(page.locator("#announce")).to_have_text("s1 is being stopped")

    assert page.locator("#toasts .toast").count() == 1


def test_an_event_of_two_topics_rings_once_for_each_name(page, stream):
    _wait_asked(page, stream, "user:me", 1)
    stream.batch(HELD, HELD + 1)
    stream.batch(HELD, HELD + 1, topic="user:me")
    _wait_told(page, "xce:user-me", 1)
    page.clock.run_for(5_000)

    assert _told(page, "xce:event") == [HELD + 1, HELD + 1]
    assert len(_told(page, "xce:session-s1")) == 1
    assert len(_told(page, "xce:cluster")) == 1


def test_the_sidebar_fetches_itself_when_something_happens(page, stream):
    fresh = '<div id="navigation" data-topic="cluster">fresh</div>'
    page.route(
        "**/navigation/?section=overview", lambda route: route.fulfill(body=fresh, content_type="text/html")
    )
    stream.batch(HELD, HELD + 1, type="group.policy_changed")

    sync_api.expect(page.locator("#sidebar #navigation")).to_have_text("fresh")


def test_the_feed_grows_to_fifty_and_older_rows_are_folded(page, stream):
    card = page.locator(".card", has=page.locator("[data-feed]"))
    older = card.locator("[data-feed-older]")
    before = (card.locator("[data-feed] > li").count(), older.locator("li").count())
    stream.batch(HELD, *range(HELD + 1, HELD + 33))
    _wait_told(page, "xce:event", 32)

    assert before == (15, 5)
    assert (card.locator("[data-feed] > li").count(), older.locator("li").count()) == (47, 3)


def test_a_feed_of_fifty_live_rows_has_no_older_ones(page, stream):
    stream.batch(HELD, *range(HELD + 1, HELD + 61))
    _wait_told(page, "xce:event", 60)

    assert page.locator("[data-feed] > li").count() == 50
    assert page.locator("[data-feed-older]").count() == 0
