"""`seed_demo` from the command line."""

import io

import pytest
from django.core.management import call_command

from scheduler import models


@pytest.mark.django_db
def test_it_makes_the_cluster_and_says_so(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    out = io.StringIO()
    call_command("seed_demo", stdout=out)

    assert models.Node.objects.count() == 4
    assert "node gpu-1\n" in out.getvalue()
    assert (tmp_path / "logins.json").exists()
