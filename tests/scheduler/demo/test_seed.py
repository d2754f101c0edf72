"""What the demo consists of, and that seeding it twice changes nothing."""

import json

from django.contrib.auth import authenticate

from scheduler import models
from scheduler.demo import cluster, seed, switch
from scheduler.selectors import permissions
from scheduler.services import actors

SEED = actors.of_command("seed_demo")


def logins(tmp_path):
    return {row["username"]: row for row in json.loads((tmp_path / "logins.json").read_text())}


def test_groups_have_their_nodes_modes_and_devices(said):
    gpu, batch = (models.ResourceGroup.objects.get(slug=slug) for slug in ("gpu", "batch"))

    assert [node.name for node in gpu.nodes.all()] == ["gpu-1", "gpu-2"]
    assert [node.name for node in batch.nodes.all()] == ["batch-1", "batch-2"]
    assert (gpu.policy.preemption_mode, batch.policy.preemption_mode) == ("suspend", "reschedule")
    assert models.NodeDevice.objects.filter(kind="cuda.device", node__group=gpu).count() == 8


def test_preemption_is_off_until_somebody_switches_it_on(said):
    states = models.ResourceGroup.objects.values_list("policy__preemption_state", flat=True)

    assert list(states) == ["off", "off"]


def test_queues_serve_both_groups_and_only_urgent_preempts(said):
    preempts = {
        queue.slug: list(queue.preemptible_queues.values_list("slug", flat=True))
        for queue in models.Queue.objects.all()
    }

    assert preempts == {"background": [], "normal": [], "urgent": ["background"]}
    assert list(models.Queue.objects.filter(preemptible=True).values_list("slug", flat=True)) == [
        "background"
    ]
    assert all(queue.groups.count() == 2 for queue in models.Queue.objects.all())


def test_people_have_their_caps_and_roles(said):
    caps = dict(models.User.objects.values_list("username", "policy__max_priority"))
    carol = models.User.objects.get(username="carol")
    gpu, batch = (models.ResourceGroup.objects.get(slug=slug) for slug in ("gpu", "batch"))

    assert caps == {"admin": 100, "alice": 80, "bob": 40, "carol": 20}
    assert permissions.can_submit(carol, batch)
    assert not permissions.can_submit(carol, gpu)


def test_everybody_can_log_in_with_what_the_file_says(said, tmp_path):
    for person in cluster.PEOPLE:
        password = logins(tmp_path)[person.username]["password"]
        assert (
            authenticate(username=person.username, password=password).is_superuser == person.is_administrator
        )


def test_a_second_run_changes_nothing(said, tmp_path):
    before = logins(tmp_path), models.ConfigChange.objects.count()
    lines = []
    seed.seed_demo(SEED, lines.append)

    assert lines == []
    assert before == (logins(tmp_path), models.ConfigChange.objects.count())


def test_what_is_missing_is_added_with_the_password_that_was_noted(said, tmp_path):
    models.User.objects.get(username="carol").delete()
    seed.seed_demo(SEED, lambda line: None)

    assert authenticate(username="carol", password=logins(tmp_path)["carol"]["password"])


def test_a_switch_that_a_person_turned_off_stays_off(said):
    switch.turn(SEED, on=False, reason="quiet please")
    seed.seed_demo(SEED, lambda line: None)

    assert not switch.is_on()


def test_an_administrator_alone_is_made_once(db, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    lines = []
    for _ in range(2):
        seed.seed_administrator(SEED, lines.append)

    assert list(models.User.objects.values_list("username", "is_superuser")) == [("admin", True)]
    assert lines == ["administrator admin", "there is an administrator already"]
    assert not switch.is_on()
