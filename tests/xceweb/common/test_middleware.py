"""One id per request."""

from asgiref import sync
from django import http, test

from scheduler import logs
from xceweb.common import middleware


def _answer(seen):
    def handle(request):
        seen.append((request.request_id, logs.ids().get("request_id")))
        return http.HttpResponse()

    return handle


def _ask(seen, **headers):
    request = test.RequestFactory().get("/", headers=headers)
    return middleware.RequestIdMiddleware(_answer(seen))(request)


def test_an_id_is_made_bound_and_echoed():
    seen = []
    response = _ask(seen)

    assert [(response["X-Request-ID"], response["X-Request-ID"])] == seen
    assert len(response["X-Request-ID"]) == 32


def test_the_id_is_unbound_afterwards():
    _ask([])

    assert "request_id" not in logs.ids()


def test_a_well_formed_id_of_the_client_is_kept():
    assert _ask([], **{"X-Request-ID": "job-42.retry_1"})["X-Request-ID"] == "job-42.retry_1"


def test_an_ill_formed_id_is_replaced():
    for bad in ("short", "a" * 65, "with space and more", "line\nbreak-in-it"):
        assert bad != _ask([], **{"X-Request-ID": bad})["X-Request-ID"]


def test_it_serves_asynchronous_views_without_a_thread():
    async def handle(request):
        return http.HttpResponse(request.request_id)

    wrapped = middleware.RequestIdMiddleware(handle)
    response = sync.async_to_sync(wrapped)(test.RequestFactory().get("/"))

    assert sync.iscoroutinefunction(wrapped)
    assert response.content.decode() == response["X-Request-ID"]
