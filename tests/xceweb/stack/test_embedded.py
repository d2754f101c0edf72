import psycopg
import pytest
import redis

from xceweb.stack import datadir, embedded, errors


def names(backing: embedded.Backing) -> list[str]:
    return [service.name for service in backing.services]


def test_both_servers_are_embedded_where_nothing_is_external(tmp_path):
    backing = embedded.choose(datadir.DataDir(tmp_path), None, environ={})

    assert names(backing) == ["postgres", "valkey"]
    assert set(backing.env) >= {"DATABASE_URL", "REDIS_URL", "BROKER_URL", "SECRET_KEY", "XCE_DATA_DIR"}


def test_nothing_is_embedded_where_all_is_external(tmp_path):
    given = {"DATABASE_URL": "postgresql://db/x", "REDIS_URL": "redis://store/0"}
    backing = embedded.choose(datadir.DataDir(tmp_path), None, environ=given)

    assert names(backing) == []
    assert backing.env["DATABASE_URL"] == "postgresql://db/x"
    assert backing.env["BROKER_URL"] == "redis://store/0"


def test_an_external_broker_alone_leaves_the_store_embedded(tmp_path):
    backing = embedded.choose(datadir.DataDir(tmp_path), None, environ={"BROKER_URL": "amqp://rabbit//"})

    assert names(backing) == ["postgres", "valkey"]
    assert backing.env["BROKER_URL"] == "amqp://rabbit//"
    assert backing.env["REDIS_URL"].startswith("redis://:")


def test_the_secret_key_stays_over_restarts(tmp_path):
    first, second = (embedded.choose(datadir.DataDir(tmp_path), None, environ={}) for _ in range(2))

    assert first.env["SECRET_KEY"] == second.env["SECRET_KEY"]


def test_servers_run_for_a_while_and_are_gone_afterwards(tmp_path):
    with embedded.running(tmp_path / "data", throwaway=True) as env:
        with psycopg.connect(env["DATABASE_URL"]) as database:
            one = database.execute("SELECT 1").fetchone()
        with redis.Redis.from_url(env["REDIS_URL"]) as client:
            answer = client.ping()

    assert (one, answer) == ((1,), True)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(env["DATABASE_URL"])


def test_servers_that_cannot_run_say_why(tmp_path):
    (tmp_path / "data").touch()

    with (
        pytest.raises(errors.StackError, match="cannot be used: File exists"),
        embedded.running(tmp_path / "data", throwaway=True),
    ):
        pass
