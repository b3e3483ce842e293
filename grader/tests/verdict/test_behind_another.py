"""A row that fails, hangs or crashes behind another one waits for it, and is not blamed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Criterion, Stage
from grader.outcome import Outcome, Status
from grader.tests.verdict.decided import EXPECTED, HINTS, LEADS, ROWS, RUN, STAGE, A, row, test_of, verdict
from grader.verdict import ABRUPT, decide


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
