"""`roles` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from tests import worlds

pytestmark = pytest.mark.django_db


def test_everybody_is_printed_with_role_and_reason():
    worlds.a_world()
    out = io.StringIO()

    call_command("roles", "gpu", stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[0].startswith("administrator  manager  (administrator)  see submit")
    assert "viewer  viewer  (own)  see" in lines


def test_who_may_flip_the_switch_is_asked_alone():
    worlds.a_world()
    out = io.StringIO()

    call_command("roles", "gpu", "--may", "switch", stdout=out)

    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["administrator", "manager"]


def test_a_group_that_is_not_there_is_named():
    with pytest.raises(CommandError, match="there is no group 'gpv'"):
        call_command("roles", "gpv")
