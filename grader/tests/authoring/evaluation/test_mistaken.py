"""What gradings of known mistakes and of mutants prove."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.authoring import evaluation
from grader.authoring.accepted import Equivalent
from grader.authoring.cases import Case, Result
from grader.authoring.claims import Shortfall
from grader.authoring.evaluation import Mutation, Tally
from grader.diagnosis.obvious import NOTHING
from grader.outcome import Diagnosis, Outcome, Status
from grader.submission.parsing import Problem
from grader.tests.authoring.evaluation.graded import (
    BARE,
    DIAGNOSIS,
    FAILURE,
    HIDDEN,
    MUTANT,
    STAGE,
    WHOLE,
    mistaken,
    result,
    row,
    verdict,
)
from grader.verdict import Verdict

EDIT = Diagnosis("term-missing-0a1b2c3d", "half", "half, line 24: A term is missing.", "Halve it.", False, "half", 24)


def undecided(*each: tuple[str, ...], told: Diagnosis | None = None) -> Result:
    """Return the result of a mistake that is not named, and the known mistakes that explain each failing test alike."""
    failures = [replace(FAILURE, diagnosis=told, undecided=names) for names in each]
    return result("mistakes/whole", 7, verdict(row("half", "failed", *failures)))


class TestMistakes:
    def test_one_that_is_caught_and_named(self) -> None:
        found = evaluation.mistakes(STAGE, [WHOLE], [mistaken("failed", "whole", "whole")])
        assert found == (Tally(1, 1), Tally(1, 1), [])

    @pytest.mark.parametrize("status", ["failed", "crashed", "timed_out", "over_limit"])
    def test_each_way_to_fail_catches_it(self, status: Status) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken(status, "whole")])[0] == Tally(1, 1)

    def test_a_failure_without_a_name_beside_one_with_it_is_enough(self) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken("failed", "whole", None)])[1] == Tally(1, 1)

    @pytest.mark.parametrize("status", ["passed", "blocked", "not_started"])
    def test_one_that_its_row_does_not_catch(self, status: Status) -> None:
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [mistaken(status)])
        assert (caught, named) == (Tally(0, 1), Tally(0, 1))
        assert shortfall == Shortfall(
            "s90",
            f"{HIDDEN}/mistakes.py:12",
            f"whole is not caught: row half is {status} (seed 7)",
            "sharpen a test of half",
        )

    def test_one_of_refusals_is_caught_by_the_robustness_that_it_costs(self) -> None:
        found = [result("mistakes/whole", seed, verdict(row("total"), BARE)) for seed in (1, 2)]
        assert found[0].verdict is not None and found[0].verdict.passed and not found[0].verdict.robust
        assert evaluation.mistakes(STAGE, [WHOLE], found) == (Tally(1, 1), Tally(1, 1), [])
        assert evaluation.of_robustness([WHOLE], found) == 1
        robust = result("mistakes/whole", 3, verdict(row("total"), row("half")))
        caught, _, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [*found, robust])
        assert caught == Tally(0, 1) and shortfall.message == "whole is not caught: row half is passed (seed 3)"
        assert evaluation.of_robustness([WHOLE], [*found, mistaken("failed", "whole")]) == 0

    def test_one_that_is_not_caught_is_not_named_either(self) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken("blocked", "whole")])[:2] == (Tally(0, 1), Tally(0, 1))

    def test_one_whose_row_waits_is_caught_and_named_in_the_row_that_it_waits_for(self) -> None:
        named = replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake="whole"))
        found = result("mistakes/whole", 7, verdict(row("total", "failed", named), row("half", "blocked")))
        assert evaluation.mistakes(STAGE, [WHOLE], [found]) == (Tally(1, 1), Tally(1, 1), [])

    def test_one_that_belongs_to_an_unknown_row(self) -> None:
        _, _, (shortfall,) = evaluation.mistakes(
            STAGE, [replace(WHOLE, criterion="third")], [mistaken("failed", "whole")]
        )
        assert shortfall.message == "whole is not caught: row third is not there (seed 7)"

    def test_it_has_to_be_caught_for_every_seed_and_the_least_seed_that_does_not_is_told(self) -> None:
        results = [mistaken("blocked", seed=3), mistaken("passed", seed=2), mistaken("failed", "whole", seed=1)]
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], results)
        assert (caught, named) == (Tally(0, 1), Tally(0, 1)) and shortfall.message.endswith("is passed (seed 2)")

    def test_not_being_caught_is_told_rather_than_the_name(self) -> None:
        results = [mistaken("failed", "twice", seed=1), mistaken("passed", seed=2)]
        assert "is not caught" in evaluation.mistakes(STAGE, [WHOLE], results)[2][0].message

    def test_one_that_is_called_by_anothers_name(self) -> None:
        caught, named, (shortfall,) = evaluation.mistakes(
            STAGE, [WHOLE], [mistaken("failed", "whole", "twice", "mean")]
        )
        assert (caught, named) == (Tally(1, 1), Tally(0, 1))
        assert shortfall.message == "whole is called mean, twice (seed 7)"

    def test_one_that_another_explains_equally_on_every_test(self) -> None:
        results = [undecided(("whole", "twice", "mean"), ("twice", "whole"), ())]
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], results)
        assert (caught, named) == (Tally(1, 1), Tally(0, 1))
        assert shortfall.message == "whole is ambiguous: twice explains the same answers (seed 7)"

    def test_one_that_another_explains_equally_where_an_edit_is_told(self) -> None:
        found = evaluation.mistakes(STAGE, [WHOLE], [undecided(("whole", "twice"), told=EDIT)])
        assert [each.message for each in found[2]] == [
            "whole is ambiguous: twice explains the same answers (seed 7)",
        ]

    @pytest.mark.parametrize("each", [(), (("whole", "twice"), ("whole", "mean")), (("twice", "mean"),)])
    def test_one_that_nothing_explains(self, each: tuple[tuple[str, ...], ...]) -> None:
        _, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [undecided(*each)])
        assert named == Tally(0, 1) and shortfall.message == "whole is caught but not named (seed 7)"

    @pytest.mark.parametrize("names", [(), ("whole",)], ids=["alone", "beside its name"])
    def test_one_that_is_told_as_an_edit(self, names: tuple[str, ...]) -> None:
        failures = [replace(FAILURE, diagnosis=each) for each in (EDIT, *(DIAGNOSIS for _ in names))]
        found = result("mistakes/whole", 7, verdict(row("half", "failed", *failures)))
        _, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [found])
        assert (
            named == Tally(0, 1) and shortfall.message == "whole is told as an edit: term-missing in line 24 (seed 7)"
        )

    def test_one_that_has_the_name_of_what_an_answer_shows_by_itself(self) -> None:
        known = replace(WHOLE, id=NOTHING)
        for declared in True, False:
            told = replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake=NOTHING, declared=declared))
            found = result(f"mistakes/{NOTHING}", 7, verdict(row("half", "failed", told)))
            assert evaluation.mistakes(STAGE, [known], [found])[1] == Tally(int(declared), 1)

    @pytest.mark.parametrize(
        ("found", "said"),
        [
            (verdict(faults=("the tests\nare broken",)), "the tests are broken"),
            (verdict(row("half", "grader_fault")), "half grader_fault"),
            (verdict(problem=Problem("import-error", "no module", 1, None)), "no module"),
        ],
        ids=["fault", "row", "problem"],
    )
    def test_one_that_cannot_be_graded_is_not_caught(self, found: Verdict, said: str) -> None:
        caught, _, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [result("mistakes/whole", 7, found)])
        assert caught == Tally(0, 1) and shortfall.message == f"whole cannot be graded: {said} (seed 7)"

    def test_one_without_a_result_is_not_counted_as_caught(self) -> None:
        other = replace(WHOLE, id="twice")
        assert evaluation.mistakes(STAGE, [WHOLE, other], [mistaken("failed", "whole")]) == (
            Tally(1, 2),
            Tally(1, 2),
            [],
        )


def hunted(number: int, status: Status | None) -> Result:
    outcomes = () if status is None else (Outcome("t", "half", True, status, "why\nthis"),)
    return Result(Case(f"mutants/{number}", "s90", "…", 7, first_failure=()), None, outcomes)


class TestMutation:
    MADE = tuple(replace(MUTANT, line=number, now=f"return {number}") for number in range(100))
    ENTRY = Equivalent("half", MUTANT.was, "return 3", "no test can see it")

    def results(self, *alive: int) -> list[Result]:
        return [hunted(number, None if number in alive else "failed") for number in reversed(range(100))]

    def test_all_are_caught(self) -> None:
        found, shortfalls = evaluation.mutation(STAGE, self.MADE, (), self.results())
        assert (found, shortfalls) == (Mutation(100, 0, ()), []) and (found.killed, found.rate) == (100, 1.0)

    def test_survivors_are_kept_and_few_enough_are_no_shortfall(self) -> None:
        found, shortfalls = evaluation.mutation(STAGE, self.MADE, (), self.results(3, 7))
        assert found.survivors == (self.MADE[3], self.MADE[7]) and (found.killed, found.rate) == (98, 0.98)
        assert shortfalls == []

    def test_too_many_survivors_are_one(self) -> None:
        found, (shortfall,) = evaluation.mutation(STAGE, self.MADE, (), self.results(3, 7, 9))
        assert found.killed == 97 and shortfall.place == f"{HIDDEN}/solution.py"
        assert shortfall.message == "97 of 100 mutants are caught, 97.0%"

    def test_what_is_accepted_counts_neither_way(self) -> None:
        found, shortfalls = evaluation.mutation(STAGE, self.MADE, (self.ENTRY,), self.results(3, 7))
        assert (found, shortfalls) == (Mutation(100, 1, (self.MADE[7],)), [])
        assert (found.killed, found.rate) == (98, 98 / 99)

    def test_an_entry_whose_mutant_is_caught_has_to_go(self) -> None:
        found, (shortfall,) = evaluation.mutation(STAGE, self.MADE, (self.ENTRY,), self.results())
        assert found == Mutation(100, 0, ()) and shortfall.place == f"{HIDDEN}/equivalent.toml"
        assert shortfall.message == (
            "half: `return total(x) / 2` -> `return 3` is accepted as equivalent and does not survive"
        )

    def test_a_fault_of_the_grader_is_told_with_the_mutants_line(self) -> None:
        results = [*self.results()[:-1], hunted(0, "grader_fault")]
        made = (replace(MUTANT, line=24), *self.MADE[1:])
        found, (shortfall,) = evaluation.mutation(STAGE, made, (), results)
        assert found.survivors == () and shortfall.place == f"{HIDDEN}/solution.py:24"
        assert shortfall.message == "the grader failed on a mutant: why this"

    def test_one_without_a_result_is_a_survivor(self) -> None:
        assert evaluation.mutation(STAGE, (MUTANT,), (), [])[0].survivors == (MUTANT,)

    def test_where_all_are_equivalent_nothing_is_asked_for(self) -> None:
        entry = replace(self.ENTRY, now=MUTANT.now)
        found, shortfalls = evaluation.mutation(STAGE, (MUTANT,), (entry,), [hunted(0, None)])
        assert (found, found.rate, shortfalls) == (Mutation(1, 1, ()), 1.0, [])
