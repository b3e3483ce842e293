"""What gradings prove: right modules, mistakes, mutants, and equivalents that are accepted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring import evaluation
from grader.authoring.cases import CaseResult, ProofCase
from grader.authoring.claims import Shortfall
from grader.authoring.evaluation import Equivalent, Mutation, Ratio, load_equivalents, unused
from grader.course.answers import Mistake
from grader.course.mutants import Mutant
from grader.course.stage import Criterion, Stage
from grader.criterion import KindCount
from grader.diagnosis.obvious import NOTHING
from grader.errors import CourseError
from grader.outcome import Diagnosis, Outcome, Status
from grader.submission.parsing import Problem
from grader.verdict import CriterionResult, Failure, Run, Verdict
from tests.conftest import SmallCourse
from tests.support.good_stage import write_stage

HINTS = ("a", "b", "c")


STAGE = Stage(
    "s90",
    Path("stages/s90_small"),
    "Sums",
    "small.py",
    (),
    (Criterion("total", "total", ("total",), (), HINTS), Criterion("half", "half", ("half",), (), HINTS)),
)


HIDDEN = "hidden/s90_small"


RUN = Run(7, "process", None, 0.1, "0.1.0", "0" * 64, "small.py")


DIAGNOSIS = Diagnosis("whole", "half", "It is not halved.", "Halve it.", declared=True)


FAILURE = Failure("test_small.py::test_half", False, "failed", "half(x)", "expected 1.0,\n  got 2.0", DIAGNOSIS, None)


WHOLE = Mistake("whole", "half", "half", "It is not halved.", "Halve it.", "…", 12)


MUTANT = Mutant("half", 24, "return total(x) / 2", "return total(x) / 3", "…")


def row(name: str, status: Status = "passed", *failures: Failure) -> CriterionResult:
    return CriterionResult(name, name, status, 0, 1, failures)


# The row above without one of its refusals: it passes, and is not robust.
BARE = CriterionResult(
    "half", "half", "passed", 1, 2, (replace(FAILURE, kind="refusals"),),
    kinds=(KindCount("values", 1, 1), KindCount("refusals", 0, 1)),
)  # fmt: skip


def verdict(*rows: CriterionResult, problem: Problem | None = None, faults: tuple[str, ...] = ()) -> Verdict:
    rows = rows or (row("total"), row("half"))
    passed = problem is None and not faults and all(each.status == "passed" for each in rows)
    return Verdict("s90", "Sums", passed, rows, RUN, problem, faults)


def result(name: str, seed: int, found: Verdict, *outcomes: Outcome) -> CaseResult:
    return CaseResult(ProofCase(name, "s90", "…", seed), found, outcomes)


def mistaken(status: Status = "failed", *names: str | None, seed: int = 7) -> CaseResult:
    """Return the result of the mistake above: its row's status, and what each failure is called."""
    failures = [replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake=name) if name else None) for name in names]
    return result("mistakes/whole", seed, verdict(row("half", status, *failures)))


