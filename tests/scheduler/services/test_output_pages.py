"""Pages of output are asked of the node, and taken only where they were asked for."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.protocol import messages
from scheduler.selectors import explanations
from scheduler.services import commands, output_pages


@pytest.fixture
def sent(monkeypatch):
    """Collect what is sent directly, as (node, request)."""
    found = []
    monkeypatch.setattr(commands, "send_directly", lambda node, message: found.append((node.name, message)))
    return found


@pytest.fixture
def session(cluster):
    return cluster.run(cluster.alice)


@pytest.fixture
def cluster(make_cluster):
    return make_cluster()


def a_page(request, **more):
    facts = {"offset": request.offset, "data": "hello", "size": 5, "eof": True, "next_offset": 5}
    about = {"session": request.session, "epoch": request.epoch, "command_id": request.command_id}
    return messages.OutputPage(**about | facts | more)


def age(seconds):
    earlier = clock.now() - datetime.timedelta(seconds=seconds)
    models.OutputPage.objects.update(asked_at=earlier, came_at=earlier)


def test_a_page_is_asked_of_the_node_of_the_newest_run_once_and_again_later(sent, session):
    assert output_pages.ask(session, offset=7).came_at is None
    output_pages.ask(session, offset=7)
    models.OutputPage.objects.update(asked_at=clock.now() - datetime.timedelta(seconds=6))
    output_pages.ask(session, offset=7)

    (node, first), (_, again) = sent
    assert (node, first.offset, first.epoch) == ("n1", 7, 1)
    assert first.command_id != again.command_id


def test_what_comes_is_kept_and_the_end_of_a_growing_output_is_asked_for_anew(sent, cluster, session):
    output_pages.ask(session, offset=0)
    cluster.agent.send(a_page(sent[0][1], data="a\x00b"))
    page = output_pages.ask(session, offset=0)
    assert (page.text, page.next_offset, page.size, len(sent)) == ("a\ufffdb", 5, 5, 1)

    age(4)
    output_pages.ask(session, offset=0)
    assert len(sent) == 2


def test_a_page_that_is_not_the_last_is_not_asked_for_twice(sent, cluster, session):
    output_pages.ask(session, offset=0)
    cluster.agent.send(a_page(sent[0][1], size=9, eof=False))
    age(1000)
    output_pages.ask(session, offset=0)

    assert len(sent) == 1


def test_output_that_its_node_does_not_keep_any_more_is_said_to_be_gone(sent, cluster, session):
    output_pages.ask(session, offset=0)
    request = sent[0][1]
    cluster.agent.send(
        messages.Gone(session=request.session, epoch=request.epoch, command_id=request.command_id)
    )

    assert output_pages.ask(session, offset=0).is_gone
    session.refresh_from_db()
    assert session.state == "running"


def test_p08_a_page_that_nobody_asked_for_or_of_another_node_changes_nothing(sent, cluster, session, refused):
    other = cluster.join("n2")
    output_pages.ask(session, offset=0)
    request = sent[0][1]
    other.send(a_page(request))
    cluster.agent.send(a_page(request, command_id=commands.new_command_id()))
    cluster.agent.send(a_page(request, command_id=""))

    assert models.OutputPage.objects.get().came_at is None
    assert len(refused()) == 3


def test_a_session_that_never_ran_has_no_page(sent, cluster):
    assert output_pages.ask(cluster.submit(cluster.alice), offset=0) is None
    assert sent == []


def test_a_broker_that_is_away_is_no_error_of_the_page(monkeypatch, session):
    monkeypatch.setattr(commands, "send_directly", lambda node, message: 1 / 0)

    assert output_pages.ask(session, offset=0).came_at is None


def test_pages_that_nobody_looks_at_are_forgotten(sent, session):
    output_pages.ask(session, offset=0)
    assert output_pages.prune() == 0
    age(3601)

    assert output_pages.prune() == 1


@pytest.fixture
def pair(cluster):
    """A session on two nodes, with the agents in the order of its ranks."""
    session, other = cluster.pair(cluster.alice)
    agents = {agent.node.name: agent for agent in (cluster.agent, other)}
    return session, [agents[name] for name in explanations.output_nodes(session)]


def test_each_node_of_a_session_on_several_is_asked_for_its_own_output(pair, sent):
    session, agents = pair
    for rank in (0, 1):
        assert output_pages.ask(session, offset=0, rank=rank).rank == rank
    requests = [request for _, request in sent]

    assert [name for name, _ in sent] == [agent.node.name for agent in agents]
    assert output_pages.take(agents[1].node, a_page(requests[0])) is False
    assert output_pages.take(agents[1].node, a_page(requests[1], data="second")) is True
    assert output_pages.ask(session, offset=0, rank=1).text == "second"
    assert output_pages.ask(session, offset=0).came_at is None
    assert output_pages.ask(session, offset=0, rank=2) is None


def test_the_last_lines_of_each_node_are_kept_apart(pair):
    session, (first, second) = pair
    about = {"session": str(session.public_id), "epoch": 1, "truncated": False}
    first.send(messages.OutputTail(**about, tail="short", size=5))
    second.send(messages.OutputTail(**about, tail="long line", size=9))

    assert explanations.output(session).tail == "short"
    assert explanations.output(session, rank=1).tail == "long line"
