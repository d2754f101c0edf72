"""Log-ins of a first start: made once, private, never lost."""

import json
import stat

from scheduler.demo import logins


def test_a_password_is_made_once_and_found_again(tmp_path):
    first = logins.Logins(tmp_path).password_for("ann", role="user", note="a note")
    again = logins.Logins(tmp_path).password_for("ann", role="user", note="a note")

    assert first == again
    assert len(first) >= 16


def test_the_file_is_private_and_lists_every_login(tmp_path):
    book = logins.Logins(tmp_path)
    for name in ("ann", "ben"):
        book.password_for(name, role="user", note=f"is {name}")
    path = tmp_path / "logins.json"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [(row["username"], row["note"]) for row in json.loads(path.read_text())] == [
        ("ann", "is ann"),
        ("ben", "is ben"),
    ]
    assert set(json.loads(path.read_text())[0]) == {"username", "password", "role", "note"}


def test_passwords_differ():
    assert len({logins.new_password() for _ in range(50)}) == 50
