"""The stream of sessions: always the same series, gentle, and it yields to people."""

import pytest

from scheduler import models
from scheduler.demo import stream, switch
from scheduler.services import actors, rounds, submission

pytestmark = pytest.mark.usefixtures("said")


def submit_until_it_rests():
    """Submit as long as the stream does, with a round after each session."""
    submitted = []
    while session := stream.submit_next():
        rounds.run_group_round(session.group_id)
        submitted.append(session)
        assert len(submitted) <= stream.MOST_ALIVE
    return submitted


def test_the_same_number_is_always_the_same_session():
    assert stream.plan_for(17) == stream.plan_for(17)


def test_sizes_queues_and_owners_vary():
    plans = [stream.plan_for(number) for number in range(1, 30)]

    assert {plan.owner for plan in plans} == {"alice", "bob", "carol"}
    assert {plan.request.queue for plan in plans} == {"normal", "background"}
    assert len({plan.request.argv[2] for plan in plans}) == 4


@pytest.mark.parametrize("number", range(1, 8))
def test_every_session_of_the_series_would_be_accepted(number):
    plan = stream.plan_for(number)
    owner = models.User.objects.get(username=plan.owner)

    assert submission.check_request(actors.of_user(owner), plan.request) == {}


def test_a_believable_number_is_kept_alive():
    assert stream.FEWEST_ALIVE <= len(submit_until_it_rests()) <= stream.MOST_ALIVE


def test_numbers_go_on_from_the_newest_session():
    first = stream.submit_next()
    rounds.run_group_round(first.group_id)
    second = stream.submit_next()

    assert stream.last_number() == int(second.environment[stream.MARK]) > int(first.environment[stream.MARK])


def test_the_stream_stops_while_one_of_its_own_waits():
    assert stream.submit_next() is not None
    assert stream.submit_next() is None


def test_the_stream_leaves_most_of_each_group_free():
    submit_until_it_rests()
    taken = dict(models.NodeSlot.objects.filter(kind="cuda.device").values_list("node__name", "allocated"))

    assert 1 <= sum(taken.values()) <= 3
    assert min(taken.values()) == 0


def test_a_group_that_people_use_gets_no_more_sessions():
    models.NodeSlot.objects.filter(node__group__slug="gpu", kind="cuda.device").update(allocated=2)
    groups = {session.group.slug for session in submit_until_it_rests()}

    assert groups == {"batch"}


def test_its_sessions_rank_below_a_default_session_of_the_same_owner():
    default = submission.SubmitRequest(name="x", group="gpu", queue="normal").job_priority

    assert all(stream.plan_for(n).request.job_priority < default for n in range(1, 10))


def test_nothing_is_submitted_while_the_switch_is_off():
    switch.turn(actors.of_command("test"), on=False, reason="quiet please")
    stream.look()

    assert not models.Session.objects.exists()


def test_a_look_submits_one_session():
    stream.look()

    assert models.Session.objects.count() == 1
