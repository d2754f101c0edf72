import itertools
import signal
import subprocess
import sys

import pytest

from xceweb.stack import errors, waiting


def test_waiting_returns_what_was_found():
    answers = iter([None, False, "here"])

    assert waiting.until(lambda: next(answers), deadline_s=10, what="it") == "here"


def test_waiting_ends_at_the_deadline_with_the_name_of_what_lacks():
    with pytest.raises(errors.StackError, match="the moon did not answer within"):
        waiting.until(lambda: None, deadline_s=0.05, what="the moon")


def test_a_process_that_ends_before_it_answers_is_reported_with_its_last_words(tmp_path):
    log = tmp_path / "web.log"
    log.write_text("first\nno such module\n")
    process = subprocess.Popen(["false"])

    with pytest.raises(errors.StackError, match=r"web ended at once \(1\): first \| no such module"):
        waiting.until_ready(lambda: False, process=process, log=log, deadline_s=10)


def test_a_process_is_asked_until_it_answers(tmp_path):
    count = itertools.count()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        waiting.until_ready(lambda: next(count) == 3, process=process, log=tmp_path / "x.log", deadline_s=10)

    assert next(count) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_runs_until_the_signal_and_is_stopped(number):
    process = subprocess.Popen([sys.executable, "-P", "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "it runs\n"
    process.send_signal(number)

    assert process.communicate(timeout=20)[0] == "stopped\n"
    assert process.returncode == 0


SERVER = """
from xceweb.stack import waiting
class Server:
    def stop(self):
        print("stopped", flush=True)
waiting.run_until_interrupted(Server(), "it runs")
"""
