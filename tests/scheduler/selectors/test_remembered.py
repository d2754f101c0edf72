"""A snapshot with a memory is the snapshot that is read whole, whatever was written since, and by whom."""

from __future__ import annotations

import collections
import dataclasses
import random
import threading

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from scheduler import models
from scheduler.core import decisions
from scheduler.core import snapshot as core_snapshot
from scheduler.selectors import remembered, snapshot
from tests import decision_factories, model_factories

pytestmark = pytest.mark.django_db(transaction=True)
STATES = ("pending", "running", "suspended", "scheduled", "preempted")


@dataclasses.dataclass
class World:
    """A group with a queue, two nodes and an owner."""

    group: models.ResourceGroup
    queue: models.Queue
    owner: models.User
    nodes: list[models.Node]

    def session(self, state: str = "pending", place: int = 0, **fields: object) -> models.Session:
        """Make a session."""
        whose = {"owner": self.owner, "queue": self.queue, "group": self.group}
        return model_factories.a_session(state=state, node=self.nodes[place], **whose, **fields)


@pytest.fixture
def world() -> World:
    group = model_factories.a_group()
    queue = model_factories.a_queue(groups=[group], preemptible=True)
    big = {"cpu": 1_000_000, "mem": 1_000 * model_factories.GIB, "cuda.device": 4}
    nodes = [model_factories.a_node(group=group, capacity=big) for _ in range(2)]
    return World(group, queue, model_factories.a_user(), nodes)


def _plain(loaded):
    return core_snapshot.canonical(dataclasses.replace(loaded.snapshot, now=0)), loaded.versions


def _check(world, memory):
    """Read with the memory and whole; both must say the same."""
    assert _plain(snapshot.load_snapshot(world.group, memory=memory)) == _plain(
        snapshot.load_snapshot(world.group)
    )
    reasons = remembered.read_reasons(world.group, memory)
    assert reasons == remembered.read_reasons(world.group, remembered.Memory())


def _change_columns(world, chance, one):
    columns = chance.choice(
        [{"priority": chance.randint(0, 10)}, {"is_held": True}, {"waiting_since": model_factories.ago(3)}]
    )
    models.Session.objects.filter(pk=one.pk).update(**columns, state_version=F("state_version") + 1)


def _end(world, chance, one):
    with transaction.atomic():
        models.Allocation.objects.filter(session=one).delete()
        over = {"state": "terminated", "result": "success", "ended_at": model_factories.ago(0)}
        models.Session.objects.filter(pk=one.pk).update(**over)


def _hold_less(world, chance, one):
    with transaction.atomic():
        models.Allocation.objects.filter(session=one).update(slots={"cpu": chance.randint(1, 9)})
        models.Session.objects.filter(pk=one.pk).update(state_version=F("state_version") + 1)


def _move_away(world, chance, one):
    other, _ = models.ResourceGroup.objects.get_or_create(slug="other")
    models.Session.objects.filter(pk=one.pk).update(group=other)


def _come_back(world, chance, one):
    models.Session.objects.filter(group__slug="other").update(group=world.group)


def _make(world, chance, one):
    made = world.session(chance.choice(STATES), chance.randrange(2))
    decision_factories.a_pend_reason(made, chance.choice(["held", "no-resources"]))


def _give_extras(world, chance, one):
    other = world.session("running", job_priority=1)
    models.NodeBackoff.objects.get_or_create(
        session=one, node=world.nodes[0], defaults={"until": model_factories.ago(-chance.randint(50, 900))}
    )
    models.SessionDependency.objects.create(session=one, other=other, kind="afterok")
    high = world.session("pending")
    decision = decision_factories.a_preemption(high, [other], node=world.nodes[0])
    models.PreemptionEdge.objects.create(decision=decision, winner=high, loser=other)


def _take_extras(world, chance, one):
    models.SessionDependency.objects.all().delete()
    models.NodeBackoff.objects.all().delete()


def _rewrite_reason(world, chance, one):
    models.PendReason.objects.filter(session=one).update(facts={"n": chance.randint(0, 9)})


