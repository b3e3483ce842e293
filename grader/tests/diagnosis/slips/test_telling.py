"""What a change of a right module says is vague where it names nothing that a learner could look at."""

from __future__ import annotations

import pytest

from grader.diagnosis.slips.telling import is_vague


@pytest.mark.parametrize(
    "text",
    ["f answers as if a term were not added.", "f answers as if y were not passed on.", "f: a were used where b"],
)
def test_what_names_nothing_is_vague(text: str) -> None:
    assert is_vague(text)


@pytest.mark.parametrize("text", ["f answers as if b were not added to x.", "f answers as if mask did not reach g."])
def test_what_names_a_term_is_not(text: str) -> None:
    assert not is_vague(text)