class TestRight:
    def test_what_passes_for_every_seed_is_counted(self) -> None:
        results = [result("reference", seed, verdict()) for seed in (1, 2, 3)]
        assert evaluation.right(STAGE, results) == (Ratio(3, 3), [])

    def test_nothing_is_nothing_of_nothing(self) -> None:
        assert evaluation.right(STAGE, []) == (Ratio(0, 0), [])

    def test_one_that_fails_is_named_with_its_seed_its_test_and_how_to_see_it(self) -> None:
        wrong = verdict(row("total"), row("half", "failed", FAILURE))
        tally, shortfalls = evaluation.right(
            STAGE, [result("alternatives/loops", 2, wrong), result("alternatives/sums", 2, verdict())]
        )
        place = f"{HIDDEN}/alternatives/loops.py"
        assert tally == Ratio(1, 2)
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
        assert tally == Ratio(1, 4)
        assert "does not pass for seed 4 and 2 more: " in shortfall.message and "--seed 4`" in shortfall.fix
        assert "does not pass for seed 6 and 1 more: " in evaluation.right(STAGE, results[::2])[1][0].message

    def test_one_that_passes_without_all_of_its_robustness_is_not_right(self) -> None:
        tally, (shortfall,) = evaluation.right(STAGE, [result("alternatives/loops", 2, verdict(row("total"), BARE))])
        assert tally == Ratio(0, 1) and "half is not robust: test_small.py::test_half" in shortfall.message

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
        assert evaluation.criteria(STAGE, [result("reference", 1, verdict(), *self.OUTCOMES)], self.FRESH) == []

    @pytest.mark.parametrize(("left_out", "kind"), [(2, "public"), (3, "hidden")])
    def test_a_row_without_one_is_named(self, left_out: int, kind: str) -> None:
        outcomes = [outcome for number, outcome in enumerate(self.OUTCOMES) if number != left_out]
        (shortfall,) = evaluation.criteria(STAGE, [result("reference", 1, verdict(), *outcomes)], self.FRESH)
        assert shortfall.message == f"criterion half has no {kind} test"
        assert shortfall.place == ("stages/s90_small/tests/" if kind == "public" else f"{HIDDEN}/")

    def test_a_hidden_test_of_refusals_alone_is_none(self) -> None:
        outcomes = [replace(each, kind="refusals") if each == self.OUTCOMES[3] else each for each in self.OUTCOMES]
        (shortfall,) = evaluation.criteria(STAGE, [result("reference", 1, verdict(), *outcomes)], self.FRESH)
        assert shortfall.message == "criterion half has no hidden test"
        alone = [replace(each, kind="refusals") if each.criterion == "half" else each for each in self.OUTCOMES]
        assert evaluation.criteria(STAGE, [result("reference", 1, verdict(), *alone)], self.FRESH) == []

    def test_tests_of_any_seed_count(self) -> None:
        split = [result("reference", seed, verdict(), *self.OUTCOMES[seed::2]) for seed in (0, 1)]
        assert evaluation.criteria(STAGE, split, self.FRESH) == []

    def test_a_row_whose_hidden_tests_have_fixed_inputs_is_named_with_their_file(self) -> None:
        fresh = {"test_total.py::test_total_True", "test_half.py::test_half_False", "test_half.py::test_of_total"}
        (shortfall,) = evaluation.criteria(STAGE, [result("reference", 1, verdict(), *self.OUTCOMES)], fresh)
        assert shortfall.place == f"{HIDDEN}/test_half.py"
        said = "criterion half has hidden tests of fixed inputs only: their answers can be hard-coded"
        assert shortfall.message == said
        assert shortfall.fix == "add one that draws its inputs from the fixture `rng`"

    def test_one_fresh_test_of_a_row_is_enough_and_its_parameters_do_not_matter(self) -> None:
        more = [Outcome(f"test_half.py::test_any[{size}-a::b]", "half", True, "passed") for size in (1, 2)]
        results = [result("reference", 1, verdict(), *self.OUTCOMES, *more)]
        assert evaluation.criteria(STAGE, results, {"test_total.py::test_total_True", "test_half.py::test_any"}) == []


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
        assert evaluation.stub(STAGE, [result("stub", 1, found)]) == (Ratio(2, 2), [])

    @pytest.mark.parametrize("status", ["passed", "failed", "blocked", "grader_fault"])
    def test_a_row_that_is_anything_else(self, status: Status) -> None:
        found = verdict(row("total", "not_started"), row("half", status))
        tally, (shortfall,) = evaluation.stub(STAGE, [result("stub", 1, found)])
        assert tally == Ratio(1, 2) and shortfall.place == "stages/s90_small/small.py"
        assert shortfall.message == f"the stub's criterion half is {status}, expected not_started"


EDIT = Diagnosis("term-missing-0a1b2c3d", "half", "half, line 24: A term is missing.", "Halve it.", False, "half", 24)


def undecided(*each: tuple[str, ...], told: Diagnosis | None = None) -> CaseResult:
    """Return the result of a mistake that is not named, and the known mistakes that explain each failing test alike."""
    failures = [replace(FAILURE, diagnosis=told, undecided=names) for names in each]
    return result("mistakes/whole", 7, verdict(row("half", "failed", *failures)))


