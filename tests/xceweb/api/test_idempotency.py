"""The same request once more gets the first answer."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.services import pruning

SUBMIT = {"name": "n", "group": "gpu", "queue": "normal", "argv": ["true"], "slots": {"cpu": 1}}


def test_a_submission_that_comes_twice_is_carried_out_once(api_of):
    api = api_of("owner")

    first = api.post("/sessions", SUBMIT, Idempotency_Key='"key-1"')
    again = api.post("/sessions", SUBMIT, Idempotency_Key="key-1")

    assert (first.status_code, again.status_code) == (201, 201)
    assert (first.json(), first["Location"]) == (again.json(), again["Location"])
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert models.Session.objects.filter(name="n").count() == 1


def test_a_key_belongs_to_one_request_of_one_person(api_of):
    api, other = api_of("owner"), api_of("submitter")
    api.post("/sessions", SUBMIT, Idempotency_Key="key-1")

    answer = api.post("/sessions", {**SUBMIT, "name": "m"}, Idempotency_Key="key-1")

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency-key-reused")
    assert other.post("/sessions", SUBMIT, Idempotency_Key="key-1").status_code == 201


def test_a_request_that_was_refused_leaves_no_key(api_of):
    api = api_of("owner")

    assert api.post("/sessions", {**SUBMIT, "queue": "nowhere"}, Idempotency_Key="key-1").status_code == 400
    assert api.post("/sessions", SUBMIT, Idempotency_Key="key-1").status_code == 201


@pytest.mark.parametrize("key", ["", '""', "x" * 256, "a\x7f"])
def test_a_key_that_is_none_is_refused(api_of, key):
    answer = api_of("owner").post("/sessions", SUBMIT, Idempotency_Key=key)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["Idempotency-Key"])


def test_an_answer_is_kept_for_a_day(api_of):
    api = api_of("owner")
    api.post("/sessions", SUBMIT, Idempotency_Key="key-1")
    models.IdempotentAnswer.objects.update(created_at=clock.now() - datetime.timedelta(hours=25))

    assert api.post("/sessions", {**SUBMIT, "name": "m"}, Idempotency_Key="key-1").status_code == 201
    models.IdempotentAnswer.objects.update(created_at=clock.now() - datetime.timedelta(hours=25))
    assert (pruning.prune_answers(), models.IdempotentAnswer.objects.count()) == (1, 0)
