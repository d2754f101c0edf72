"""Every answer looks as its shape says, and every example of the schema as well."""

from __future__ import annotations

import pytest

from tests import worlds
from tests.xceweb.api import clients
from xceweb.api.v1 import (
    cluster_samples,
    cluster_shapes,
    decision_shapes,
    events,
    explanation_shapes,
    person_shapes,
    queue_shapes,
    rule_shapes,
    samples,
    session_shapes,
)

#: address -> shape; of a page that of a row. ``{session}`` and ``{decision}`` are those of the world.
READS = {
    "/me": person_shapes.Me,
    "/keypairs": person_shapes.Keypair,
    "/keypairs/{keypair}": person_shapes.Keypair,
    "/sessions": session_shapes.Session,
    "/sessions/{session}": session_shapes.SessionInside,
    "/sessions/{session}/explanation": explanation_shapes.Explanation,
    "/sessions/{victim}/explanation": explanation_shapes.Explanation,
    "/sessions/{session}/counterfactuals": explanation_shapes.Counterfactuals,
    "/sessions/{session}/timeline": session_shapes.Step(many=True),
    "/sessions/{session}/runs": session_shapes.Run(many=True),
    "/sessions/{session}/output": session_shapes.Output,
    "/saved-views": person_shapes.SavedView,
    "/runs": session_shapes.RunLine,
    "/resource-groups": cluster_shapes.Group,
    "/resource-groups/gpu": cluster_shapes.Group,
    "/resource-groups/gpu/roles": cluster_shapes.GroupRoles,
    "/resource-groups/gpu/preemption": rule_shapes.Preemption,
    "/resource-groups/gpu/policies": rule_shapes.Version(many=True),
    "/resource-groups/gpu/rounds": decision_shapes.Round,
    "/queues": queue_shapes.Queue(many=True),
    "/queues/normal": queue_shapes.Queue,
    "/queues/normal/order": cluster_shapes.Place(many=True),
    "/nodes": cluster_shapes.Node,
    "/nodes/gpu-1": cluster_shapes.Node,
    "/decisions": decision_shapes.DecisionLine,
    "/decisions/{decision}": explanation_shapes.Record,
    "/decisions/{decision}/re-run": explanation_shapes.Rerun,
    "/preemptions": decision_shapes.Stop,
    "/events": events.Batch,
}
#: Who may not read it, though they see the session.
_CLOSED = {
    "/sessions/{session}/runs": ("viewer", "submitter"),
    "/sessions/{session}/output": ("viewer", "submitter", "operator", "manager"),
}


@pytest.mark.parametrize("person", [name for name in worlds.PEOPLE if name not in ("anonymous", "outsider")])
def test_what_is_read_looks_as_it_is_described(api_of, world, person):
    api = api_of(person)
    names = {"session": world.waiting.public_id, "victim": world.victim.public_id}
    names |= {"decision": world.decision.public_id, "keypair": api.keypair.access_key}
    for path, shape in READS.items():
        answer = api.get(path.format(**names))
        if person in _CLOSED.get(path, ()):
            assert answer.status_code == 403, path
            continue
        assert answer.status_code == 200, path
        found = answer.json()
        is_page = isinstance(found, dict) and set(found) == {"next", "previous", "results"}
        for one in found["results"] if is_page else [found]:
            clients.assert_like(shape, one)


def test_lists_are_not_empty_where_there_is_something(api_of):
    api = api_of("administrator")
    pages = ("/keypairs", "/sessions", "/resource-groups", "/nodes", "/decisions", "/preemptions")

    assert {path: bool(api.get(path).json()["results"]) for path in pages} == dict.fromkeys(pages, True)


@pytest.mark.parametrize(
    ("shape", "sample"),
    [
        (session_shapes.Session, samples.SESSION),
        (session_shapes.SessionInside, samples.INSIDE),
        (session_shapes.DryRun, samples.DRY_RUN),
        (session_shapes.Step, samples.STEP),
        (session_shapes.Run, samples.RUN),
        (session_shapes.RunLine, samples.RUN_LINE),
        (session_shapes.Output, samples.OUTPUT),
        (cluster_shapes.Group, cluster_samples.GROUP),
        (cluster_shapes.GroupRoles, cluster_samples.ROLES),
        (queue_shapes.Queue, cluster_samples.QUEUE),
        (cluster_shapes.Place, cluster_samples.PLACE),
        (cluster_shapes.Node, cluster_samples.NODE),
        (rule_shapes.Preemption, cluster_samples.PREEMPTION),
        (rule_shapes.Preview, cluster_samples.PREVIEW),
        (rule_shapes.Version, cluster_samples.VERSION),
        (decision_shapes.DecisionLine, samples.DECISION),
        (decision_shapes.Stop, samples.STOP),
        (decision_shapes.Round, cluster_samples.ROUND),
        (person_shapes.Keypair, cluster_samples.KEYPAIR),
        (person_shapes.SavedView, cluster_samples.SAVED_VIEW),
        (person_shapes.Me, cluster_samples.ME),
        (explanation_shapes.Explanation, samples.EXPLANATION),
        (explanation_shapes.Counterfactuals, samples.COUNTERFACTUALS),
        (explanation_shapes.Record, samples.RECORD),
        (explanation_shapes.Rerun, samples.RERUN),
    ],
)
def test_an_example_looks_as_its_shape(shape, sample):
    clients.assert_like(shape, sample)
