"""What every page gets."""

from django import test

from xceweb.common import context_processors, theme


def test_the_theme_comes_from_the_cookie():
    request = test.RequestFactory().get("/")
    request.COOKIES[theme.COOKIE] = "dark"

    assert context_processors.page(request) == {"theme": "dark"}
