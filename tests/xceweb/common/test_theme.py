"""The theme cookie."""

import pytest
from django import test

from xceweb.common import theme


def _post(headers=None, **data):
    return theme.set_theme(test.RequestFactory().post("/theme/", data, headers=headers or {}))


@pytest.mark.parametrize("name", theme.THEMES)
def test_a_theme_is_kept_in_a_cookie(name):
    response = _post(theme=name, next="/sessions/?page=2")

    assert name == response.cookies[theme.COOKIE].value
    assert response["Location"] == "/sessions/?page=2"


def test_an_unknown_theme_is_refused_and_keeps_nothing():
    response = _post(theme="pink")

    assert response.status_code == 400
    assert theme.COOKIE not in response.cookies


def test_a_script_gets_no_page():
    assert _post({"X-Requested-With": "fetch"}, theme="dark").status_code == 204


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:x", ""])
def test_it_leads_nowhere_else(target):
    assert _post(theme="dark", next=target)["Location"] == "/"


def test_it_only_takes_posts():
    assert theme.set_theme(test.RequestFactory().get("/theme/")).status_code == 405


def test_a_made_up_cookie_counts_as_none():
    request = test.RequestFactory().get("/")
    request.COOKIES[theme.COOKIE] = '"><script>'

    assert theme.chosen(request) == "auto"
