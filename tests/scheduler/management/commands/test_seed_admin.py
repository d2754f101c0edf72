"""`seed_admin` from the command line."""

import io
import json

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from scheduler import models


@pytest.mark.django_db
def test_it_makes_one_administrator_and_nothing_else(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    call_command("seed_admin", stdout=io.StringIO())
    (login,) = json.loads((tmp_path / "logins.json").read_text())

    assert authenticate(username=login["username"], password=login["password"]).is_superuser
    assert not models.ResourceGroup.objects.exists()
