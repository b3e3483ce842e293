"""Whose processes leave no room is told from counts alone."""

from __future__ import annotations

import pytest

from grader.sandbox.process import no_room


@pytest.mark.parametrize(
    ("own", "others", "most", "status", "said"),
    [
        (61, 0, 64, "over_limit", "m.py holds about 61 processes and threads, where a run may have 64"),
        (61, 100, 164, "over_limit", "a run may have 64"),
        (5, 160, 164, "grader_fault", "take up all room \\(160 of 164\\)"),
        (5, 0, 64, "crashed", "did not start this test"),
    ],
)
def test_the_reason(own: int, others: int, most: int, status: str, said: str) -> None:
    found = no_room(own, others, most, "m.py")
    assert found.status == status
    with pytest.raises(type(found), match=said):
        raise found
