"""Control characters are shown, never obeyed."""

import pytest

from xceweb.common import visible


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\nnext", "plain\ttext\nnext"),
        ("dos\r\nline", "dos\nline"),
        ("50 %\r60 %", "50 %\u240d60 %"),
        ("\x1b[31mred\x1b[0m", "\u241b[31mred\u241b[0m"),
        ("\x00\x07\x08\x7f", "\u2400\u2407\u2408\u2421"),
        ("\x9b31m", "\\u009b31m"),
        ("admin\u202egnp.exe", "admin\\u202egnp.exe"),
        ("a\u200bb\u2066c\ufeffd", "a\\u200bb\\u2066c\\ufeffd"),
        ("ä€漢🎲", "ä€漢🎲"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(raw, shown):
    assert visible.text(raw) == shown
