"""What ends a judge costs the test that it was at, and nothing else; whose fault it was, the reference decides."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader.diagnosis import runner
from grader.isolation import tiers
from grader.judging import bounds, supervisor
from grader.judging.outcomes import Assessor
from grader.judging.running import Attempt
from grader.judging.supervisor import ForkedJudges
from grader.judging.task import JudgeTask, Messages
from grader.outcome import CUT, Outcome
from grader.report.document import verdict_document
from grader.sandbox.process import LearnerProcess, LoadFailed
from grader.submission.parsing import Problem
from grader.verdict import Failure
from tests.conftest import Graded, SmallCourse
from tests.judging.judges_that_end import (
    ALWAYS,
    BUSY,
    FALLS,
    HIDDEN,
    HOLDS,
    LARGE,
    MANIFEST,
    MISTAKES,
    SOLUTION,
    SPINS,
    STALLS,
    SWELLS,
    Use,
)

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="a judge that is a fork")


@pytest.fixture
def graded(small_course: SmallCourse) -> Use:
    """Grade a module with tests that use what size returns in some way."""

    def grade(
        use: str, source: str = LARGE, *, seconds: int = 600, mistakes: str = MISTAKES, fork: bool = True
    ) -> Graded:
        calls = min(60, seconds)  # a busy machine takes its time
        manifest, hidden = MANIFEST.format(seconds=seconds, calls=calls), HIDDEN.format(use=use)
        public = (
            "@pytest.mark.criterion('double')\n    def test_public(learner):\n        assert learner.double(1) == 2\n"
        )
        small_course.write(
            manifest=manifest, solution=SOLUTION, public=f"    {public}", hidden=hidden, mistakes=mistakes
        )
        return small_course.grade(source, fork=fork)

    return grade


def others_passed(graded: Graded) -> bool:
    found = {name: outcome.status for name, outcome in graded.outcomes.items() if name != "test_size"}
    return found == dict.fromkeys(("test_public", "test_before", "test_after", "test_double"), "passed")


def failure_of_size(graded: Graded) -> Failure:
    """Return what the verdict tells of test_size, once causes have been looked for."""
    failures = next(row for row in graded.verdict.criteria if row.id == "size").failures
    (failure,) = [each for each in failures if each.test.endswith("::test_size")]
    return failure


@pytest.mark.parametrize("fork", [True, pytest.param(False, marks=pytest.mark.full_matrix)])
class TestOneTest:
    @pytest.mark.full_matrix
    def test_that_takes_all_memory(self, graded: Use, fork: bool) -> None:
        found = graded(SWELLS, fork=fork)
        outcome = found.outcomes["test_size"]
        assert outcome.status == "over_limit"
        assert outcome.message == "judging what size returned took more than 100 MB of memory"
        assert others_passed(found) and not found.verdict.grader_fault

    def test_that_takes_too_much_processor_time(self, graded: Use, fork: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        if not fork:
            pytest.skip("the bound is that of another process, and longer than a test may take")
        monkeypatch.setattr(bounds, "TEST_SECONDS", 0.5)
        found = graded(SPINS, fork=fork)
        outcome = found.outcomes["test_size"]
        assert outcome.status == "timed_out"
        assert outcome.message == "judging what size returned took more than 0.5 s of processor time"
        assert "skipped" in found.outcomes["test_after"].message and found.row("double") == "passed"
        assert not found.verdict.grader_fault

    def test_that_ends_the_process(self, graded: Use, fork: bool) -> None:
        found = graded(FALLS, fork=fork)
        outcome = found.outcomes["test_size"]
        assert outcome.status == "crashed" and "judging what size returned took signal 11" in outcome.message
        assert others_passed(found) and not found.verdict.grader_fault

    @pytest.mark.full_matrix
    def test_that_stalls_is_ended_with_the_stage(
        self, graded: Use, fork: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(supervisor, "OVERTIME_SECONDS", 0.5)
        found = graded(STALLS, seconds=4, fork=fork)
        assert found.outcomes["test_before"].status == "passed"
        assert {found.outcomes[name].status for name in ("test_size", "test_after", "test_double")} == {"timed_out"}
        assert not found.verdict.grader_fault and found.row("size") == "timed_out"

    @pytest.mark.full_matrix
    def test_that_takes_all_memory_with_the_reference_too_is_ours(self, graded: Use, fork: bool) -> None:
        found = graded(ALWAYS, fork=fork)
        outcome = found.outcomes["test_size"]
        assert outcome.status == "grader_fault" and outcome.message.startswith("the reference")
        assert others_passed(found) and found.verdict.grader_fault


@pytest.mark.full_matrix
def test_the_reference_has_processor_time_of_its_own(graded: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "TEST_SECONDS", 1.0)
    failure = failure_of_size(graded(BUSY))
    assert failure.diagnosis is not None and failure.diagnosis.mistake == "large" and not failure.unexplained


def test_a_module_whose_tests_all_end_the_judge_gets_a_verdict(graded: Use) -> None:
    source = SOLUTION.replace("return 1", "return 7").replace("return 2 * x", "return 7")
    found = graded(FALLS, source)
    assert [row.status for row in found.verdict.criteria] == ["crashed", "failed"]


@pytest.mark.full_matrix
def test_a_mistake_that_never_ends_costs_the_explanation_alone(graded: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST_PROCESSOR_SECONDS", 0.5)
    monkeypatch.setattr(bounds, "TEST_SECONDS", 0.5)
    found = graded("pass", mistakes=MISTAKES.replace("return 7", "\n            while True: pass"))
    failure = failure_of_size(found)
    assert failure.status == "failed" and "1" in failure.message
    assert failure.diagnosis is None and failure.unexplained == CUT
    assert others_passed(found) and not found.verdict.grader_fault
    failures = verdict_document(found.verdict)["criteria"][0]["failures"]
    assert [failure["unexplained"] for failure in failures] == [{"reason": CUT}]


@pytest.mark.full_matrix
def test_a_judge_that_dies_at_the_end_of_the_time_is_not_followed_by_others(
    graded: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(self: Assessor, outcome: Outcome, attempt: Attempt) -> Outcome:
        time.sleep(60)
        return outcome

    begun: list[int] = []
    begin = ForkedJudges.begin
    monkeypatch.setattr(Assessor, "explained", slow)

    def counted(self: ForkedJudges, task: JudgeTask) -> Messages:
        begun.append(task.first)
        return begin(self, task)

    monkeypatch.setattr(ForkedJudges, "begin", counted)
    monkeypatch.setattr(supervisor, "OVERTIME_SECONDS", 0.5)
    found = graded("pass", seconds=4)
    assert begun == [0] and found.outcomes["test_size"].status == "failed"
    assert failure_of_size(found).unexplained == "the search for a cause took more time than the stage has"
    assert found.outcomes["test_after"].status == "timed_out" and not found.verdict.grader_fault


@pytest.mark.full_matrix
def test_a_reference_that_lacks_the_memory_that_is_still_held_is_tried_again_alone(graded: Use) -> None:
    found = graded(HOLDS)
    assert found.outcomes["test_size"].status == "over_limit" and not found.verdict.grader_fault


def test_a_module_that_does_not_load_again_costs_one_test_more(
    graded: Use, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    load, loads = LearnerProcess.load, tmp_path / "loads"
    loads.write_text("")

    def second_fails(self: LearnerProcess) -> None:
        loads.write_text(loads.read_text() + "x")
        if loads.read_text() == "xx":
            raise LoadFailed(Problem("import-error", "it fails while it is loaded", 1, None))
        load(self)

    monkeypatch.setattr(LearnerProcess, "load", second_fails)
    found = graded(FALLS)
    assert found.outcomes["test_size"].status == found.outcomes["test_after"].status == "crashed"
    assert "did not load again: it fails while it is loaded" in found.outcomes["test_after"].message
    assert found.row("double") == "passed" and not found.verdict.grader_fault and found.verdict.problem is None


def test_a_mistake_is_named_where_nothing_goes_wrong(graded: Use) -> None:
    failure = failure_of_size(graded("pass"))
    assert failure.diagnosis is not None and failure.diagnosis.text == "It is large."
