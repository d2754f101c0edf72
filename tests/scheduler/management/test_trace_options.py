"""What the options of `submit_trace` mean."""

import argparse
import fractions

import pytest

from scheduler import errors
from scheduler.management import trace_options
from tests import model_factories


def parse(*arguments):
    parser = argparse.ArgumentParser()
    trace_options.declare(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--speed", "0"),
        ("--speed", "fast"),
        ("--speed", "1/0"),
        ("--last", "0"),
        ("--last", "-3"),
        ("--min-life", "-1"),
        ("--min-life", "x"),
        ("--nodes", "two"),
        ("--preemption", "maybe"),
    ],
)
def test_a_senseless_option_is_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        parse(*arguments)

    assert arguments[0] in capsys.readouterr().err


@pytest.mark.django_db
def test_options_become_a_plan():
    plan = trace_options.plan(parse("f", "--speed", "2.5", "--min-life", "0.5", "--group", "g"))

    assert (plan.group, plan.speed, plan.min_life_ms) == ("g", fractions.Fraction(5, 2), 500)
    assert plan.queues == {
        "LS": "urgent",
        "Guaranteed": "urgent",
        "Burstable": "normal",
        "BE": "background",
    }
    assert plan.other_queue == "normal"


@pytest.mark.django_db
def test_one_class_can_get_another_queue():
    plan = trace_options.plan(parse("f", "--queue", "BE=low", "--queue", "0=fast"))

    assert (plan.queues["BE"], plan.queues["0"], plan.queues["LS"]) == ("low", "fast", "urgent")


@pytest.mark.django_db
def test_one_queue_can_be_given_for_all_others():
    plan = trace_options.plan(parse("f", "--queue", "all", "--queue", "BE=low"))

    assert (dict(plan.queues), plan.other_queue) == ({"BE": "low"}, "all")


@pytest.mark.django_db
def test_sessions_belong_to_the_user_who_is_named_or_to_an_administrator():
    admin = model_factories.an_administrator("root")
    ann = model_factories.a_user("ann")

    assert trace_options.owner(parse("f")) == admin
    assert trace_options.owner(parse("f", "--user", "ann")) == ann
    with pytest.raises(errors.Refusal, match="there is no active ben"):
        trace_options.owner(parse("f", "--user", "ben"))
