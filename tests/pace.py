"""
How slow this machine is at the moment, beside the one that the parts' budgets were written for.

The same host may be three times slower in one hour than in another. A budget in seconds would then fail what nobody
changed; a budget in seconds of a known pace fails what has become dearer.
"""

import subprocess
import sys
import time

from tests import parts

#: What a probe takes on the two quiet cores that the budgets were written for.
REFERENCE_S = 0.4
#: Reading and writing text, small objects and their look-up, and the start of a program: what the tests are made of.
_PROBE = """
import json, subprocess, sys
rows = [{"id": i, "name": f"session {i}", "amounts": {"cpu": i % 7, "memory": i * 3}} for i in range(4000)]
for _ in range(36):
    found = json.loads(json.dumps(rows))
    index = {row["name"]: sum(row["amounts"].values()) for row in found}
    assert sorted(index, key=index.get)[0] == "session 0"
for _ in range(18):
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
"""


def slowness() -> float:
    """Return how many times as long as on the machine of the budgets the same work takes here now; at least 1."""
    begun_s = time.monotonic()
    probes = [subprocess.Popen([sys.executable, "-I", "-c", _PROBE]) for _ in range(parts.CORES)]
    for probe in probes:
        if probe.wait():
            raise RuntimeError("the probe of the machine's pace failed: see above")
    return max(1.0, (time.monotonic() - begun_s) / REFERENCE_S)