class TestMistakes:
    def test_one_that_is_caught_and_named(self) -> None:
        found = evaluation.mistakes(STAGE, [WHOLE], [mistaken("failed", "whole", "whole")])
        assert found == (Ratio(1, 1), Ratio(1, 1), [])

    @pytest.mark.parametrize("status", ["failed", "crashed", "timed_out", "over_limit"])
    def test_each_way_to_fail_catches_it(self, status: Status) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken(status, "whole")])[0] == Ratio(1, 1)

    def test_a_failure_without_a_name_beside_one_with_it_is_enough(self) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken("failed", "whole", None)])[1] == Ratio(1, 1)

    @pytest.mark.parametrize("status", ["passed", "blocked", "not_started"])
    def test_one_that_its_row_does_not_catch(self, status: Status) -> None:
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [mistaken(status)])
        assert (caught, named) == (Ratio(0, 1), Ratio(0, 1))
        assert shortfall == Shortfall(
            "s90",
            f"{HIDDEN}/mistakes.py:12",
            f"whole is not caught: criterion half is {status} (seed 7)",
            "sharpen a test of half",
        )

    def test_one_of_refusals_is_caught_by_the_robustness_that_it_costs(self) -> None:
        found = [result("mistakes/whole", seed, verdict(row("total"), BARE)) for seed in (1, 2)]
        assert found[0].verdict is not None and found[0].verdict.passed and not found[0].verdict.robust
        assert evaluation.mistakes(STAGE, [WHOLE], found) == (Ratio(1, 1), Ratio(1, 1), [])
        assert evaluation.of_robustness([WHOLE], found) == 1
        robust = result("mistakes/whole", 3, verdict(row("total"), row("half")))
        caught, _, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [*found, robust])
        assert caught == Ratio(0, 1) and shortfall.message == "whole is not caught: criterion half is passed (seed 3)"
        assert evaluation.of_robustness([WHOLE], [*found, mistaken("failed", "whole")]) == 0

    def test_one_that_is_not_caught_is_not_named_either(self) -> None:
        assert evaluation.mistakes(STAGE, [WHOLE], [mistaken("blocked", "whole")])[:2] == (Ratio(0, 1), Ratio(0, 1))

    def test_one_whose_row_waits_is_caught_and_named_in_the_row_that_it_waits_for(self) -> None:
        named = replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake="whole"))
        found = result("mistakes/whole", 7, verdict(row("total", "failed", named), row("half", "blocked")))
        assert evaluation.mistakes(STAGE, [WHOLE], [found]) == (Ratio(1, 1), Ratio(1, 1), [])

    def test_one_that_belongs_to_an_unknown_row(self) -> None:
        _, _, (shortfall,) = evaluation.mistakes(
            STAGE, [replace(WHOLE, criterion="third")], [mistaken("failed", "whole")]
        )
        assert shortfall.message == "whole is not caught: criterion third is not there (seed 7)"

    def test_it_has_to_be_caught_for_every_seed_and_the_least_seed_that_does_not_is_told(self) -> None:
        results = [mistaken("blocked", seed=3), mistaken("passed", seed=2), mistaken("failed", "whole", seed=1)]
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], results)
        assert (caught, named) == (Ratio(0, 1), Ratio(0, 1)) and shortfall.message.endswith("is passed (seed 2)")

    def test_not_being_caught_is_told_rather_than_the_name(self) -> None:
        results = [mistaken("failed", "twice", seed=1), mistaken("passed", seed=2)]
        assert "is not caught" in evaluation.mistakes(STAGE, [WHOLE], results)[2][0].message

    def test_one_that_is_called_by_anothers_name(self) -> None:
        caught, named, (shortfall,) = evaluation.mistakes(
            STAGE, [WHOLE], [mistaken("failed", "whole", "twice", "mean")]
        )
        assert (caught, named) == (Ratio(1, 1), Ratio(0, 1))
        assert shortfall.message == "whole is called mean, twice (seed 7)"

    def test_one_that_another_explains_equally_on_every_test(self) -> None:
        results = [undecided(("whole", "twice", "mean"), ("twice", "whole"), ())]
        caught, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], results)
        assert (caught, named) == (Ratio(1, 1), Ratio(0, 1))
        assert shortfall.message == "whole is ambiguous: twice explains the same answers (seed 7)"

    def test_one_that_another_explains_equally_where_an_edit_is_told(self) -> None:
        found = evaluation.mistakes(STAGE, [WHOLE], [undecided(("whole", "twice"), told=EDIT)])
        assert [each.message for each in found[2]] == [
            "whole is ambiguous: twice explains the same answers (seed 7)",
        ]

    @pytest.mark.parametrize("each", [(), (("whole", "twice"), ("whole", "mean")), (("twice", "mean"),)])
    def test_one_that_nothing_explains(self, each: tuple[tuple[str, ...], ...]) -> None:
        _, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [undecided(*each)])
        assert named == Ratio(0, 1) and shortfall.message == "whole is caught but not named (seed 7)"

    @pytest.mark.parametrize("names", [(), ("whole",)], ids=["alone", "beside its name"])
    def test_one_that_is_told_as_an_edit(self, names: tuple[str, ...]) -> None:
        failures = [replace(FAILURE, diagnosis=each) for each in (EDIT, *(DIAGNOSIS for _ in names))]
        found = result("mistakes/whole", 7, verdict(row("half", "failed", *failures)))
        _, named, (shortfall,) = evaluation.mistakes(STAGE, [WHOLE], [found])
        assert (
            named == Ratio(0, 1) and shortfall.message == "whole is told as an edit: term-missing in line 24 (seed 7)"
        )

    def test_one_that_has_the_name_of_what_an_answer_shows_by_itself(self) -> None:
        known = replace(WHOLE, id=NOTHING)
        for declared in True, False:
            told = replace(FAILURE, diagnosis=replace(DIAGNOSIS, mistake=NOTHING, declared=declared))
            found = result(f"mistakes/{NOTHING}", 7, verdict(row("half", "failed", told)))
            assert evaluation.mistakes(STAGE, [known], [found])[1] == Ratio(int(declared), 1)

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
        assert caught == Ratio(0, 1) and shortfall.message == f"whole cannot be graded: {said} (seed 7)"

    def test_one_without_a_result_is_not_counted_as_caught(self) -> None:
        other = replace(WHOLE, id="twice")
        assert evaluation.mistakes(STAGE, [WHOLE, other], [mistaken("failed", "whole")]) == (
            Ratio(1, 2),
            Ratio(1, 2),
            [],
        )


