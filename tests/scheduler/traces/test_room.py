"""The group that a trace runs in."""

import pytest
from django.utils import timezone

from scheduler import errors, models
from scheduler.core import entities
from scheduler.services import actors
from scheduler.traces import room
from tests import model_factories

COMMAND = actors.of_command("submit_trace")


def make(**wanted):
    said = []
    room.make(COMMAND, room.Room("trace", **wanted), say=said.append)
    return said


def test_its_nodes_offer_every_kind_of_the_trace(group):
    node = group.nodes.get(name="trace-2")

    assert dict(node.slots.values_list("kind", "capacity")) == room.CAPACITY
    assert not node.devices.exists()


def test_its_queues_are_its_own_and_urgent_preempts_background(group):
    urgent = models.Queue.objects.get(slug="trace-urgent")

    assert sorted(group.queues.values_list("slug", flat=True)) == [
        "trace-background",
        "trace-normal",
        "trace-urgent",
    ]
    assert [queue.slug for queue in urgent.preemptible_queues.all()] == ["trace-background"]


def test_its_switch_is_off_unless_asked_for(group):
    assert group.policy.preemption_state == "off"


@pytest.mark.django_db
def test_its_switch_can_be_on_from_the_start():
    make(preemption=entities.PreemptionState.ON)

    assert models.ResourceGroup.objects.get(slug="trace").policy.preemption_state == "on"


def test_making_it_again_adds_only_further_nodes(group):
    assert make(nodes=3) == ["node trace-3"]
    assert make(nodes=3) == []


def test_queues_of_the_group_come_before_others_of_the_same_name(group):
    model_factories.a_queue("normal")

    assert room.queue_in("trace", "normal") == "trace-normal"
    assert room.queue_in("other", "normal") == "normal"


def report(node):
    models.AgentStatus.objects.create(node=node, hello_at=timezone.now())


def test_nothing_is_submitted_to_a_group_without_an_agent(group):
    with pytest.raises(errors.Refusal, match="no agent of group trace has reported in 0 s"):
        room.wait_for_agents("trace", limit_s=0)


def test_agents_that_are_starting_are_waited_for(group):
    waiting = list(group.nodes.all())
    room.wait_for_agents("trace", limit_s=60, rest=lambda seconds: report(waiting.pop()))

    assert waiting == []


def test_one_agent_is_enough_when_the_time_is_over(group):
    report(group.nodes.first())
    room.wait_for_agents("trace", limit_s=0)


@pytest.mark.django_db
def test_a_group_that_is_not_there_is_named():
    with pytest.raises(errors.Refusal, match="there is no group elsewhere"):
        room.wait_for_agents("elsewhere", limit_s=0)
