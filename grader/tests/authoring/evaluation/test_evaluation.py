"""What gradings of right modules and of the stub prove: counts and shortfalls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.authoring import evaluation
from grader.authoring.claims import Shortfall
from grader.authoring.evaluation import Tally
from grader.outcome import Outcome, Status
from grader.submission.parsing import Problem
from grader.tests.authoring.evaluation.graded import BARE, FAILURE, HIDDEN, STAGE, result, row, verdict
from grader.verdict import Verdict


class TestRight:
    def test_what_passes_for_every_seed_is_counted(self) -> None:
        results = [result("reference", seed, verdict()) for seed in (1, 2, 3)]
        assert evaluation.right(STAGE, results) == (Tally(3, 3), [])

    def test_nothing_is_nothing_of_nothing(self) -> None:
        assert evaluation.right(STAGE, []) == (Tally(0, 0), [])

    def test_one_that_fails_is_named_with_its_seed_its_test_and_how_to_see_it(self) -> None:
        wrong = verdict(row("total"), row("half", "failed", FAILURE))
        tally, shortfalls = evaluation.right(
            STAGE, [result("alternatives/loops", 2, wrong), result("alternatives/sums", 2, verdict())]
        )
        place = f"{HIDDEN}/alternatives/loops.py"
        assert tally == Tally(1, 2)
        assert shortfalls == [
            Shortfall(
                "s90",
                place,
                "alternatives/loops does not pass for seed 2: "
                "half failed: test_small.py::test_half: half(x) expected 1.0, got 2.0",
                f"`grader check s90 --submission {place} --seed 2` shows it",
            )
        ]

    def test_of_one_that_fails_for_several_seeds_the_least_is_shown_whatever_came_first(self) -> None:
        wrong = verdict(row("half", "failed", FAILURE))
        results = [result("reference", seed, wrong) for seed in (9, 4, 6)] + [result("reference", 1, verdict())]
        tally, (shortfall,) = evaluation.right(STAGE, results)
        assert tally == Tally(1, 4)
        assert "does not pass for seed 4 and 2 more: " in shortfall.message and "--seed 4`" in shortfall.fix
        assert "does not pass for seed 6 and 1 more: " in evaluation.right(STAGE, results[::2])[1][0].message

    def test_one_that_passes_without_all_of_its_robustness_is_not_right(self) -> None:
        tally, (shortfall,) = evaluation.right(STAGE, [result("alternatives/loops", 2, verdict(row("total"), BARE))])
        assert tally == Tally(0, 1) and "half is not robust: test_small.py::test_half" in shortfall.message

    def test_each_module_has_a_line_of_its_own(self) -> None:
        wrong = verdict(row("half", "failed", FAILURE))
        _, shortfalls = evaluation.right(STAGE, [result(f"alternatives/{name}", 1, wrong) for name in ("two", "one")])
        assert [each.place for each in shortfalls] == [f"{HIDDEN}/alternatives/{name}.py" for name in ("one", "two")]
        assert all("does not pass for seed 1: " in each.message for each in shortfalls)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (verdict(problem=Problem("syntax", "line 1:\n  no Python", 1, None)), "line 1: no Python"),
        (verdict(faults=("a test belongs\nto no row", "more")), "a test belongs to no row"),
        (verdict(row("total"), row("half", "blocked")), "half blocked"),
        (verdict(row("half", "crashed", replace(FAILURE, call=""))), "half crashed: test_small.py::test_half:  exp"),
    ],
    ids=["problem", "fault", "no failure", "failure"],
)
def test_the_first_complaint_is_one_line(found: Verdict, said: str) -> None:
    text = evaluation.first_complaint(found)
    assert text.startswith(evaluation.one_line(said)) and "\n" not in text


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = evaluation.one_line("a" * 400 + "\n" + "b" * 400)
    assert text == "a" * evaluation.KEPT + " … " + "b" * evaluation.KEPT
    assert " … " in evaluation.one_line("c" * (2 * evaluation.KEPT + 1))
    assert evaluation.one_line("c" * 2 * evaluation.KEPT) == "c" * 2 * evaluation.KEPT
    assert evaluation.one_line("  one\n\ttwo  three ") == "one two three"


class TestFaults:
    def test_test_files_without_fault(self) -> None:
        assert evaluation.faults(STAGE, [result("reference", 1, verdict())]) == []

    def test_a_fault_of_every_seed_is_one_line(self) -> None:
        found = verdict(faults=("test_a belongs to no row", "test_b is\n  there twice"))
        shortfalls = evaluation.faults(STAGE, [result("reference", seed, found) for seed in (1, 2)])
        assert [each.message for each in shortfalls] == ["test_a belongs to no row", "test_b is there twice"]
        assert {each.place for each in shortfalls} == {"stages/s90_small/tests/"}


class TestRows:
    OUTCOMES = tuple(
        Outcome(f"test_{name}.py::test_{name}_{hidden}", name, hidden, "passed")
        for name in ("total", "half")
        for hidden in (False, True)
    )
    FRESH = frozenset({"test_total.py::test_total_True", "test_half.py::test_half_True"})

    def test_each_row_has_a_public_and_a_hidden_test(self) -> None:
        assert evaluation.rows(STAGE, [result("reference", 1, verdict(), *self.OUTCOMES)], self.FRESH) == []

    @pytest.mark.parametrize(("left_out", "kind"), [(2, "public"), (3, "hidden")])
    def test_a_row_without_one_is_named(self, left_out: int, kind: str) -> None:
        outcomes = [outcome for number, outcome in enumerate(self.OUTCOMES) if number != left_out]
        (shortfall,) = evaluation.rows(STAGE, [result("reference", 1, verdict(), *outcomes)], self.FRESH)
        assert shortfall.message == f"row half has no {kind} test"
        assert shortfall.place == ("stages/s90_small/tests/" if kind == "public" else f"{HIDDEN}/")

    def test_a_hidden_test_of_refusals_alone_is_none(self) -> None:
        outcomes = [replace(each, kind="refusals") if each == self.OUTCOMES[3] else each for each in self.OUTCOMES]
        (shortfall,) = evaluation.rows(STAGE, [result("reference", 1, verdict(), *outcomes)], self.FRESH)
        assert shortfall.message == "row half has no hidden test"
        alone = [replace(each, kind="refusals") if each.criterion == "half" else each for each in self.OUTCOMES]
        assert evaluation.rows(STAGE, [result("reference", 1, verdict(), *alone)], self.FRESH) == []

    def test_tests_of_any_seed_count(self) -> None:
        split = [result("reference", seed, verdict(), *self.OUTCOMES[seed::2]) for seed in (0, 1)]
        assert evaluation.rows(STAGE, split, self.FRESH) == []

    def test_a_row_whose_hidden_tests_have_fixed_inputs_is_named_with_their_file(self) -> None:
        fresh = {"test_total.py::test_total_True", "test_half.py::test_half_False", "test_half.py::test_of_total"}
        (shortfall,) = evaluation.rows(STAGE, [result("reference", 1, verdict(), *self.OUTCOMES)], fresh)
        assert shortfall.place == f"{HIDDEN}/test_half.py"
        assert shortfall.message == "row half has hidden tests of fixed inputs only: their answers can be hard-coded"
        assert shortfall.fix == "add one that draws its inputs from the fixture `rng`"

    def test_one_fresh_test_of_a_row_is_enough_and_its_parameters_do_not_matter(self) -> None:
        more = [Outcome(f"test_half.py::test_any[{size}-a::b]", "half", True, "passed") for size in (1, 2)]
        results = [result("reference", 1, verdict(), *self.OUTCOMES, *more)]
        assert evaluation.rows(STAGE, results, {"test_total.py::test_total_True", "test_half.py::test_any"}) == []


class TestKinds:
    def test_each_test_names_its_kind(self) -> None:
        outcomes = [Outcome("test_total.py::test_total", "total", True, "passed", kind="values")]
        assert evaluation.kinds(STAGE, [result("reference", 1, verdict(), *outcomes)]) == []

    def test_one_that_does_not_is_named_once_with_its_file_whatever_its_parameters(self) -> None:
        tests = [
            Outcome(f"test_total.py::TestTotal::test_x[{n}]", "total", hidden, "passed")
            for n in (1, 2)
            for hidden in (True, False)
        ]
        results = [result("reference", seed, verdict(), *tests) for seed in (1, 2)]
        hidden, public = evaluation.kinds(STAGE, results)
        assert hidden.place == f"{HIDDEN}/test_total.py" and public.place == "stages/s90_small/tests/test_total.py"
        assert hidden.message == "TestTotal::test_x names no kind, or several"
        assert "`@pytest.mark.values`" in hidden.fix and "`@pytest.mark.speed`" in hidden.fix


class TestStub:
    def test_rows_that_are_not_started(self) -> None:
        found = verdict(row("total", "not_started"), row("half", "not_started"))
        assert evaluation.stub(STAGE, [result("stub", 1, found)]) == (Tally(2, 2), [])

    @pytest.mark.parametrize("status", ["passed", "failed", "blocked", "grader_fault"])
    def test_a_row_that_is_anything_else(self, status: Status) -> None:
        found = verdict(row("total", "not_started"), row("half", status))
        tally, (shortfall,) = evaluation.stub(STAGE, [result("stub", 1, found)])
        assert tally == Tally(1, 2) and shortfall.place == "stages/s90_small/small.py"
        assert shortfall.message == f"the stub's row half is {status}, expected not_started"
