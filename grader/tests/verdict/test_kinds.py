"""A row counts its tests by what they look at: values, refusals, dtypes."""

from __future__ import annotations

import pytest

from grader.outcome import Outcome, Status
from grader.tests.verdict.decided import FORBIDDEN, LEADS, RUN, STAGE, row
from grader.verdict import KindCount, Verdict, decide


class TestKinds:
    """A row whose values are right says so, and does not pass."""

    def scores(self, kinds: dict[str, tuple[str, Status]]) -> Verdict:
        expected = [*((test, "scores", True) for test in kinds), ("w", "weights", True), ("a", "attention", True)]
        outcomes = [Outcome(test, "scores", True, status, kind=kind) for test, (kind, status) in kinds.items()]  # type: ignore[arg-type]
        others = [Outcome("w", "weights", True, "passed"), Outcome("a", "attention", True, "failed", called=())]
        return decide(STAGE, expected, [*outcomes, *others], RUN, reaches=LEADS)

    def test_right_values_without_refusals(self) -> None:
        tests = {"v1": ("values", "passed"), "v2": ("values", "passed"), "r": ("refusals", "failed")}
        found = row(self.scores(tests | {"d": ("dtype", "passed")}), "scores")  # type: ignore[arg-type]
        assert found.status == "failed" and found.values_right and [f.kind for f in found.failures] == ["refusals"]
        assert found.kinds == (KindCount("values", 2, 2), KindCount("refusals", 0, 1), KindCount("dtype", 1, 1))

    def test_it_does_not_pass_and_nothing_waits_for_it(self) -> None:
        found = self.scores({"v": ("values", "passed"), "r": ("refusals", "failed")})
        assert not found.passed and row(found, "attention").status == "failed"

    @pytest.mark.parametrize(
        "tests",
        [
            {"v": ("values", "passed"), "v2": ("values", "failed"), "r": ("refusals", "failed")},
            {"d": ("dtype", "passed"), "r": ("refusals", "failed")},
            {"v": ("values", "passed"), "x": ("", "failed")},
            {"v": ("values", "passed"), "r": ("refusals", "crashed")},
            {"v": ("values", "passed"), "r": ("refusals", "passed")},
        ],
        ids=["a wrong value", "no test of values", "a test of no kind", "a crash", "passed"],
    )
    def test_what_is_not_called_right_values(self, tests: dict[str, tuple[str, Status]]) -> None:
        assert not row(self.scores(tests), "scores").values_right

    def test_a_row_that_the_text_refuses_counts_no_kinds(self) -> None:
        tests = [("t", "scores", True), ("w", "weights", True), ("a", "attention", True)]
        outcomes = [Outcome(*test, "passed", kind="values") for test in tests]
        found = decide(STAGE, tests, outcomes, RUN, refused={"scores": FORBIDDEN})
        assert row(found, "scores").kinds == () and row(found, "weights").kinds == (KindCount("values", 1, 1),)
