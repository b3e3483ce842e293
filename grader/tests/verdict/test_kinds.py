"""A criterion passes by its mathematics; its tests of refusals and of the dtype are its robustness, counted apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.criterion import PASSES, ROBUSTNESS, KindCount, Passes, counts_of, redecided
from grader.outcome import KINDS, Kind, Outcome, Status
from grader.tests.verdict.decided import FORBIDDEN, LEADS, RUN, STAGE, row
from grader.verdict import GRAVITY, CriterionResult, Verdict, decide

Tests = dict[str, tuple[Kind | str, Status]]
COUNTS: tuple[Kind, ...] = ("values", "edges", "purity", "speed", "memory")


def scores(tests: Tests, passes: Passes = "mathematics", hidden: bool = True) -> Verdict:
    """Decide where the row `scores` has these tests, a second one passes, and a third fails."""
    expected = [*((test, "scores", hidden) for test in tests), ("w", "weights", True), ("a", "attention", True)]
    outcomes = [Outcome(test, "scores", hidden, status, kind=kind) for test, (kind, status) in tests.items()]  # type: ignore[arg-type]
    others = [Outcome("w", "weights", True, "passed"), Outcome("a", "attention", True, "failed", called=())]
    return decide(replace(STAGE, passes=passes), expected, [*outcomes, *others], RUN, reaches=LEADS)


def decided(tests: Tests, passes: Passes = "mathematics") -> CriterionResult:
    return row(scores(tests, passes), "scores")


RIGHT: Tests = {"v": ("values", "passed"), "v2": ("values", "passed")}


class TestRobustness:
    def test_textbook_code_without_refusals_passes_and_is_not_robust(self) -> None:
        found = decided({**RIGHT, "r": ("refusals", "failed"), "d": ("dtype", "passed")})
        assert (found.status, found.robust, found.lacks_robustness) == ("passed", False, True)
        assert [each.kind for each in found.failures] == ["refusals"]
        assert found.kinds == (KindCount("values", 2, 2), KindCount("refusals", 0, 1), KindCount("dtype", 1, 1))
        assert (found.tests_passed, found.tests_total) == (3, 4)

    @pytest.mark.parametrize("kind", ROBUSTNESS)
    @pytest.mark.parametrize("status", [each for each in GRAVITY if each != "grader_fault"])
    def test_however_a_test_of_robustness_ends_it_does_not_count(self, kind: Kind, status: Status) -> None:
        assert decided({**RIGHT, "r": (kind, status)}).status == "passed"
        assert decided({**RIGHT, "r": (kind, status)}, "all").status == status

    @pytest.mark.parametrize("kind", ROBUSTNESS)
    def test_a_fault_of_the_grader_is_one_in_any_test(self, kind: Kind) -> None:
        found = scores({**RIGHT, "r": (kind, "grader_fault")})
        assert row(found, "scores").status == "grader_fault" and found.grader_fault

    @pytest.mark.parametrize("kind", COUNTS)
    @pytest.mark.parametrize("passes", PASSES)
    def test_every_other_kind_counts(self, kind: Kind, passes: Passes) -> None:
        found = decided({**RIGHT, "r": ("refusals", "passed"), "x": (kind, "failed")}, passes)
        assert (found.status, found.robust) == ("failed", False)
        assert set(COUNTS) | set(ROBUSTNESS) == set(KINDS)

    def test_a_test_that_names_no_kind_counts(self) -> None:
        assert decided({**RIGHT, "x": ("", "failed")}).status == "failed"

    def test_it_is_robust_with_every_test(self) -> None:
        assert decided({**RIGHT, "r": ("refusals", "passed")}).robust
        assert decided(RIGHT).robust  # nothing is missing where nothing is asked

    def test_a_stage_passes_without_robustness_and_says_that_it_is_not_robust(self) -> None:
        tests = [("t", "scores", True), ("r", "scores", True), ("w", "weights", True), ("a", "attention", True)]
        outcomes = [Outcome(*test, "passed", kind="values") for test in tests if test[0] != "r"]
        refusal = Outcome(*tests[1], "failed", kind="refusals")
        found = decide(STAGE, tests, [*outcomes, refusal], RUN)
        assert (found.passed, found.robust, found.passes) == (True, False, "mathematics")
        strict = decide(replace(STAGE, passes="all"), tests, [*outcomes, refusal], RUN)
        assert (strict.passed, strict.robust, strict.passes) == (False, False, "all")

    def test_a_row_about_refusals_alone_passes_by_them(self) -> None:
        assert decided({"r": ("refusals", "passed"), "d": ("dtype", "failed")}).status == "failed"
        assert decided({"r": ("refusals", "passed"), "d": ("dtype", "passed")}).robust

    def test_a_hidden_test_of_refusals_is_not_enough(self) -> None:
        """Nothing passes by default: some hidden test has to be one that counts."""
        expected = [("v", "scores", False), ("r", "scores", True)]
        outcomes = [Outcome("v", "scores", False, "passed", kind="values")]
        outcomes += [Outcome("r", "scores", True, "passed", kind="refusals")]
        assert row(decide(STAGE, expected, outcomes, RUN), "scores").status == "grader_fault"

    def test_what_decided_the_row_is_told_before_its_robustness(self) -> None:
        found = decided({"r": ("refusals", "failed"), "v": ("values", "failed")})
        assert [each.kind for each in found.failures] == ["values", "refusals"] and found.status == "failed"

    @pytest.mark.parametrize("passes", PASSES)
    def test_a_row_that_waits_and_whose_refusals_are_not_written_is_not_started(self, passes: Passes) -> None:
        found = decided({"v": ("values", "blocked"), "r": ("refusals", "not_started")}, passes)
        assert (found.status, found.waits_for) == ("not_started", ())

    @pytest.mark.parametrize(("called", "status"), [(("weights",), "blocked"), ((), "not_started")])
    def test_a_refusal_that_is_missing_shows_that_a_row_is_begun_and_waits(
        self, called: tuple[str, ...], status: Status
    ) -> None:
        """Of a function that is written, whose other tests meet what is not written yet."""
        expected = [(name, name, True) for name in ("scores", "weights")]
        expected += [(name, "attention", True) for name in ("v", "c", "r")]
        outcomes = [Outcome("scores", "scores", True, "passed"), Outcome("weights", "weights", True, "not_started")]
        outcomes += [Outcome("v", "attention", True, "blocked", kind="values", waits_on="weights")]
        outcomes += [Outcome("c", "attention", True, "not_started", kind="values")]
        outcomes += [Outcome("r", "attention", True, "failed", kind="refusals", called=called or ("attention",))]
        found = row(decide(STAGE, expected, outcomes, RUN, reaches={}), "attention")
        assert found.status == status

    def test_nothing_waits_for_a_row_that_is_not_robust(self) -> None:
        found = scores({**RIGHT, "r": ("refusals", "failed")})
        assert row(found, "attention").status == "failed"


class TestValuesRight:
    """A row is nearly done where its values are right and its edges or purity are not."""

    @pytest.mark.parametrize("kind", ["edges", "purity"])
    def test_edges_or_purity_are_missing(self, kind: Kind) -> None:
        found = decided({**RIGHT, "x": (kind, "failed"), "r": ("refusals", "failed")})
        assert found.status == "failed" and found.values_right

    def test_where_all_tests_count_so_does_what_lacks_refusals(self) -> None:
        assert decided({**RIGHT, "r": ("refusals", "failed")}, "all").values_right

    @pytest.mark.parametrize(
        "tests",
        [
            {"v": ("values", "passed"), "v2": ("values", "failed"), "e": ("edges", "failed")},
            {"d": ("dtype", "passed"), "e": ("edges", "failed")},
            {"v": ("values", "passed"), "x": ("", "failed")},
            {"v": ("values", "passed"), "e": ("edges", "crashed")},
            {"v": ("values", "passed"), "e": ("edges", "passed")},
            {"v": ("values", "passed"), "s": ("speed", "failed")},
            {"v": ("values", "passed"), "e": ("edges", "failed"), "m": ("memory", "failed")},
            {"v": ("values", "passed"), "r": ("refusals", "failed")},
        ],
        ids=["a wrong value", "no test of values", "no kind", "a crash", "passed", "slow", "memory", "robustness"],
    )
    def test_what_is_not_called_right_values(self, tests: Tests) -> None:
        assert not decided(tests).values_right

    @pytest.mark.parametrize("kind", ["edges", "purity", "speed", "memory"])
    def test_nothing_waits_for_a_row_whose_values_are_right(self, kind: Kind) -> None:
        found = scores({**RIGHT, "x": (kind, "failed")})
        assert not found.passed and row(found, "attention").status == "failed"


def test_a_row_that_the_text_refuses_counts_no_kinds() -> None:
    tests = [("t", "scores", True), ("w", "weights", True), ("a", "attention", True)]
    outcomes = [Outcome(*test, "passed", kind="values") for test in tests]
    found = decide(STAGE, tests, outcomes, RUN, refused={"scores": FORBIDDEN})
    assert row(found, "scores").kinds == () and row(found, "weights").kinds == (KindCount("values", 1, 1),)
    assert row(found, "scores").status == "failed" and not row(found, "scores").robust


@pytest.mark.parametrize(
    ("status", "tests", "mathematics", "everything"),
    [
        ("failed", [("values", True), ("refusals", False)], "passed", "failed"),  # as version 1 decided it
        ("crashed", [("values", True), ("refusals", False)], "passed", "crashed"),
        ("passed", [("values", True), ("dtype", False)], "passed", "failed"),
        ("passed", [("values", True), ("dtype", True)], "passed", "passed"),
        ("failed", [("values", True), ("edges", False)], "failed", "failed"),
        ("failed", [("", False), ("refusals", False)], "failed", "failed"),
        ("grader_fault", [("values", True), ("refusals", False)], "grader_fault", "grader_fault"),
        ("blocked", [], "blocked", "blocked"),
        ("passed", [], "passed", "passed"),  # what passed is never lost
    ],
)
def test_what_was_decided_by_other_tests_is_decided_anew(
    status: Status, tests: list[tuple[Kind, bool]], mathematics: Status, everything: Status
) -> None:
    counts = counts_of(tests)
    assert (redecided(status, counts, "mathematics"), redecided(status, counts, "all")) == (mathematics, everything)
