"""So many requests a minute."""

from __future__ import annotations

import redis

from xceweb.api import throttles


def test_what_comes_beyond_the_limit_waits_for_the_next_minute(api_of, settings, monkeypatch):
    settings.API_REQUESTS_PER_MINUTE = 2
    monkeypatch.setattr(throttles.time, "time", lambda: 600.0)
    api, other = api_of("owner"), api_of("operator")

    answers = [api.get("/me") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert (answers[2].json()["code"], answers[2]["Retry-After"]) == ("too-often", "60")
    assert other.get("/me").status_code == 200


def test_without_redis_requests_go_on_uncounted(api_of, settings, monkeypatch):
    def fails(*args, **kwargs):
        raise redis.ConnectionError("away")

    settings.API_REQUESTS_PER_MINUTE = 1
    monkeypatch.setattr(throttles.redis, "Redis", fails)
    api = api_of("owner")

    assert [api.get("/me").status_code for _ in range(3)] == [200, 200, 200]


def test_no_limit_counts_nothing(api_of, settings):
    settings.API_REQUESTS_PER_MINUTE = 0

    assert "RateLimit-Limit" not in api_of("owner").get("/me")
