"""A cold `grader check` beside other graders of the same tests, of every stage, and of an untouched stub."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.graders import OtherGraders, check
from benchmarks.processor import alternated, run
from benchmarks.result import Result, medians, ratio
from grader.course.answers import reference_source, stub_source
from grader.course.stage import Course, Stage

GOAL, STUB_GOAL, ALL_GOAL_S = 1.0, 0.6, 40.0  # of plain pytest; of the right module; of processor time
DOES_NOT_PASS = 1  # an exit code of `grader check`


def cold(course: Course, stage: Stage, runs: int, others: Sequence[str], isolation: str) -> Result:
    """Measure a check of the reference beside other graders, after one run of each that writes bytecode."""
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        folder = Path(name)
        beside = OtherGraders(course, stage, folder / "others")
        measures: dict[str, Callable[[], float]] = {"check": _check(course, stage, folder, isolation)}
        measures |= {other: _other(beside, other) for other in others}
        alternated(1, measures)
        found = alternated(runs, measures)
    goals = {"pytest": GOAL}
    ratios = [ratio(found, "check", other, at_most=goals.get(other)) for other in others]
    return Result("cold", stage.id, runs, "s of processor time", medians(found), ratios)


def all_stages(course: Course, runs: int, others: Sequence[str], isolation: str) -> Result:
    """Measure each stage as `cold` does, and add up the medians."""
    found = [cold(course, stage, runs, others, isolation) for stage in course.stages]
    names = ("check", *others)
    sums = {name: sum(each.values[name] for each in found) for name in names}
    ratios = [ratio({name: [value] for name, value in sums.items()}, "check", other) for other in others]
    facts = {
        "wanted": f"at most {ALL_GOAL_S:g} s for all checks, where they took 55 s before",
        **{each.stage: {name: round(each.values[name], 3) for name in names} for each in found},
    }
    return Result("all stages", f"{len(found)} stages", runs, "s of processor time", sums, ratios, facts)


def stub(course: Course, stage: Stage, runs: int, isolation: str) -> Result:
    """Measure a check of the stub beside one of the right module."""
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        folder = Path(name)
        begun = folder / "stub" / stage.module
        begun.parent.mkdir()
        begun.write_text(stub_source(stage), encoding="utf-8")

        def untouched() -> float:
            return run(check(stage, begun, isolation), course.root, expected=[DOES_NOT_PASS]).cpu_s

        measures = {"stub": untouched, "right module": _check(course, stage, folder, isolation)}
        alternated(1, measures)
        found = alternated(runs, measures)
    ratios = [ratio(found, "stub", "right module", at_most=STUB_GOAL)]
    return Result("stub", stage.id, runs, "s of processor time", medians(found), ratios)


def check_of(course: Course, stage: Stage, text: str, folder: Path, isolation: str) -> float:
    """Return the processor time of a cold check of a module, which may pass or not."""
    module = folder / stage.module
    module.write_text(text, encoding="utf-8")
    return run(check(stage, module, isolation), course.root, expected=(0, DOES_NOT_PASS)).cpu_s


def _check(course: Course, stage: Stage, folder: Path, isolation: str) -> Callable[[], float]:
    module = folder / stage.module
    module.write_text(reference_source(stage), encoding="utf-8")
    return lambda: run(check(stage, module, isolation), course.root).cpu_s


def _other(beside: OtherGraders, name: str) -> Callable[[], float]:
    command, folder = beside.command(name)
    return lambda: run(command, folder).cpu_s
