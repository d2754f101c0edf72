import contextlib
import shutil

import psycopg
import pytest

from xceweb.stack import errors, keys, postgres

FAST = ("fsync=off",)


@pytest.fixture(scope="module")
def secrets():
    return keys.generate()


def test_the_server_keeps_its_data_and_its_rules_over_a_restart(open_dir, account, secrets):
    first = postgres.start(open_dir, secrets=secrets, account=account, settings=FAST)
    with stopping(first), psycopg.connect(first.url) as database:
        database.execute("CREATE TABLE kept AS SELECT 7 AS value")
        rules = {name: database.execute(f"SHOW {name}").fetchone()[0] for name in EXPECTED}
        is_superuser = database.execute("SELECT rolsuper FROM pg_roles WHERE rolname = 'xce'").fetchone()[0]
    second = postgres.start(open_dir, secrets=secrets, account=account, settings=FAST)
    with stopping(second), psycopg.connect(second.url) as database:
        kept = database.execute("SELECT value FROM kept").fetchone()[0]

    assert rules == EXPECTED
    assert kept == 7
    assert not is_superuser


def test_the_server_refuses_a_wrong_password(open_dir, account, secrets):
    server = postgres.start(open_dir, secrets=secrets, account=account, settings=FAST)
    wrong = server.url.replace(secrets.database_password, "guess")
    try:
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
    finally:
        server.stop()


def test_the_secrets_of_another_installation_are_named(open_dir, account, secrets):
    postgres.start(open_dir, secrets=secrets, account=account, settings=FAST).stop()

    with pytest.raises(errors.StackError, match=r"is secrets\.json its own"):
        postgres.start(open_dir, secrets=keys.generate(), account=account, settings=FAST)


def test_data_of_another_major_version_are_left_alone(open_dir, secrets):
    version = open_dir / "postgres" / "cluster" / "PG_VERSION"
    version.parent.mkdir(parents=True)
    version.write_text("15\n")

    with pytest.raises(errors.StackError, match="made by PostgreSQL 15, this is 18"):
        postgres.describe(open_dir, secrets=secrets).prepare()
    assert version.read_text() == "15\n"


def test_an_interrupted_set_up_is_begun_again(open_dir, account, secrets):
    unfinished = open_dir / "postgres" / "cluster.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "half").touch()
    server = postgres.describe(open_dir, secrets=secrets, account=account)
    server.prepare()

    assert (open_dir / "postgres" / "cluster" / "PG_VERSION").read_text().strip() == postgres.MAJOR
    assert not unfinished.exists()


def test_a_server_that_cannot_start_says_why(open_dir, account, secrets):
    with pytest.raises(errors.StackError, match=r"postgres ended at once .*no_such_setting"):
        postgres.start(open_dir, secrets=secrets, account=account, settings=("no_such_setting=1",))


def test_the_wheel_has_the_programs():
    assert all(shutil.which(postgres.program(name)) for name in ("postgres", "initdb", "psql", "pg_dump"))


@contextlib.contextmanager
def stopping(server: postgres.Running):
    try:
        yield
    finally:
        assert server.stop() == 0


EXPECTED = {
    "listen_addresses": "127.0.0.1",
    "password_encryption": "scram-sha-256",
    "data_checksums": "on",
    "jit": "off",
    "server_encoding": "UTF8",
    "server_version_num": "180006",
}
