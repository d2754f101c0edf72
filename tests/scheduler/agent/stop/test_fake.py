"""The scripted driver does what its script says."""

from scheduler.agent import processes
from scheduler.agent.stop import driver, fake

TARGET = driver.Target(processes.Identity(1, 1), None)


def test_members_obey_resist_and_die():
    how = fake.FakeDriver({1: "S", 2: "S"}, resists=frozenset({2}), dies_of=frozenset({15}))
    how.hold(TARGET)

    assert [p.state for p in how.observe(TARGET)] == ["T", "S"]
    assert not how.is_held(TARGET, how.observe(TARGET))

    how.release(TARGET)
    how.notify(TARGET, 20, everyone=False)

    assert [p.state for p in how.observe(TARGET)] == ["S", "S"]
    assert how.notify(TARGET, 15, everyone=True)
    assert how.observe(TARGET) == []
    assert not how.notify(TARGET, 15, everyone=True)
