"""Hostile policies: each is told for what it is, and the next question is answered as if nothing had been."""

from __future__ import annotations

import os

import pytest

from scheduler.core.preemption import policy
from scheduler.plugins import pool

GOOD = "return 7, [2]"
#: A policy that misbehaves only once: while the file that marks it is there.
HOSTILE = {
    "raises": ("raise RuntimeError('secret')", "failed: RuntimeError"),
    "raises what is no Exception": ("raise KeyboardInterrupt", "failed: KeyboardInterrupt"),
    "leaves": ("sys.exit(0)", "failed: SystemExit"),
    "raises a class with a hostile name": (
        "raise type('<b>' * 99, (Exception,), {})",
        "failed: an exception",
    ),
    "loops": ("while True: pass", "did not answer within 0.5 s"),
    "sleeps": ("import time; time.sleep(600)", "did not answer within 0.5 s"),
    "answers without end": ("return 7, iter(int, 1)", ("did not answer within 0.5 s", "answer of the form")),
    "answers hugely": ("return 7, [1] * 20_000", "gave an answer of more than 20,000 bytes"),
    "ends": ("os._exit(0)", "ended instead of answering"),
    "kills itself": ("os.kill(os.getpid(), 9)", "ended instead of answering"),
    "becomes another program": ("os.execv('/bin/true', ['true'])", "ended instead of answering"),
    "takes all memory": ("return 7, b'x' * (600 << 20)", "failed: MemoryError"),
    "forks, and both answer": ("os.fork()\nreturn 7, [2]", "left a process of its own behind"),
    "forks and hides": (
        "if os.fork() == 0:\n    os.setsid()\n    os.fork() or __import__('time').sleep(600)\nreturn 7, [2]",
        "left a process of its own behind",
    ),
    "answers a truth": ("return True, [True]", "answer of the form"),
    "answers not a number": ("return 7, [float('nan')]", "answer of the form"),
    "answers text": ("return 7, ['2']", "answer of the form"),
    "answers an object": ("return 7, [object()]", "answer of the form"),
    "answers one number": ("return 7", "answer of the form"),
    "answers a truth alone": ("return False", "answer of the form"),
    "writes a file": ("os.write(os.open(__file__, os.O_WRONLY | os.O_APPEND), b'x')", "failed: OSError"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_p11_a_hostile_policy_is_told_and_the_next_question_is_answered(
    case, a_policy, workers, problem, tmp_path
):
    body, texts = HOSTILE[case]
    mark = tmp_path / "hostile"
    mark.touch()
    found = a_policy(f"if os.path.exists({str(mark)!r}):\n" + _indented(body) + f"\n{GOOD}")

    with pytest.raises(policy.PolicyFailed) as caught:
        workers.ask(found, problem, pool.Budget(workers.limits))
    mark.unlink()

    assert any(text in str(caught.value) for text in ([texts] if isinstance(texts, str) else texts))
    assert workers.ask(found, problem, pool.Budget(workers.limits)) == policy.Answer(7, (2,))


def test_a_process_that_hid_in_a_session_of_its_own_is_ended(a_policy, workers, problem, tmp_path):
    hide = (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.mkdir({str(tmp_path)!r} + f'/pid-{{os.getpid()}}')\n"
        "        __import__('time').sleep(600)\n    os._exit(0)\n"
        f"while not [each for each in os.listdir({str(tmp_path)!r}) if each.startswith('pid-')]: pass"
    )

    with pytest.raises(policy.PolicyFailed, match="left a process of its own behind"):
        workers.ask(a_policy(hide), problem, pool.Budget(workers.limits))

    (mark,) = tmp_path.glob("pid-*")
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.name.removeprefix("pid-")), 0)


def test_what_a_policy_prints_is_in_nobodys_way(a_policy, workers, problem):
    body = (
        "print('{\"number\":1}' * 9)\nos.write(1, b'x\\n' * 999)\nos.write(2, b'y' * 999)\nreturn 7, [1, 2]"
    )
    found = a_policy(body, before="print('loaded')")

    assert workers.ask(found, problem, pool.Budget(workers.limits)) == policy.Answer(7, (1, 2))


def test_a_policy_that_reads_its_standard_input_finds_it_empty(a_policy, workers, problem):
    found = a_policy("return 7, [len(sys.stdin.read()) + 1]")

    assert workers.ask(found, problem, pool.Budget(workers.limits)) == policy.Answer(7, (1,))


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("import no_such_module_at_all", "could not be loaded: ModuleNotFoundError"),
        ("raise RuntimeError", "could not be loaded: RuntimeError"),
        ("def other(): pass\nraise SystemExit", "could not be loaded: SystemExit"),
        ("os._exit(3)", "ended instead of answering"),
    ],
)
def test_a_policy_that_cannot_be_loaded_is_told(before, text, a_policy, workers, problem):
    found = a_policy(GOOD, before=before)

    with pytest.raises(policy.PolicyFailed, match=text):
        workers.ask(found, problem, pool.Budget(workers.limits))


def test_a_policy_has_no_environment_of_ours_and_no_descriptor(a_policy, workers, problem, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    body = (
        "return len(set(os.environ) & {'DATABASE_URL', 'SECRET_KEY', 'REDIS_URL', 'BROKER_URL'}), [_open()]"
    )
    count = "def _open():\n    return sum(os.path.exists(f'/proc/self/fd/{n}') for n in range(3, 200))"
    read = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(read, True)

    answer = workers.ask(a_policy(body, before=count), problem, pool.Budget(workers.limits))
    os.close(read)

    assert answer == policy.Answer(0, (3,))  # its two pipes, and the way to nowhere


def test_a_policy_sees_the_problem_by_the_names_of_its_parts(a_policy, workers, problem):
    body = (
        "(target,) = problem.targets\n"
        "best = max(target.candidates, key=lambda one: one.start)\n"
        "assert (problem.order, target.need, best.gives) == ('newest', (2, 1), (2, 1))\n"
        "return target.node_id, (one for one in [best.session_id])"
    )

    assert workers.ask(a_policy(body), problem, pool.Budget(workers.limits)) == policy.Answer(7, (2,))


def test_sets_come_in_the_same_order_in_every_process(a_policy, workers, problem):
    body = "return 7, [ord(each) for each in set('abcdefghijklmnop')]"
    found = a_policy(body)
    first = workers.ask(found, problem, pool.Budget(workers.limits))
    workers.close()

    assert workers.ask(found, problem, pool.Budget(workers.limits)) == first


def _indented(body):
    return "\n".join(f"    {line}" for line in body.splitlines())
