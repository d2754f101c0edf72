"""From entries to requests."""

import fractions

import pytest

from scheduler import models
from scheduler.traces import entries, plans

ENTRY = entries.Entry(
    line=2,
    name="pod-1",
    submit_ms=100_000,
    life_ms=30_000,
    slots={"cpu": "500m", "mem": "512m", "gpu_milli": "470"},
    service_class="BE",
)
PLAN = plans.Plan(
    group="trace",
    queues={"LS": "trace-urgent", "BE": "trace-background"},
    other_queue="trace-normal",
    speed=fractions.Fraction(500),
    min_life_ms=1000,
)


def entry(**changes):
    values = {name: getattr(ENTRY, name) for name in ENTRY.__slots__}
    return entries.Entry(**{**values, **changes})


def test_time_is_scaled_and_a_life_has_a_least():
    assert PLAN.offset_ms(ENTRY) == 200
    assert PLAN.life_ms(ENTRY) == 1000
    assert PLAN.life_ms(entry(life_ms=5_000_000)) == 10_000


@pytest.mark.parametrize(
    ("service_class", "queue"),
    [("LS", "trace-urgent"), ("BE", "trace-background"), ("7", "trace-normal")],
)
def test_the_class_decides_the_queue(service_class, queue):
    assert PLAN.request(entry(service_class=service_class)).queue == queue


def test_queues_can_be_named_for_single_classes():
    plan = PLAN.with_queues({"BE": "other"})

    assert plan.request(ENTRY).queue == "other"
    assert plan.request(entry(service_class="LS")).queue == "trace-urgent"


def test_a_request_asks_for_what_the_trace_says():
    request = PLAN.request(entry(node_count=2))

    assert request.slots == {"cpu": "500m", "mem": "512m", "gpu_milli": "470"}
    assert (request.name, request.node_count) == ("pod-1", 2)
    assert request.argv[-2:] == ["--ms", "1000"]


def test_what_can_be_submitted_is_not_refused(owner):
    assert plans.find_refused(owner, PLAN, [ENTRY]) == []


def test_a_request_that_fits_nowhere_is_no_refusal(owner):
    assert plans.find_refused(owner, PLAN, [entry(slots={"cpu": "4000"})]) == []


def test_each_problem_is_named_once_with_its_first_line(owner):
    plan = PLAN.with_queues({"BE": "nowhere"})
    refused = plans.find_refused(owner, plan, [entry(line=9), entry(line=4), entry(line=7)])

    assert len(refused) == 1
    assert refused[0].startswith("line 4: queue: there is no queue 'nowhere' in trace")


def test_an_unknown_kind_is_named(owner):
    (refused,) = plans.find_refused(owner, PLAN, [entry(slots={"tpu": "1"})])

    assert refused.startswith("line 2: slots: there is no slot kind 'tpu'")


def test_checking_writes_nothing(owner, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        plans.find_refused(owner, PLAN, [entry(line=n) for n in range(2, 500)])

    assert not models.Session.objects.exists()