def _delete_reason(world, chance, one):
    models.PendReason.objects.filter(session=one).delete()


def _nothing(world, chance, one):
    pass


ACTS = (
    _change_columns,
    _end,
    _hold_less,
    _move_away,
    _come_back,
    _make,
    _make,
    _give_extras,
    _take_extras,
    _rewrite_reason,
    _rewrite_reason,
    _delete_reason,
    _nothing,
)


@pytest.mark.parametrize("seed", range(2))
def test_after_any_changes_it_is_what_is_read_whole(world, seed):
    chance, memory = random.Random(f"remembered/{seed}"), remembered.Memory()
    for _ in range(4):
        _make(world, chance, None)
    for _ in range(25):
        live = list(models.Session.objects.filter(group=world.group).exclude(state="terminated"))
        act = chance.choice(ACTS) if live else _make
        act(world, chance, chance.choice(live) if live else None)

        _check(world, memory)


def test_only_what_was_written_is_read_again(world):
    memory = remembered.Memory()
    for _ in range(3):
        world.session()
    one = world.session()
    remembered.read(world.group, memory)
    before = dict(memory.values)
    with connection.cursor() as cursor:  # transactions of other databases may have kept the horizon back
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        (horizon,) = cursor.fetchone()
        memory.mark = dataclasses.replace(memory.mark, horizon=horizon)

    models.Session.objects.filter(pk=one.pk).update(is_held=True)
    with CaptureQueriesContext(connection) as queries:
        remembered.read(world.group, memory)

    assert [pk for pk, value in memory.values.items() if value is not before[pk]] == [one.pk]
    assert memory.values[one.pk].is_held
    assert any(f"ANY('{{{one.pk}}}'" in query["sql"] for query in queries)


def test_a_row_that_somebody_else_is_writing_is_read_when_it_is_there(world):
    one, memory, opened, may_commit = (
        world.session(),
        remembered.Memory(),
        threading.Event(),
        threading.Event(),
    )

    def write():
        with transaction.atomic():
            models.Session.objects.filter(pk=one.pk).update(is_held=True)
            opened.set()
            may_commit.wait(20)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    opened.wait(20)
    world.session()  # a later transaction, which is over first
    _check(world, memory)
    assert not memory.values[one.pk].is_held
    may_commit.set()
    writer.join()

    _check(world, memory)
    assert memory.values[one.pk].is_held


def test_what_is_taken_back_is_not_remembered(world):
    one, memory = world.session(), remembered.Memory()
    _check(world, memory)
    with transaction.atomic():
        models.Session.objects.filter(pk=one.pk).update(is_held=True)
        assert remembered.read(world.group, memory).values[one.pk].is_held
        transaction.set_rollback(True)

    _check(world, memory)
    assert not memory.values[one.pk].is_held


def test_another_server_is_read_whole(world):
    one, memory = world.session(), remembered.Memory()
    remembered.read(world.group, memory)
    memory.mark = remembered.Mark("another", memory.mark.horizon)
    memory.values = {one.pk: dataclasses.replace(memory.values[one.pk], priority=99)}

    _check(world, memory)


def test_what_was_told_is_forgotten_with_what_is_written(world):
    one, memory = world.session(), remembered.Memory()
    decision_factories.a_pend_reason(one)
    (row,) = remembered.read_reasons(world.group, memory).values()
    memory.told[one.pk] = (row, decisions.Pend(one.pk, decisions.PendReason.HELD, {}))
    remembered.read_reasons(world.group, memory)
    assert memory.told

    models.PendReason.objects.update(reason="held")
    remembered.read_reasons(world.group, memory)

    assert not memory.told


def test_a_process_remembers_a_few_groups(monkeypatch):
    monkeypatch.setattr(remembered, "_memories", collections.OrderedDict())
    first = remembered.of(1)

    assert remembered.of(1) is first
    for number in range(2, 18):
        remembered.of(number)
    assert remembered.of(1) is not first
