"""What a submission refuses, and how it says so."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from tests import model_factories

BAD = [
    ("priority", {"priority": 101}, "from 0 to 100"),
    ("queue", {"queue": "nowhere"}, "there is no queue 'nowhere'"),
    ("slots", {"slots": {"mem": "4x"}}, "unknown unit"),
    ("slots", {"slots": {"cpus": "4"}}, "there is no slot kind 'cpus'"),
    ("slots", {"slots": {"cuda.device": "0.5"}}, "finer than the smallest unit"),
    ("slots", {"slots": {}}, "at least one slot"),
    ("group", {"group": "elsewhere"}, "no resource group 'elsewhere'"),
    ("command", {"argv": []}, "write a command"),
    ("command", {"script": "echo"}, "not both"),
    ("name", {"name": " "}, "a name"),
    ("job_priority", {"job_priority": 2**31}, "whole number"),
    ("command", {"argv": ["/bin/ls"] + ["x"] * 4096}, "at most 4096 arguments"),
    ("command", {"argv": ["/bin/ls"] + ["x" * 4096] * 80}, "too large for an order"),
    ("command", {"argv": [], "script": "\x01" * 65_536}, "too large for an order"),
    ("environment", {"environment": {f"V{n}": "" for n in range(1000)}}, "at most 999 variables"),
    ("environment", {"environment": {"V": "x" * 131_073}}, "too long"),
    ("environment", {"environment": {"V" * 1001: ""}}, "too long"),
    ("command", {"environment": {f"V{n}": "x" * 100_000 for n in range(3)}}, "put it into a file"),
    ("wall_limit", {"wall_limit": 400_000_000}, "to 316224000"),
    ("wall_limit", {"wall_limit": 0}, "from 1"),
    ("warning_signal", {"warning_signal": 9}, "cannot be a warning"),
    ("type", {"is_private": True}, "only managers"),
    ("dependencies", {"dependencies": [("afterok", "not-an-id")]}, "no session not-an-id"),
]


@pytest.mark.parametrize(
    ("field", "wanted", "text"), BAD, ids=[f"{f}-{i}" for i, (f, _, _) in enumerate(BAD)]
)
def test_bad_input_is_refused_where_it_was_made_and_writes_nothing(make_cluster, field, wanted, text):
    cluster = make_cluster()
    events = models.Event.objects.count()

    with pytest.raises(errors.Refusal) as caught:
        cluster.submit(cluster.alice, **wanted)

    assert text in caught.value.fields[field]
    assert (models.Session.objects.count(), models.Event.objects.count()) == (0, events)


def test_all_faults_are_named_at_once(make_cluster):
    cluster = make_cluster()

    with pytest.raises(errors.Refusal) as caught:
        cluster.submit(cluster.alice, queue="nowhere", name="", slots={"mem": "4x"})

    assert {"queue", "name", "slots"} <= set(caught.value.fields)


def test_an_omitted_priority_is_clamped_and_an_explicit_one_above_the_cap_names_it(make_cluster):
    cluster = make_cluster()
    models.KeypairResourcePolicy.objects.filter(name="default").update(max_priority=5)
    alice = models.User.objects.get(username="alice")

    assert cluster.submit(alice).priority == 5
    with pytest.raises(errors.Refusal) as caught:
        cluster.submit(alice, priority=6)
    assert caught.value.code == "priority-above-cap"
    assert "6 is above 5, the cap of your policy default" in caught.value.fields["priority"]


def test_a_viewer_may_not_submit_and_an_outsider_does_not_learn_of_the_group(make_cluster):
    cluster = make_cluster()
    viewer = model_factories.a_user("vera", group=cluster.group, role="viewer")
    outsider = model_factories.a_user("eve")

    for user, text in ((viewer, "but not submit"), (outsider, "there is no resource group 'g' for you")):
        with pytest.raises(errors.Refusal) as caught:
            cluster.submit(user)
        assert text in caught.value.fields["group"]


def test_inference_opts_out_where_the_policy_lets_it(make_cluster):
    cluster = make_cluster()

    assert cluster.submit(cluster.alice, type="inference").is_preemptible is False
    models.KeypairResourcePolicy.objects.filter(name="default").update(may_opt_out=False)
    alice = models.User.objects.get(username="alice")
    assert cluster.submit(alice, type="inference").is_preemptible is True
    with pytest.raises(errors.Refusal) as caught:
        cluster.submit(alice, is_preemptible=False)
    assert caught.value.code == "may-not-opt-out"
