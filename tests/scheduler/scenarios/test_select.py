"""Planning decisions on frozen pictures: what other systems got wrong must come out right here."""

from __future__ import annotations

import pathlib

import pytest

from scheduler.scenarios import answers, judging, located, picture, playing, reading, select

DATA = pathlib.Path(__file__).parents[2] / "data" / "cases"
CASES = reading.read(DATA / "select.yaml")
CASES += [case for case in reading.read(DATA / "variants.yaml") if not case.is_played]
SKIPPED = {"S08": "tags", "S14": "deserved", "S26": "deserved", "S36": "tags"}
PICTURE = """
id: A
kind: select
nodes:
- id: n1
  cap: {cpu: 4}
- id: n2
  cap: {cpu: 4}
running:
- id: a
  job_priority: 1
  alloc:
    n1: {cpu: 4}
- id: b
  job_priority: 2
  alloc:
    n2: {cpu: 4}
pending:
- id: p
  job_priority: 9
  request: {cpu: 2}
"""


def result(text: str) -> answers.Result:
    """Run a text that is one case."""
    (case,) = reading.cases(located.parse(text))
    return playing.run(case, lambda case: pytest.fail("no lifecycle"))


@pytest.mark.parametrize("case", [c for c in CASES if c.id not in SKIPPED], ids=lambda case: case.id)
def test_a_picture_is_decided_as_expected(case):
    got = playing.run(case, lambda case: pytest.fail("no lifecycle"))

    assert got.verdict is answers.Verdict.PASSED, got.why


@pytest.mark.parametrize("case", [c for c in CASES if c.id in SKIPPED], ids=lambda case: case.id)
def test_what_is_beyond_the_scheduler_is_skipped_with_the_reason(case):
    got = playing.run(case, lambda case: pytest.fail("no lifecycle"))

    assert got.verdict is answers.Verdict.SKIPPED
    assert f"{SKIPPED[case.id]} of" in got.why


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("{outcome: pend}", "p: outcome is preempt, expected pend"),
        ("{victims: [b]}", "p: victims is a, expected b"),
        ("{victims: []}", "p: victims is a, expected none"),
        ("{any_of: [[b], [a, b]]}", "p: victims is a, expected b or a, b"),
        ("{forbidden: [a]}", "p: victims that are forbidden is a, expected none"),
        ("{never: a}", "p: victims that are never is a, expected none"),
        ("{target: [n2, n3]}", "p: target is n1, expected n2 or n3"),
        ("{reason: NO_RESOURCES}", "p: reason is awaiting-victims, expected no-resources"),
        ("{count: 2}", "p: count of victims is 1, expected 2"),
        ("{target: n2}", "p: target is n1, expected n2"),
        ("{reason: no-resources}", "p: reason is awaiting-victims, expected no-resources"),
        ("{freed: {n1: {cpu: 3}}}", "p: freed is"),
        ("{per_pending: {p: {victims: [b]}}}", "p: victims is a, expected b"),
    ],
)
def test_a_difference_fails_and_is_named(expect, why):
    got = result(f"{PICTURE}expect: {expect}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert why in got.why


@pytest.mark.parametrize(
    "expect",
    [
        "{outcome: preempt, victims: [a], target: n1, count: 1}",
        "{any_of: [[b], [a]]}",
        "{not_victims: [b], target: [n2, n1]}",
        "{reason: waiting for a to leave}",
        "{freed: {n1: {cpu: 4}}}",
        "{per_pending: {p: {victims: [a]}}}",
        "{reason: awaiting-victims, rule: [lowest-first]}",
    ],
)
def test_what_is_as_expected_passes(expect):
    assert result(f"{PICTURE}expect: {expect}\n").verdict is answers.Verdict.PASSED


@pytest.mark.parametrize(
    ("victim", "asks", "rule", "freed"),
    [
        (
            "state: SCHEDULED, alloc: {n1: {cpu: 4, mem: 4g}}",
            "cpu: 4",
            "cancel_unconfirmed_dispatch",
            "cpu: 4, mem: 4g",
        ),
        ("state: SUSPENDED, alloc: {n1: {cpu: 4, mem: 8g}}", "mem: 8g", "requeue_suspended", "mem: 8g"),
        ("alloc: {n1: {cpu: 4, mem: 4g}}", "cpu: 4", "requeue_suspended", "cpu: 4"),
    ],
)
def test_what_is_freed_is_that_of_the_very_stop(victim, asks, rule, freed):
    text = (
        "id: A\nnodes: [{id: n1, cap: {cpu: 4, mem: 8g}}]\n"
        f"running: [{{id: v, job_priority: 1, {victim}}}]\n"
        f"pending: [{{id: p, job_priority: 9, request: {{{asks}}}}}]\n"
        f"config: {{mode: suspend, suspend_releases: [cpu], {rule}: true}}\n"
    )

    assert result(f"{text}expect: {{freed: {{n1: {{{freed}}}}}}}\n").verdict is answers.Verdict.PASSED
    assert result(f"{text}expect: {{freed: {{n1: {{cpu: 1}}}}}}\n").verdict is answers.Verdict.FAILED


def test_where_nobody_is_forbidden_nothing_was_compared():
    assert result(f"{PICTURE}expect: {{forbidden: []}}\n").verdict is answers.Verdict.SKIPPED


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("{victims: [z]}", "names z, which is no running session"),
        ("{forbidden: [z]}", "names z, which is no running session"),
        ("{any_of: [a]}", "must be a list of lists of names"),
        ("{any_of: 3}", "must be a list of lists of names"),
        ("{any_of: [[z]]}", "names z, which is no running session"),
        ("{rule: [best]}", "must be of all"),
        ("{outcome: dance}", "must be one of"),
        ("{per_pending: {z: {}}}", "z of per_pending of expect is no session of the case that waits"),
        ("{victimz: [a]}", "did you mean 'victims'"),
    ],
)
def test_a_fault_of_an_expectation_fails_with_its_line(expect, why):
    got = result(f"{PICTURE}expect: {expect}\n")

    assert got.verdict is answers.Verdict.FAILED
    assert "line 22" in got.why
    assert why in got.why


