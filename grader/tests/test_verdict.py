"""A stage and outcomes make a verdict: a table of cases, no process and no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Criterion, Stage
from grader.outcome import Diagnosis, Outcome, Status, Where, the_one
from grader.submission.source import Problem
from grader.verdict import (
    ABRUPT,
    GRAVITY,
    SOURCE,
    CriterionResult,
    Failure,
    KindCount,
    Run,
    Verdict,
    decide,
)

HINTS = ("a", "b", "c")
ROWS = (
    Criterion("scores", "gives scores", ("scores",), (), HINTS),
    Criterion("weights", "gives weights", ("weights",), (), HINTS),
    Criterion("attention", "puts them together", ("attention", "Attention"), ("scores", "weights"), HINTS),
)
STAGE = Stage("s90", Path("stages/s90_small"), "Small things", "small.py", (), ROWS)
RUN = Run(7, "process", None, 0.5, "0.1.0", "digest", "small.py")

A = Diagnosis("a", "scores", "mistake a", "fix a")
B = Diagnosis("b", "scores", "mistake b", "fix b")
C = Diagnosis("c", "scores", "mistake c", "fix c")


def test_of(row: str, hidden: bool = True, number: int = 1) -> tuple[str, str, bool]:
    return f"{'hidden' if hidden else 'public'}::test_{row}_{number}", row, hidden


test_of.__test__ = False  # type: ignore[attr-defined]
EXPECTED = [test_of(row.id, hidden) for row in ROWS for hidden in (False, True)]
LEADS = {"attention": frozenset({"scores", "weights"})}  # as far as a module's text tells


def verdict(statuses: dict[str, Status] | None = None, *, only: str | None = None, **more: object) -> Verdict:
    """Decide where every test passed but those named."""
    outcomes = [Outcome(test, row, hidden, (statuses or {}).get(test, "passed")) for test, row, hidden in EXPECTED]
    run = Run(**{**RUN.__dict__, "only": only})
    return decide(STAGE, EXPECTED, outcomes, run, **more)  # type: ignore[arg-type]


def row(found: Verdict, criterion: str) -> CriterionResult:
    return next(each for each in found.criteria if each.id == criterion)


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


class TestRefused:
    """Rows whose functions reach what the stage forbids."""

    PROBLEM = Problem("forbidden", "line 3: @ is not allowed", 3, "Write it yourself.")

    def test_it_fails_with_the_problem_whatever_its_tests_found(self) -> None:
        found = verdict(refused={"weights": self.PROBLEM})
        assert not found.passed and found.problem is None and not found.grader_fault
        message = "line 3: @ is not allowed\nWrite it yourself."
        failure = Failure(SOURCE, False, "failed", "", message, None, Where("small.py", 3))
        assert row(found, "weights") == CriterionResult("weights", "gives weights", "failed", 0, 2, (failure,))
        assert (row(found, "scores").status, row(found, "attention").status) == ("passed", "passed")

    def test_a_row_that_fails_behind_it_waits_for_it(self) -> None:
        found = verdict({test_of("attention")[0]: "failed"}, refused={"weights": self.PROBLEM}, reaches=LEADS)
        assert (row(found, "attention").status, row(found, "attention").waits_for) == ("blocked", ("weights",))

    @pytest.mark.parametrize("status", GRAVITY)
    def test_it_fails_whatever_became_of_its_tests(self, status: Status) -> None:
        found = verdict({test_of("weights")[0]: status}, refused={"weights": self.PROBLEM})
        assert row(found, "weights").status == "failed" and not found.grader_fault

    def test_a_problem_of_the_whole_module_comes_first(self) -> None:
        found = verdict(problem=Problem("missing", "no function", None, None), refused={"weights": self.PROBLEM})
        assert {each.status for each in found.criteria} == {"blocked"}

    def test_another_row_that_alone_is_asked_for_is_not_concerned(self) -> None:
        assert verdict(only="scores", refused={"weights": self.PROBLEM}).passed
        assert not verdict(only="weights", refused={"weights": self.PROBLEM}).passed

    def test_public_tests_alone_do_not_pass_it(self) -> None:
        run = replace(RUN, public_only=True)
        expected = [entry for entry in EXPECTED if not entry[2]]
        outcomes = [Outcome(test, name, hidden, "passed") for test, name, hidden in expected]
        assert decide(STAGE, expected, outcomes, run).public_passed
        assert not decide(STAGE, expected, outcomes, run, refused={"weights": self.PROBLEM}).public_passed


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
        found = decide(STAGE, tests, outcomes, RUN, refused={"scores": TestRefused.PROBLEM})
        assert row(found, "scores").kinds == () and row(found, "weights").kinds == (KindCount("values", 1, 1),)


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
