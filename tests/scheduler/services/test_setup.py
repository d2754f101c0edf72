"""Groups, kinds, nodes and queues as they are set up."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import actors, nodes, queues, setup
from tests import model_factories

SYSTEM = actors.SYSTEM


def test_a_new_group_has_rules_with_preemption_off(db):
    group = setup.create_group(SYSTEM, "gpu")

    assert (group.policy.version, group.policy.preemption_state) == (1, "off")
    assert models.GroupRounds.objects.filter(group=group).exists()
    assert models.Event.objects.get().type == "group.created"


def test_a_group_whose_name_is_taken_is_refused(db):
    setup.create_group(SYSTEM, "gpu")

    with pytest.raises(errors.Refusal) as caught:
        setup.create_group(SYSTEM, "gpu")

    assert "slug" in caught.value.fields


def test_a_group_with_an_impossible_rule_is_not_made(db):
    with pytest.raises(errors.Refusal):
        setup.create_group(SYSTEM, "gpu", policy={"preemption_mode": "freeze"})

    assert not models.ResourceGroup.objects.exists()


def test_a_kind_is_declared_once(db):
    first = setup.create_slot_kind(SYSTEM, "tpu", is_indexed=True)

    assert setup.create_slot_kind(SYSTEM, "tpu") == first
    with pytest.raises(errors.Refusal):
        setup.create_slot_kind(SYSTEM, "Bad Name")


def test_a_node_gets_slots_and_a_device_for_each_of_an_indexed_kind(db):
    group = setup.create_group(SYSTEM, "gpu")

    node = nodes.create_node(SYSTEM, "n1", group, capacity={"cpu": 4000, "cuda.device": 2})

    assert dict(node.slots.values_list("kind", "capacity")) == {"cpu": 4000, "cuda.device": 2}
    assert list(node.devices.values_list("kind", "index")) == [("cuda.device", 0), ("cuda.device", 1)]


def test_a_node_of_an_undeclared_kind_is_refused(db):
    group = setup.create_group(SYSTEM, "gpu")

    with pytest.raises(errors.Refusal, match="declare first: npu"):
        nodes.create_node(SYSTEM, "n1", group, capacity={"npu": 1})


@pytest.mark.parametrize(("state", "reason"), [("down", "broken"), ("draining", " ")])
def test_a_node_is_drained_with_a_reason_and_not_put_down_by_hand(db, state, reason):
    group = setup.create_group(SYSTEM, "gpu")
    node = nodes.create_node(SYSTEM, "n1", group, capacity={"cpu": 1})

    with pytest.raises(errors.Refusal):
        nodes.set_node_state(SYSTEM, node, state=state, reason=reason)

    assert models.Node.objects.get().state == "ready"


def test_a_queue_does_not_preempt_from_itself_or_from_nowhere(db):
    group = setup.create_group(SYSTEM, "gpu")

    for slug, text in (("urgent", "cannot preempt from itself"), ("nowhere", "no queue nowhere")):
        with pytest.raises(errors.Refusal, match=text):
            queues.create_queue(SYSTEM, "urgent", groups=[group], preemptible_queues=[slug])

    assert not models.Queue.objects.exists()


def test_a_queue_names_a_policy_that_exists(db):
    group = setup.create_group(SYSTEM, "gpu")

    with pytest.raises(errors.Refusal) as caught:
        queues.create_queue(SYSTEM, "q", groups=[group], preempt_policy="cheapest")

    assert caught.value.code == "unknown-policy"
    assert "there are: lowest_priority_first" in caught.value.fields["preempt_policy"]


def test_p05_a_change_of_a_queue_is_audited_and_told_to_its_groups(db):
    group = setup.create_group(SYSTEM, "gpu")
    queue = queues.create_queue(SYSTEM, "q", groups=[group])
    admin = actors.of_user(model_factories.an_administrator("root"))

    queues.change_queue(admin, queue, changes={"max_priority": 50}, reason="calm down")

    change = models.ConfigChange.objects.filter(object_type="queue").first()
    assert (change.before, change.after) == ({"max_priority": 100}, {"max_priority": 50})
    assert (change.actor_name, change.reason) == ("root", "calm down")
    assert models.Event.objects.filter(type="queue.changed", group=group).count() == 2


def test_a_change_of_a_queue_with_one_impossible_part_changes_nothing(db):
    group = setup.create_group(SYSTEM, "gpu")
    queue = queues.create_queue(SYSTEM, "q", groups=[group])

    with pytest.raises(errors.Refusal):
        queues.change_queue(SYSTEM, queue, changes={"max_priority": 50, "state": "ajar"}, reason="no")

    assert models.Queue.objects.get().max_priority == 100
