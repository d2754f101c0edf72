import pytest
import redis

from xceweb.stack import errors, keys, valkey


@pytest.fixture(scope="module")
def secrets():
    return keys.generate()


def test_the_server_forgets_nothing_over_a_restart_and_drops_nothing(open_dir, account, secrets):
    first = valkey.start(open_dir, secrets=secrets, account=account)
    with redis.Redis.from_url(first.url) as client:
        client.set("kept", "yes")
        rules = client.config_get("appendonly", "maxmemory-policy", "bind")
    assert first.stop() == 0
    second = valkey.start(open_dir, secrets=secrets, account=account)
    with redis.Redis.from_url(second.url) as client:
        kept = client.get("kept")
    second.stop()

    assert rules == {"appendonly": "yes", "maxmemory-policy": "noeviction", "bind": "127.0.0.1"}
    assert kept == b"yes"


def test_the_server_answers_nobody_without_the_password(open_dir, account, secrets):
    server = valkey.start(open_dir, secrets=secrets, account=account)
    try:
        with redis.Redis(port=server.server.port) as client, pytest.raises(redis.AuthenticationError):
            client.ping()
    finally:
        server.stop()


def test_the_password_stands_on_no_command_line(open_dir, account, secrets):
    server = valkey.describe(open_dir, secrets=secrets, account=account)
    server.prepare()
    process = server.spawn()
    arguments = " ".join(map(str, process.args))
    process.kill()
    process.wait()

    assert secrets.redis_password not in arguments
    assert (open_dir / "valkey" / "valkey.conf").stat().st_mode & 0o777 == 0o600


def test_a_server_that_cannot_start_says_why(open_dir, account, secrets):
    (open_dir / "valkey" / "appendonlydir").mkdir(parents=True)
    (open_dir / "valkey" / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")

    with pytest.raises(errors.StackError, match="valkey ended at once"):
        valkey.start(open_dir, secrets=secrets, account=account)
