"""The least proof of a stage: its reference passes each of its tests, and what does not is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring import proof, soundness
from grader.authoring.cases import Case, Result
from grader.authoring.soundness import Unsound, expect_sound_stages, unsound
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import CourseError
from grader.tests.support.good_stage import write_stage

NAMES = ("s90_small", "s91_more")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course of two stages; the second one's tests disagree with its reference about halves."""
    write_stage(tmp_path / "stages", tmp_path / "hidden", NAMES[0])
    manifest = (tmp_path / "stages" / NAMES[0] / "stage.toml").read_text(encoding="utf-8")
    write_stage(
        tmp_path / "stages", tmp_path / "hidden", NAMES[1], {"stage/stage.toml": manifest.replace('"s90"', '"s91"')}
    )
    solution = tmp_path / "hidden" / NAMES[1] / "solution.py"
    text = solution.read_text(encoding="utf-8")
    wrong = text.replace("/ 2", "/ 3").replace("* 0.5", "* 0.3")
    assert wrong != text
    solution.write_text(wrong, encoding="utf-8")
    return load_course(tmp_path, tmp_path / "hidden")


@pytest.mark.parametrize("few", [0, 2], ids=["processes", "here"])
def test_of_several_stages_the_unsound_one_is_named(course: Course, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(soundness, "FEW", few)
    counted: list[tuple[int, int]] = []
    (found,) = unsound(course, course.stages, lambda done, total, name: counted.append((done, total)))
    assert found.stage == "s91" and counted == [(1, 2), (2, 2)]
    assert len(found.failures) == 2 and all(each.startswith("criterion half, test test_") for each in found.failures)
    if few:
        with pytest.raises(CourseError, match="the reference of s91 does not pass criterion half, test") as caught:
            expect_sound_stages(course, course.stages)
        assert "`grader course verify s91` says more" in str(caught.value.hint)
        expect_sound_stages(course, course.stages[:1])


def test_what_ran_out_of_time_gets_a_second_try_and_no_more(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine: the first gradings end in time limits, which are then four times as long."""
    given = proof.results
    limits: list[float] = []

    def late(pool: Executor, cases: Sequence[Case]) -> Iterator[Result]:
        limits.append(proof._course[0].stages[0].limits.stage_seconds)
        for result in given(pool, cases):
            ended = tuple(replace(each, status="timed_out") for each in result.outcomes)
            yield replace(result, outcomes=ended) if len(limits) == 1 else result

    monkeypatch.setattr(proof, "results", late)
    (found,) = unsound(course, course.stages)
    assert limits == [course.stages[0].limits.stage_seconds * factor for factor in (1, 4)]
    assert found.stage == "s91" and len(found.failures) == 2


def test_of_many_failures_the_first_are_shown() -> None:
    lines = Unsound("s90", tuple(f"criterion c{number}" for number in range(8))).lines
    assert len(lines) == 6 and lines[-1] == "and 3 more tests of s90"
