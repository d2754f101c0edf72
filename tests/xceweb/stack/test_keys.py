import json
import stat

import pytest

from xceweb.stack import errors, keys


def test_secrets_are_made_once_and_kept(tmp_path):
    first = keys.load(tmp_path)

    assert keys.load(tmp_path) == first


def test_secrets_are_private_and_long(tmp_path):
    secrets = keys.load(tmp_path)

    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600
    assert len(secrets.secret_key) >= 50
    assert len({secrets.database_password, secrets.database_admin_password, secrets.redis_password}) == 3


def test_secrets_of_two_installations_differ():
    assert keys.generate() != keys.generate()


@pytest.mark.parametrize("text", ["{", "{}", json.dumps({"secret_key": "x", "unknown": 1})])
def test_damaged_secrets_are_refused_and_left_alone(text, tmp_path):
    (tmp_path / "secrets.json").write_text(text)

    with pytest.raises(errors.StackError, match=r"cannot use .*secrets\.json"):
        keys.load(tmp_path)
    assert (tmp_path / "secrets.json").read_text() == text


def test_writing_leaves_no_second_file(tmp_path):
    keys.write_private(tmp_path / "facts.json", "{}")

    assert [path.name for path in tmp_path.iterdir()] == ["facts.json"]
