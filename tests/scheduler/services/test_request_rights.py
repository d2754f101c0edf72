"""Where a request may go."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import faults, request_rights, session_requests


def _request(cluster, **wanted):
    values = {"name": "s", "group": cluster.group.slug, "queue": "normal"}
    return session_requests.SubmitRequest(**(values | wanted))


@pytest.mark.parametrize("state", ["no_submit", "stopped"])
def test_a_queue_that_is_not_open_takes_nothing(make_cluster, state):
    cluster = make_cluster()
    models.Queue.objects.filter(slug="normal").update(state=state)
    found = faults.Faults()

    request_rights.queue_of(cluster.alice, _request(cluster), cluster.group, found)

    assert found == {"queue": "queue normal takes no submissions now"}


def test_a_queue_with_named_submitters_refuses_others(make_cluster):
    cluster = make_cluster()
    cluster.queues["normal"].submit_users.add(cluster.bob)
    found = faults.Faults()

    request_rights.queue_of(cluster.alice, _request(cluster), cluster.group, found)

    assert found == {"queue": "you are not among the submitters of queue normal"}


def test_a_dependency_on_what_one_may_not_see_does_not_exist(make_cluster):
    cluster = make_cluster()
    hidden = cluster.submit(cluster.bob)
    models.Session.objects.update(is_private=True)
    found = faults.Faults()
    wanted = _request(cluster, dependencies=[("afterok", str(hidden.public_id))])

    assert request_rights.dependencies(cluster.alice, wanted, found) == []
    assert found == {"dependencies": f"there is no session {hidden.public_id} that you may see"}


def test_a_manager_may_make_private_sessions(make_cluster):
    cluster = make_cluster()

    with pytest.raises(errors.Refusal):
        cluster.submit(cluster.alice, is_private=True)

    assert cluster.submit(cluster.admin, is_private=True).is_private
