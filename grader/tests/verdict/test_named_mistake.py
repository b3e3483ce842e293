"""Which of the mistakes that explain a failure is named in the verdict: one, or none."""

from __future__ import annotations

import pytest

from grader.outcome import Diagnosis, Outcome, the_one
from grader.tests.verdict.decided import EXPECTED, RUN, STAGE, A, B, C, test_of
from grader.verdict import decide


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        ((), [], None),
        ((A,), [], A),
        ((A, B), [], None),
        ((A, B), [(B, C)], B),
        ((A, B), [(A, B)], None),
        ((A, B), [(C,)], None),
        ((A, B, C), [(A, B), (B, C)], B),
        ((A,), [(B,)], A),
        ((), [(A,)], None),
    ],
    ids=["none", "one", "two", "narrowed", "not narrowed", "nothing shared", "narrowed twice", "already one", "no own"],
)
def test_the_one_mistake_that_explains(
    own: tuple[Diagnosis, ...], others: list[tuple[Diagnosis, ...]], expected: Diagnosis | None
) -> None:
    assert the_one(own, others) == expected


def test_a_mistake_whose_own_row_passes_is_not_named() -> None:
    test, row, hidden = test_of("attention")
    elsewhere = Diagnosis("d", "attention", "mistake d", "fix d")
    failed = Outcome(test, row, hidden, "failed", explains=(A, elsewhere))
    others = [Outcome(t, r, h, "passed") for t, r, h in EXPECTED if t != test]
    (failure,) = decide(STAGE, EXPECTED, [failed, *others], RUN).criteria[2].failures
    assert failure.diagnosis == elsewhere
