"""The description of one operation."""

from __future__ import annotations

from xceweb.api import docs
from xceweb.api.v1 import session_shapes


def test_a_described_method_stays_what_it_is():
    @docs.operation(
        summary="s", answer=session_shapes.Run, example={}, name="n", errors=(404,), is_paged=True
    )
    def get(self):
        return 7

    assert get(None) == 7


def test_errors_are_problems_with_words():
    one = docs.operation(summary="s", answer=session_shapes.Run, example={}, name="n", errors=(404, 412))

    assert sorted(code for code, _ in one._refusals()) == [401, 404, 412, 429]
    assert {kind for _, kind in one._refusals()} == {"application/problem+json"}
