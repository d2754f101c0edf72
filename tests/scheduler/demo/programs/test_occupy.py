"""The stand-in for a trace's session lives as long as it is told."""

import os
import signal


def test_occupy_lives_about_as_long_as_it_is_told(start):
    process = start("occupy", "--ms", 600)
    before = os.times().elapsed
    process.communicate(timeout=30)

    assert 0.55 < os.times().elapsed - before < 15
    assert process.returncode == 0


def test_occupy_can_be_stopped(start):
    process = start("occupy", "--ms", 60_000)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    assert process.returncode == -signal.SIGTERM