def hunted(number: int, status: Status | None) -> CaseResult:
    outcomes = () if status is None else (Outcome("t", "half", True, status, "why\nthis"),)
    return CaseResult(ProofCase(f"mutants/{number}", "s90", "…", 7, first_failure=()), None, outcomes)


class TestMutation:
    MADE = tuple(replace(MUTANT, line=number, now=f"return {number}") for number in range(100))
    ENTRY = Equivalent("half", MUTANT.was, "return 3", "no test can see it")

    def results(self, *alive: int) -> list[CaseResult]:
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


ENTRY = """\
[[mutant]]
function = "half"
was = "return total(x) / 2"
now = "return 2 / total(x)"
reason = "no total is anything but 2"
"""
HALF = Mutant("half", 24, "return total(x) / 2", "return 2 / total(x)", "…")
ACCEPTED = Equivalent("half", "return total(x) / 2", "return 2 / total(x)", "no total is anything but 2")


def load(course: SmallCourse, text: str | None) -> tuple[Equivalent, ...]:
    write_stage(course.stage_folder.parent, course.hidden.parent, course.hidden.name, {"hidden/equivalent.toml": text})
    return load_equivalents(course.stage)


def test_without_the_file_nothing_is_accepted(small_course: SmallCourse) -> None:
    assert load(small_course, None) == ()


def test_each_entry_is_read_in_its_order(small_course: SmallCourse) -> None:
    found = load(small_course, f"{ENTRY}\n{ENTRY.replace('half', 'total')}")
    assert found == (ACCEPTED, Equivalent("total", ACCEPTED.was, ACCEPTED.now, ACCEPTED.reason))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "mutant: is missing"),
        ("mutant = []", "mutant: is empty; expected at least one entry"),
        ("mutant = [1]", "mutant[0]: 1 is not a table"),
        (f'{ENTRY}because = "x"', "mutant[0].because: is not a key of this table"),
        (f"{ENTRY}[[mutants]]", "mutants: is not a key of this table; did you mean 'mutant'?"),
        (ENTRY.replace('reason = "no total is anything but 2"', ""), "mutant[0].reason: is missing"),
        (ENTRY.replace('"no total is anything but 2"', '" "'), "mutant[0].reason: ' ' is not a text that says"),
        (ENTRY.replace('"half"', "3"), "mutant[0].function: 3 is not a text"),
        (f"{ENTRY}\n[[mutant", "Expected ']]'"),
    ],
    ids=["nothing", "no entry", "no table", "other key", "other table", "no reason", "empty", "number", "no TOML"],
)
def test_a_mistake_is_named_with_its_place(small_course: SmallCourse, text: str, said: str) -> None:
    with pytest.raises(CourseError, match=re.escape(said)) as caught:
        load(small_course, text)
    assert caught.value.message.startswith("s90_small/equivalent.toml: ")


def test_every_mistake_of_the_file_is_named_at_once(small_course: SmallCourse) -> None:
    with pytest.raises(CourseError) as caught:
        load(small_course, "[[mutant]]\nwas = 1\n")
    places = [line.split(": ")[1] for line in caught.value.message.splitlines()]
    assert places == [f"mutant[0].{key}" for key in ("function", "was", "now", "reason")]


@pytest.mark.parametrize(
    ("mutant", "covered"),
    [
        (HALF, True),
        (Mutant("half", 99, HALF.was, HALF.now, "another line"), True),
        (Mutant("total", 24, HALF.was, HALF.now, "…"), False),
        (Mutant("half", 24, "return total(x) / 3", HALF.now, "…"), False),
        (Mutant("half", 24, HALF.was, "return total(x)", "…"), False),
    ],
    ids=["the same", "moved", "another function", "another statement", "another change"],
)
def test_an_entry_covers_a_mutant_by_function_and_statement(mutant: Mutant, covered: bool) -> None:
    assert ACCEPTED.covers(mutant) is covered


def test_an_entry_that_covers_no_survivor_is_unused() -> None:
    stale = Equivalent("total", "return 1", "return 2", "it was so once")
    assert unused([ACCEPTED, stale], [HALF, HALF]) == [stale]
    assert unused([ACCEPTED], iter([])) == [ACCEPTED]
    assert unused([], [HALF]) == []