def test_an_answer_for_another_rule_is_not_compared():
    got = result(f"{PICTURE}expect: {{victims: [b], rule: [exact]}}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert got.why == "its answer is for the rule exact, and the rule in force is lowest-first"
    assert got.pending["p"].victims == ("a",)


def test_an_alternative_for_the_rule_in_force_is_compared():
    other = "expect_alternative: {victims: [b], rule: [lowest-first]}\n"
    got = result(f"{PICTURE}expect: {{victims: [a], rule: [exact]}}\n{other}")

    assert got.verdict is answers.Verdict.FAILED


def test_an_expectation_that_cannot_be_judged_skips_but_never_hides_a_difference():
    assert result(f"{PICTURE}expect: {{mood: good}}\n").verdict is answers.Verdict.SKIPPED
    assert result(f"{PICTURE}expect: {{mood: good, victims: [b]}}\n").verdict is answers.Verdict.FAILED


def test_sentences_are_named_as_not_compared():
    got = result(f"{PICTURE}expect: {{victims: [a], because: it is lower, then: p starts}}\n")

    assert (got.verdict, got.why) == (answers.Verdict.PASSED, "not compared: because, then")


@pytest.mark.parametrize(
    ("expect", "why"),
    [
        ("{}", "it expects nothing that can be compared"),
        ("{because: it is lower}", "it expects nothing that can be compared"),
        ("{per_pending: {p: {}}}", "it expects nothing that can be compared"),
        (
            "{victims: [a], reason: a kind thought}",
            "'a kind thought' cannot be compared with awaiting-victims",
        ),
        ("{victims: [a], never: p waits in vain}", "never says 'p waits in vain', which cannot be compared"),
    ],
)
def test_nothing_passes_that_was_not_compared(expect, why):
    got = result(f"{PICTURE}expect: {expect}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert why in got.why
    assert got.pending["p"].victims == ("a",)


SECOND = PICTURE.replace("pending:\n", "pending:\n- id: o\n  job_priority: 8\n  request: {cpu: 4}\n")


@pytest.mark.parametrize(
    ("expect", "verdict"),
    [
        ("{victims: [a, b], count: 2}", answers.Verdict.PASSED),
        ("{victims: [a]}", answers.Verdict.FAILED),
        ("{per_pending: {p: {victims: [a]}, o: {victims: [b]}}, count: 2}", answers.Verdict.PASSED),
        ("{per_pending: {p: {victims: [a]}}, forbidden: [b]}", answers.Verdict.FAILED),
        ("{victims: [a, b], outcome: preempt}", answers.Verdict.SKIPPED),
        ("{outcome: preempt}", answers.Verdict.SKIPPED),
    ],
)
def test_what_is_said_of_several_sessions_at_once_is_about_all_their_victims(expect, verdict):
    got = result(f"{SECOND}expect: {expect}\n")

    assert got.verdict is verdict, got.why
    assert list(got.pending) == ["o", "p"]


def test_a_suspended_session_waits_too_and_is_shown_where_the_case_speaks_of_it():
    text = PICTURE.replace("  job_priority: 2\n", "  state: SUSPENDED\n  job_priority: 20\n")
    spoken = result(
        f"{text}expect: {{per_pending: {{b: {{outcome: place, target: n2}}, p: {{victims: [a]}}}}}}\n"
    )

    assert spoken.verdict is answers.Verdict.PASSED, spoken.why
    assert list(spoken.pending) == ["p", "b"]
    assert list(result(f"{text}expect: {{outcome: preempt}}\n").pending) == ["p"]


def test_steps_make_a_picture_something_else():
    got = result(f"{PICTURE}steps: [{{do: tick}}]\nexpect: {{victims: [a]}}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert "kind lifecycle plays them" in got.why


def test_one_for_whom_room_is_kept_waits_for_it():
    kept = "reservations:\n- {for: p, node: n2, slots: {cpu: 2}, waits_for: [b], deadline_s: 60}\n"
    text = PICTURE.replace("- id: b\n", "- id: b\n  state: PREEMPTED\n")
    got = result(f"{text}{kept}expect: {{outcome: wait, target: n2}}\n")

    assert got.verdict is answers.Verdict.PASSED, got.why


def test_a_case_without_an_expectation_shows_its_answer_and_is_skipped():
    got = result(PICTURE)

    assert (got.verdict, got.why) == (answers.Verdict.SKIPPED, "it expects nothing")
    assert got.pending["p"].victims == ("a",)


@pytest.mark.parametrize("missing", ["nodes", "pending"])
def test_a_picture_without_nodes_or_waiting_sessions_is_a_fault(missing):
    text = "id: A\nkind: select\n"
    if missing == "pending":
        text += "nodes:\n- id: n1\n  cap: {cpu: 4}\n"

    assert f"a case of kind select needs {missing}" in result(text).why


def test_a_result_is_plain_data():
    got = result(f"{PICTURE}expect: {{victims: [a]}}\n").plain()

    answer = {"outcome": "preempt", "victims": ["a"], "target": "n1"}
    answer |= {"rule": "lowest-first", "reason": "awaiting-victims"}
    assert got == {"id": "A", "result": "passed", "why": "", "pending": {"p": answer}}


@pytest.mark.parametrize("kind", ["config", "explain", "signal"])
def test_kinds_without_picture_and_steps_are_skipped_by_name(kind):
    got = result(f"id: A\nkind: {kind}\ngiven: {{a: b}}\n")

    assert got.verdict is answers.Verdict.SKIPPED
    assert got.why.startswith(f"kind {kind}:")


def test_a_suspended_session_holds_what_its_mode_keeps_and_counts_as_no_session():
    text = PICTURE.replace("- id: b\n", "- id: b\n  state: SUSPENDED\n")
    (case,) = reading.cases(located.parse(text + "config: {suspend_releases: [mem]}\n"))
    view = picture.Picture(case).snapshot()
    resting = next(one for one in view.sessions if one.resume_slots)

    assert resting.allocations[0].slots.as_dict() == {"cpu": 4000}
    assert view.owners[0].usage.sessions == 1


def test_devices_are_given_out_one_after_the_other():
    text = PICTURE.replace("cpu", "cuda.device").replace("n2: {cuda.device: 4}", "n1: {cuda.device: 0}")
    (case,) = reading.cases(located.parse(text))
    view = picture.Picture(case).snapshot()

    assert view.sessions[0].allocations[0].indices == {"cuda.device": (0, 1, 2, 3)}
    assert view.nodes[0].devices == {"cuda.device": (0, 1, 2, 3)}


def test_judging_needs_no_order_of_victims():
    (case,) = reading.cases(located.parse(PICTURE.replace("cpu: 2}", "cpu: 2}") + "expect: {victims: [a]}\n"))

    assert judging.judge(case, select.run(case)).verdict is answers.Verdict.PASSED


@pytest.mark.parametrize("code", ["no-resources", "fragmented"])
def test_a_shortage_is_expected_by_its_own_code_or_by_that_of_every_shortage(code):
    text = PICTURE.replace("n1: {cpu: 4}", "n1: {cpu: 3}").replace("n2: {cpu: 4}", "n2: {cpu: 3}")

    got = result(f"{text.replace('job_priority: 9', 'job_priority: 1')}expect: {{reason: {code}}}\n")

    assert (got.verdict, got.pending["p"].reason) == (answers.Verdict.PASSED, "fragmented")
