"""
A rest for Python's collector of cycles while a round decides.

A round makes hundreds of thousands of small objects that all live until its end: looking among them for garbage, again
and again, finds none and costs time that grows with the group. What it leaves behind is collected afterwards as ever.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def left_alone() -> Iterator[None]:
    """Look for no garbage inside the block; nested ones end with the outermost."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
