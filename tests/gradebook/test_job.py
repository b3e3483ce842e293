"""A grading on a crowded machine: time by the clock that others took is given back, once, and none else is."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.course.stage import Limits, Stage
from grader.gradebook import job
from grader.gradebook.job import MOST_PATIENCE, LoadMonitor, _patiently, faults, running
from grader.judging.grading import Options
from tests.support.verdicts import CRASH, PUBLIC, SCORES, SPLIT, VERDICT

STAGE = replace(Stage("s90", Path("s90"), "Small", "small.py", (), ()), limits=Limits(stage_seconds=30))


class Judge:
    """Answers with what it was given, one verdict after the other, and notes the patience that was asked for."""

    stage = STAGE

    def __init__(self, *told: tuple[str, float]) -> None:
        self.told = [
            SimpleNamespace(
                criteria=[SimpleNamespace(status=status)], problem=None, run=SimpleNamespace(duration_s=took)
            )
            for status, took in told
        ]
        self.patience: list[float] = []

    def grade(self, snapshot: Any, options: Options) -> Any:
        self.patience.append(options.patience)
        return self.told[len(self.patience) - 1]


def graded(judge: Judge, crowd: float, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(LoadMonitor, "of_a_core", property(lambda self: crowd))
    verdict: Any = _patiently(judge, None, Options(1))  # type: ignore[arg-type]
    return str(verdict.criteria[0].status)


def test_a_row_whose_test_is_wrong_says_which_and_why() -> None:
    wrong = replace(PUBLIC, status="grader_fault", message="the reference solution does not pass this test either")
    row = replace(SPLIT, status="grader_fault", failures=(PUBLIC, wrong, replace(wrong, message="another")))
    verdict = replace(VERDICT, criteria=(SCORES, row, CRASH), faults=("no memory",))
    assert [*faults(verdict)] == ["no memory", f"criterion split-heads, {wrong.test}: {wrong.message}"]
    assert [*faults(replace(VERDICT, criteria=(SPLIT, CRASH)))] == []


def test_what_ran_out_of_time_among_many_is_graded_once_more_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(("timed_out", 30.2), ("passed", 70.0))
    assert graded(judge, 4.0, monkeypatch) == "passed" and judge.patience == [1.0, 6.0]


def test_what_hangs_times_out_there_too_and_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(("timed_out", 30.2), ("timed_out", 240.0))
    assert graded(judge, 50.0, monkeypatch) == "timed_out" and judge.patience == [1.0, MOST_PATIENCE]


@pytest.mark.parametrize(
    ("told", "crowd"), [(("timed_out", 30.2), 1.2), (("timed_out", 12.0), 9.0), (("failed", 30.2), 9.0)]
)
def test_on_a_free_machine_or_for_another_reason_the_first_verdict_counts(
    told: tuple[str, float], crowd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(told)
    assert graded(judge, crowd, monkeypatch) == told[0] and judge.patience == [1.0]


def test_the_machine_says_how_many_compute_or_wait(tmp_path: Path) -> None:
    (tmp_path / "loadavg").write_text("21.86 24.18 27.04 28/244 20362\n")
    assert running(tmp_path / "loadavg") == 28


@pytest.mark.parametrize("text", [None, "", "1 2 3", "1 2 3 many/244 5"])
def test_a_machine_that_does_not_tell_counts_as_free(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "loadavg").write_text(text)
    assert running(tmp_path / "loadavg") is None
    with LoadMonitor(tmp_path / "loadavg") as crowd:
        pass
    assert crowd.of_a_core == 1.0


def test_the_mean_of_all_looks_counts_and_a_free_core_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "EVERY_SECONDS", 0.001)
    (tmp_path / "loadavg").write_text("0 0 0 12/244 1\n")
    for cores, expected in ((2, 6.0), (24, 1.0)):
        with LoadMonitor(tmp_path / "loadavg", cores) as crowd:
            end = time.monotonic() + 60
            while not crowd._seen and time.monotonic() < end:
                time.sleep(0.001)
        assert crowd.of_a_core == expected
