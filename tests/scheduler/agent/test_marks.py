"""What still tells a job's processes when descent and environment are gone."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from scheduler.agent import marks, processes

RUN = ("0197b2c4-8d1e-7a3b-9c4d-5e6f7a8b9c0e", 3)
LATER = (RUN[0], 4)


@pytest.fixture
def sleeper():
    """Start a marked process with this environment, which does a bit of Python first."""
    made = []

    def start(env, code=""):
        wait = f"import os, resource, time\n{code}\nprint(flush=True); time.sleep(1000)"
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", wait],
            env=env,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: marks.put_on(marks.of(RUN)),
        )
        made.append(process)
        process.stdout.readline()
        return processes.look(process.pid)

    yield start
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


def found(process, key=RUN):
    return marks.bearing(key, [process]) == {process.identity}


def test_a_process_with_an_empty_environment_keeps_the_mark_of_its_run_alone(sleeper):
    process = sleeper({})

    assert processes.environment(process.pid) == b""
    assert found(process)
    assert not found(process, LATER)


def test_a_process_that_lowered_the_limit_is_known_by_its_environment(sleeper):
    lowers = "resource.setrlimit(10, (5, 5))"

    assert found(sleeper({"XCE_SESSION_ID": RUN[0]}, lowers))
    assert not found(sleeper({}, lowers))


def test_marks_differ_and_fit_any_limit():
    numbers = {marks.of((RUN[0], epoch)) for epoch in range(1000)}

    assert len(numbers) == 1000
    assert all(2**60 < number < 2**62 for number in numbers)


def test_a_lower_limit_that_is_in_force_is_no_error():
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        resource.setrlimit(10, (5, 5))
        os.setresuid(65534, 65534, 65534)
        marks.put_on(marks.of(RUN))
        os._exit(0 if resource.getrlimit(10) == (5, 5) else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_process_that_is_gone_bears_nothing(sleeper):
    process = sleeper({})
    os.kill(process.pid, signal.SIGKILL)
    os.waitpid(process.pid, 0)

    assert marks.bearing(RUN, [process]) == set()
