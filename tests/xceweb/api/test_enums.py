"""The closed lists are those of the code."""

from __future__ import annotations

from django.conf import settings
from django.utils import module_loading

from scheduler import models
from scheduler.core import states
from xceweb.api import enums


def test_they_follow_the_enums():
    assert states.SessionState.PENDING.value in enums.SESSION_STATE
    assert len(enums.SESSION_STATE) == len(states.SessionState)
    kept = models.PolicyVersion._meta.get_field("silent_node").choices
    assert [value for value, _ in kept] == enums.SILENT_NODE


def test_each_has_a_name_for_generated_clients():
    names = settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"]

    assert all(module_loading.import_string(path) for path in names.values())
