"""Text of unknown origin with everything that a reader would not see made visible. Pure; escaping is the template's."""

from __future__ import annotations

#: C0 controls and DEL as their pictures; a line feed and a tab are what they look like.
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: "\u2421"}
#: What turns the direction of text or joins and hides without being seen, and C1 controls, as their numbers.
_HIDDEN = [
    *range(0x80, 0xA0),
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
]
_TABLE = _PICTURES | {code: f"\\u{code:04x}" for code in _HIDDEN}


def text(raw: str) -> str:
    """Return a text in which control characters are visible; a line end of two characters stays one."""
    return raw.replace("\r\n", "\n").translate(_TABLE)
