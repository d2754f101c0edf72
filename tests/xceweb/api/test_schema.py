"""The description of the API: complete, the one that is checked in, and readable without a log-in."""

from __future__ import annotations

import json
import pathlib

import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from xceweb.api import schema

KEPT = pathlib.Path("docs/openapi.yaml")
_METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the schema as it is generated now; a warning of the generator is an error."""
    path = tmp_path_factory.mktemp("schema") / "openapi.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(path))
    return path.read_text()


def operations(text):
    """Return the operations of a schema."""
    paths = yaml.safe_load(text)["paths"]
    return [one for path in paths.values() for method, one in path.items() if method in _METHODS]


def test_the_schema_in_the_documents_is_that_of_the_code(made):
    message = f"write it anew: bin/manage spectacular --validate --fail-on-warn --file {KEPT}"

    assert made == KEPT.read_text(), message


def test_every_operation_has_words_an_example_and_its_errors(made):
    for one in operations(made):
        good = [code for code in one["responses"] if code.startswith("2")]
        content = one["responses"][good[0]]["content"]["application/json"]
        assert content.get("examples"), one["operationId"]
        assert one["summary"], one["operationId"]
        assert {"401", "429"} <= set(one["responses"]), one["operationId"]
        if "requestBody" in one:
            assert one["requestBody"]["content"]["application/json"].get("examples"), one["operationId"]


def test_a_list_with_pages_is_described_as_a_page(made):
    shapes = yaml.safe_load(made)["components"]["schemas"]
    lists = [one for one in operations(made) if "cursor" in _asked(one)]

    names = [_shape(one["responses"]["200"]) for one in lists]
    assert len(names) >= 7
    for name in names:
        assert {"next", "previous", "results"} == set(shapes[name]["required"]), name
        assert shapes[name]["properties"]["results"]["type"] == "array", name


def _asked(operation):
    return [each["name"] for each in operation.get("parameters", ())]


def _shape(answer):
    return answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]


def test_a_body_of_which_every_key_is_known_says_so(made):
    shapes = yaml.safe_load(made)["components"]["schemas"]

    assert shapes["SubmissionRequest"]["additionalProperties"] is False
    assert "additionalProperties" not in shapes["Session"]


def test_what_may_be_done_is_a_closed_list(made):
    acting = [one for one in operations(made) if one["operationId"].endswith("_act")]
    found = {
        one["operationId"]: [
            each["schema"].get("enum") for each in one["parameters"] if each["name"] == "action"
        ]
        for one in acting
    }

    assert sorted(found) == ["group_act", "node_act", "session_act"]
    assert sorted(found["node_act"][0]) == ["declare-lost", "drain", "make-ready"]


def test_every_operation_has_a_name_of_its_own(made):
    names = [one["operationId"] for one in operations(made)]

    assert len(names) == len(set(names)) >= 35


def test_both_ways_of_sending_a_keypair_are_described(made):
    schemes = yaml.safe_load(made)["components"]["securitySchemes"]

    assert [schemes[name]["scheme"] for name in schema.KeypairScheme.name] == ["basic", "bearer"]


@pytest.mark.django_db
def test_a_stranger_may_read_it_but_nothing_else(world):
    found = Client().get("/api/schema", headers={"Accept": "application/vnd.oai.openapi+json"})

    assert json.loads(found.content)["openapi"] == "3.1.0"
    assert Client().get("/api/v1/sessions").status_code == 401


@pytest.mark.django_db
def test_the_page_brings_everything_along(world):
    page = Client().get("/api/docs")

    text = page.content.decode()
    assert "https://" not in text
    assert "<script>" not in text
    assert "unsafe-inline" not in page["Content-Security-Policy"].partition("style-src")[0]
