"""Grades each reference once, before a release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.authoring import proof
from grader.authoring.cases import Result, reference_cases
from grader.authoring.evaluation import first_complaint, one_line
from grader.authoring.verify import FIRST_SEED, OnResult
from grader.course.stage import Course, Stage
from grader.errors import CourseError

FEW = 2  # stages that are graded in this process: others would take longer to start
LIST_THEM = "List each member in `functions` of a criterion, or under [members], in the stage's stage.toml"
SHOWN = 5  # failures of one stage in a message


@dataclass(frozen=True)
class Unsound:
    """A stage whose reference does not pass its own tests, and of each failure a line with criterion and test."""

    stage: str
    failures: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What a message says of it."""
        more = len(self.failures) - SHOWN
        told = [f"the reference of {self.stage} does not pass {failure}" for failure in self.failures[:SHOWN]]
        return (*told, f"and {more} more tests of {self.stage}") if more > 0 else tuple(told)


def unsound(course: Course, stages: Sequence[Stage], on_result: OnResult | None = None) -> list[Unsound]:
    """Grade the reference of each stage with one seed, through the whole pipeline; return those that do not pass.

    What ran out of time is graded once more, alone and with more of it, since others may have kept the machine busy.
    """
    cases = [case for stage in stages for case in reference_cases(stage, [FIRST_SEED])]
    found: dict[str, Result] = {}
    with proof.workers(course, 0 if len(cases) <= FEW else None) as pool:
        for result in proof.results(pool, cases):
            found[result.case.stage] = result
            if on_result is not None:
                on_result(len(found), len(cases), result.case.stage)
    late = [case for case in cases if any(each.status == "timed_out" for each in found[case.stage].outcomes)]
    if late:
        with proof.workers(replace(course, stages=tuple(map(_patient, course.stages))), 0) as alone:
            found |= {result.case.stage: result for result in proof.results(alone, late)}
    failures = {stage.id: tuple(_failures(found[stage.id])) for stage in stages}
    return [Unsound(name, own) for name, own in failures.items() if own]


def _patient(stage: Stage) -> Stage:
    seconds = stage.limits.stage_seconds, stage.limits.call_seconds
    stage_seconds, call_seconds = (proof.AGAIN * each for each in seconds)
    return replace(stage, limits=replace(stage.limits, stage_seconds=stage_seconds, call_seconds=call_seconds))


def expect_sound_stages(course: Course, stages: Sequence[Stage], on_result: OnResult | None = None) -> None:
    """Raise CourseError where the reference of a stage does not pass each of its tests."""
    if found := unsound(course, stages, on_result):
        names = " ".join(each.stage for each in found)
        hint = f"Nothing was written. `grader course verify {names}` says more; --unproven releases it all the same."
        lines = [f"- {line}" for each in found for line in each.lines]
        unlisted = sorted({f"{each.stage}: {member}" for each in found for member in _unlisted(each)})
        if unlisted:
            hint = f"{LIST_THEM} ({', '.join(unlisted)}). {hint}"
        raise CourseError("\n".join(["a reference does not pass its own tests:", *lines]), hint)


def _unlisted(found: Unsound) -> Iterator[str]:
    for failure in found.failures:
        yield from re.findall(r"([\w.]+): this stage does not list", failure)


def _failures(result: Result) -> Iterator[str]:
    verdict = result.verdict
    assert verdict is not None
    lacking = [each for each in result.outcomes if each.status != "passed"]
    for each in lacking:
        yield one_line(f"criterion {each.criterion}, test {each.test}: {each.message or each.status}")
    if not lacking and not verdict.robust:
        yield f"its tests: {first_complaint(verdict)}"
