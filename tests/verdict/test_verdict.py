"""A stage and outcomes make a verdict: a table of cases, no process and no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Criterion, Stage
from grader.criterion import PASSES, ROBUSTNESS, KindCount, Passes, counts_of, redecided
from grader.outcome import KINDS, Diagnosis, Kind, Outcome, Status, Where, the_one
from grader.submission.parsing import Problem
from grader.verdict import ABRUPT, GRAVITY, SOURCE, CriterionResult, Failure, Verdict, decide
from tests.verdict.decided import (
    EXPECTED,
    FORBIDDEN,
    HINTS,
    LEADS,
    ROWS,
    RUN,
    STAGE,
    A,
    B,
    C,
    row,
    test_of,
    verdict,
)


def test_all_passed() -> None:
    found = verdict()
    assert found.passed and not found.grader_fault and found.problem is None
    assert [(each.id, each.status, each.tests_passed, each.tests_total) for each in found.criteria] == [
        ("scores", "passed", 2, 2), ("weights", "passed", 2, 2), ("attention", "passed", 2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("status", GRAVITY)
@pytest.mark.parametrize("hidden", [True, False])
def test_one_test_that_did_not_pass_keeps_its_row_from_passing(status: Status, hidden: bool) -> None:
    test, _, _ = test_of("weights", hidden)
    found = verdict({test: status})
    assert not found.passed and row(found, "weights").status == status
    assert (row(found, "weights").tests_passed, row(found, "weights").tests_total) == (1, 2)
    assert [failure.test for failure in row(found, "weights").failures] == [test]
    assert row(found, "scores").status == "passed"
    assert found.grader_fault == (status == "grader_fault")


@pytest.mark.parametrize(("worse", "better"), [(a, b) for i, a in enumerate(GRAVITY) for b in GRAVITY[i + 1 :]])
def test_the_gravest_outcome_is_the_rows(worse: Status, better: Status) -> None:
    found = verdict({test_of("scores", False)[0]: better, test_of("scores", True)[0]: worse})
    assert row(found, "scores").status == worse


class TestNothingPassesByDefault:
    def test_no_tests_at_all(self) -> None:
        found = decide(STAGE, [], [], RUN)
        assert not found.passed and found.grader_fault
        assert {each.status for each in found.criteria} == {"grader_fault"}

    def test_a_test_that_was_not_finished(self) -> None:
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED[:-1]]
        found = decide(STAGE, EXPECTED, outcomes, RUN)
        assert row(found, "attention").status == "grader_fault" and not found.passed
        assert row(found, "attention").failures[0].message == "this test did not finish"

    def test_only_public_tests(self) -> None:
        expected = [entry for entry in EXPECTED if not entry[2]]
        found = decide(STAGE, expected, [Outcome(test, name, hidden, "passed") for test, name, hidden in expected], RUN)
        assert not found.passed and {each.status for each in found.criteria} == {"grader_fault"}

    def test_outcomes_that_nobody_expected_count_for_nothing(self) -> None:
        found = decide(STAGE, [], [Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED], RUN)
        assert not found.passed

    def test_a_stage_without_rows(self) -> None:
        assert not decide(Stage("s90", Path("s90_x"), "t", "m.py", (), ()), [], [], RUN).passed

    def test_a_fault_of_the_course(self) -> None:
        found = verdict(faults=("test_x.py cannot be collected",))
        assert not found.passed and found.grader_fault

    def test_a_problem_of_the_module(self) -> None:
        found = verdict(problem=Problem("syntax", "a colon is missing", 3, None))
        assert not found.passed and not found.grader_fault
        assert {(each.status, each.waits_for, each.failures) for each in found.criteria} == {
            ("blocked", ("the module",), ())
        }

    def test_a_problem_before_any_test_was_collected(self) -> None:
        found = decide(STAGE, [], [], RUN, problem=Problem("syntax", "a colon is missing", 3, None))
        assert not found.passed and not found.grader_fault and len(found.criteria) == 3


def test_one_row_only() -> None:
    found = verdict({test_of("scores")[0]: "failed"}, only="weights")
    assert [each.id for each in found.criteria] == ["weights"] and found.passed


def test_a_failure_carries_what_a_learner_is_told() -> None:
    test, name, hidden = EXPECTED[1]
    told = Outcome(
        test, name, hidden, "failed", "too large", "scores(x)", Where("small.py", 3), None, (A,), ("printed: x",)
    )
    others = [Outcome(t, n, h, "passed") for t, n, h in EXPECTED if t != test]
    (failure,) = row(decide(STAGE, EXPECTED, [told, *others], RUN), "scores").failures
    assert (failure.call, failure.message, failure.where, failure.diagnosis) == (
        "scores(x)",
        "too large",
        Where("small.py", 3),
        A,
    )
    assert failure.hidden and failure.notes == ("printed: x",)


@pytest.mark.parametrize(
    ("statuses", "untouched"),
    [
        (("not_started", "blocked"), True),
        (("not_started", "failed"), False),
        (("passed", "not_started"), False),
        ((), False),
    ],
)
def test_a_module_of_which_nothing_is_written_is_untouched(statuses: tuple[Status, ...], untouched: bool) -> None:
    rows = tuple(CriterionResult(status, status, status, 0, 1) for status in statuses)
    verdict = Verdict("s90", "Small things", False, rows, RUN)
    assert verdict.is_untouched is untouched
    assert not replace(verdict, problem=Problem("syntax", "invalid", 1, None)).is_untouched  # somebody wrote that


class TestWaiting:
    def test_a_row_that_fails_behind_another_waits_for_it(self) -> None:
        found = verdict({test_of("scores")[0]: "failed", test_of("attention")[0]: "failed"}, reaches=LEADS)
        assert (row(found, "attention").status, row(found, "attention").waits_for) == ("blocked", ("scores",))

    @pytest.mark.parametrize(
        ("about", "told"), [("scores", True), ("attention", False)], ids=["what it waits for", "itself"]
    )
    def test_a_row_that_waits_blames_what_fails_by_itself_alone(self, about: str, told: bool) -> None:
        cause = replace(A, criterion=about)
        tests = [test_of("scores"), test_of("attention")]
        outcomes = [
            Outcome(test, name, hidden, "failed", explains=(cause,)) if (test, name, hidden) in tests
            else Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED
        ]  # fmt: skip
        found = decide(STAGE, EXPECTED, outcomes, RUN, reaches=LEADS)
        assert row(found, "attention").status == "blocked"
        assert [each.diagnosis for each in row(found, "attention").failures] == [cause if told else None]
        assert [each.diagnosis for each in row(found, "scores").failures] == [cause]

    def test_a_row_that_waits_is_told_a_cause_in_a_line_of_its_own(self) -> None:
        cause = replace(A, criterion="attention", function="attention", line=7)
        outcomes = [
            Outcome(test, name, hidden, "failed", explains=(cause,) if name == "attention" else ())
            if (test, name, hidden) in (test_of("scores"), test_of("attention"))
            else Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED
        ]  # fmt: skip
        found = row(decide(STAGE, EXPECTED, outcomes, RUN, reaches=LEADS), "attention")
        assert found.status == "blocked" and [each.diagnosis for each in found.failures] == [cause]

    def test_a_row_that_passes_behind_another_passes(self) -> None:
        assert row(verdict({test_of("scores")[0]: "failed"}), "attention").status == "passed"

    @pytest.mark.parametrize("status", ["crashed", "timed_out", "over_limit", "grader_fault", "not_started"])
    def test_what_is_graver_than_failing_is_told_as_it_is(self, status: Status) -> None:
        found = verdict({test_of("scores")[0]: "failed", test_of("attention")[0]: status})
        assert row(found, "attention").status == status and row(found, "attention").waits_for == ()

    def test_needs_of_needs(self) -> None:
        rows = (*ROWS, Criterion("block", "uses attention", ("block",), ("attention",), HINTS))
        stage = Stage("s90", Path("s90_small"), "t", "m.py", (), rows)
        expected = [(f"t_{each.id}", each.id, True) for each in rows]
        outcomes = [
            Outcome(test, name, True, "passed" if name == "weights" else "failed") for test, name, _ in expected
        ]
        leads = {**LEADS, "block": frozenset({"attention", "scores", "weights"})}
        assert row(decide(stage, expected, outcomes, RUN, reaches=leads), "block").waits_for == ("attention", "scores")

    def test_a_function_that_was_called_in_vain_is_named(self) -> None:
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in EXPECTED[:-1]]
        test, name, hidden = EXPECTED[-1]
        outcomes.append(Outcome(test, name, hidden, "blocked", waits_on="helper"))
        assert row(decide(STAGE, EXPECTED, outcomes, RUN), "attention").waits_for == ("helper",)


class TestAbruptEnds:
    """Of a row that hangs, crashes or takes too much: is it to blame, or a function that it calls?"""

    LEADS = {"attention": frozenset({"scores"})}  # noqa: RUF012

    def ended(self, statuses: dict[str, Status], leads: dict[str, frozenset[str]]) -> dict[str, tuple[str, ...]]:
        tests = {test_of(name, hidden)[0]: status for name, status in statuses.items() for hidden in (True, False)}
        found = verdict(tests, reaches=leads)
        return {each.id: (each.status, *each.waits_for) for each in found.criteria}

    @pytest.mark.parametrize("status", ABRUPT)
    def test_a_row_that_calls_what_ended_alike_waits_for_it(self, status: Status) -> None:
        found = self.ended({"scores": status, "attention": status}, self.LEADS)
        assert found == {"scores": (status,), "weights": ("passed",), "attention": ("blocked", "scores")}

    @pytest.mark.parametrize(
        ("statuses", "leads"),
        [
            ({"scores": "timed_out", "attention": "timed_out"}, {}),
            ({"scores": "timed_out", "attention": "timed_out"}, {"attention": frozenset({"weights"})}),
            ({"scores": "timed_out", "attention": "crashed"}, LEADS),
            ({"attention": "timed_out"}, LEADS),
            ({"scores": "failed", "attention": "timed_out"}, LEADS),
        ],
    )
    def test_what_has_no_such_cause_is_told_as_it_ended(
        self, statuses: dict[str, Status], leads: dict[str, frozenset[str]]
    ) -> None:
        found = self.ended(statuses, leads)
        assert {name: found[name][0] for name in statuses} == statuses

    def test_of_two_that_call_each_other_neither_is_excused(self) -> None:
        both: dict[str, Status] = {"scores": "timed_out", "attention": "timed_out"}
        found = self.ended(both, {**self.LEADS, "scores": frozenset({"attention"})})
        assert (found["scores"], found["attention"]) == (("timed_out",), ("timed_out",))

    def test_all_wait_for_the_first_of_a_chain(self) -> None:
        leads = {"weights": frozenset({"scores"}), "attention": frozenset({"scores", "weights"})}
        found = self.ended(dict.fromkeys(("scores", "weights", "attention"), "crashed"), leads)
        assert found == {"scores": ("crashed",), "weights": ("blocked", "scores"), "attention": ("blocked", "scores")}


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


class TestPublicOnly:
    """Where the hidden tests are sealed, and their key is somewhere else."""

    def decided(self, status: Status = "passed", hidden: bool = False, **more: object) -> Verdict:
        expected = [test_of(each.id, hidden=False) for each in ROWS]
        outcomes = [Outcome(test, row, False, status if row == "weights" else "passed") for test, row, _ in expected]
        return decide(STAGE, expected, outcomes, replace(RUN, public_only=not hidden), **more)  # type: ignore[arg-type]

    def test_public_tests_that_pass_are_no_pass(self) -> None:
        found = self.decided()
        assert [each.status for each in found.criteria] == ["passed"] * 3
        assert found.public_passed and not found.passed and not found.grader_fault

    @pytest.mark.parametrize("status", GRAVITY)
    def test_one_that_does_not_pass_is_told(self, status: Status) -> None:
        found = self.decided(status)
        assert not found.public_passed and row(found, "weights").status == status

    def test_a_problem_or_a_fault_is_no_pass_of_public_tests(self) -> None:
        assert not self.decided(problem=Problem("syntax", "line 1", 1, None)).public_passed
        assert not self.decided(faults=("x",)).public_passed

    def test_a_row_without_a_public_test_is_a_fault(self) -> None:
        found = decide(STAGE, [], [], replace(RUN, public_only=True))
        assert found.grader_fault and not found.public_passed

    def test_without_hidden_tests_nothing_passes_where_they_are_not_sealed(self) -> None:
        found = self.decided(hidden=True)
        assert found.grader_fault and not found.passed and not found.public_passed

    def test_a_pass_of_all_tests_is_not_called_one_of_public_tests(self) -> None:
        assert verdict().passed and not verdict().public_passed


class TestRefused:
    """Rows whose functions reach what the stage forbids."""

    def test_it_fails_with_the_problem_whatever_its_tests_found(self) -> None:
        found = verdict(refused={"weights": FORBIDDEN})
        assert not found.passed and found.problem is None and not found.grader_fault
        message = "line 3: @ is not allowed\nWrite it yourself."
        failure = Failure(SOURCE, False, "failed", "", message, None, Where("small.py", 3))
        assert row(found, "weights") == CriterionResult("weights", "gives weights", "failed", 0, 2, (failure,))
        assert (row(found, "scores").status, row(found, "attention").status) == ("passed", "passed")

    def test_a_row_that_fails_behind_it_waits_for_it(self) -> None:
        found = verdict({test_of("attention")[0]: "failed"}, refused={"weights": FORBIDDEN}, reaches=LEADS)
        assert (row(found, "attention").status, row(found, "attention").waits_for) == ("blocked", ("weights",))

    @pytest.mark.parametrize("status", GRAVITY)
    def test_it_fails_whatever_became_of_its_tests(self, status: Status) -> None:
        found = verdict({test_of("weights")[0]: status}, refused={"weights": FORBIDDEN})
        assert row(found, "weights").status == "failed" and not found.grader_fault

    def test_a_problem_of_the_whole_module_comes_first(self) -> None:
        found = verdict(problem=Problem("missing", "no function", None, None), refused={"weights": FORBIDDEN})
        assert {each.status for each in found.criteria} == {"blocked"}

    def test_another_row_that_alone_is_asked_for_is_not_concerned(self) -> None:
        assert verdict(only="scores", refused={"weights": FORBIDDEN}).passed
        assert not verdict(only="weights", refused={"weights": FORBIDDEN}).passed

    def test_public_tests_alone_do_not_pass_it(self) -> None:
        run = replace(RUN, public_only=True)
        expected = [entry for entry in EXPECTED if not entry[2]]
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in expected]
        assert decide(STAGE, expected, outcomes, run).public_passed
        assert not decide(STAGE, expected, outcomes, run, refused={"weights": FORBIDDEN}).public_passed


def attention(
    *outcomes: Outcome, reaches: dict[str, frozenset[str]] | None = None, scores: Status = "failed"
) -> CriterionResult:
    """The row that needs scores, where scores are as said; outcomes are those of its own tests."""
    others = [("public::scores", "scores", False), ("hidden::scores", "scores", True)]
    others += [("hidden::weights", "weights", True)]
    statuses: dict[str, Status] = {"scores": scores, "weights": "passed"}
    fixed = [Outcome(test, name, hidden, statuses[name], kind="values") for test, name, hidden in others]
    expected = [*others, *((each.test, each.criterion, each.hidden) for each in outcomes)]
    return row(decide(STAGE, expected, [*fixed, *outcomes], RUN, reaches=reaches or LEADS), "attention")


def failed(*called: str, number: int = 1, status: Status = "failed") -> Outcome:
    return Outcome(f"hidden::{number}", "attention", True, status, called=called)


def test_a_row_whose_function_never_leads_to_what_it_needs_shows_its_failure() -> None:
    found = attention(failed("attention"), reaches={"attention": frozenset({"weights"})})
    assert (found.status, found.waits_for, len(found.failures)) == ("failed", (), 1)


def test_one_that_leads_there_waits() -> None:
    found = attention(failed("attention"))
    assert (found.status, found.waits_for) == ("blocked", ("scores",))


def test_one_whose_test_calls_it_waits() -> None:
    found = attention(failed("scores", "attention"), reaches={"weights": frozenset({"scores"})})
    assert (found.status, found.waits_for) == ("blocked", ("scores",))


def test_one_test_that_failed_by_itself_is_enough_and_is_told_first() -> None:
    tests = failed("attention"), failed("Attention.forward", number=2), failed("attention", number=3)
    found = attention(*tests)
    assert found.status == "failed" and found.waits_for == ()
    assert [failure.test for failure in found.failures] == ["hidden::2", "hidden::1", "hidden::3"]


def test_an_object_that_was_made_stands_for_none_of_its_methods() -> None:
    leads = {"Attention": frozenset({"scores"})}
    assert attention(failed("Attention"), reaches=leads).status == "failed"
    assert attention(failed("Attention", "Attention.forward"), reaches=leads).waits_for == ("scores",)


def test_beside_a_function_that_was_called_in_vain_it_is_shown_as_well() -> None:
    vain = Outcome("hidden::2", "attention", True, "blocked", waits_on="scores")
    by_itself = attention(failed("Attention.forward"), vain, scores="not_started")
    assert by_itself.status == "failed" and by_itself.failures[0].test == "hidden::1"
    assert attention(vain, scores="not_started").waits_for == ("scores",)


def test_a_method_that_no_row_names_belongs_to_the_row_of_its_class() -> None:
    rows = (
        Criterion("forward", "goes forward", ("Layer",), (), HINTS),
        Criterion("backward", "goes back", ("Layer.backward", "Layer"), ("forward",), HINTS),
    )
    stage = replace(STAGE, criteria=rows)
    expected = [("hidden::forward", "forward", True), ("hidden::backward", "backward", True)]
    called = "Layer", "Layer.forward", "Layer.backward"
    outcomes = [Outcome(*expected[0], "failed"), Outcome(*expected[1], "failed", called=called)]
    assert row(decide(stage, expected, outcomes, RUN), "backward").waits_for == ("Layer",)
    outcomes[1] = replace(outcomes[1], called=("Layer", "Layer.backward"))
    assert row(decide(stage, expected, outcomes, RUN), "backward").status == "failed"
