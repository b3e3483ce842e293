"""A class: what each further submission costs `grader class grade` beside other graders, and what a second job gains.

The cost is that of a larger class less that of a smaller one which it begins with, so starting up cancels out.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from benchmarks.graders import OtherGraders, class_grade
from benchmarks.processor import BenchmarkError, alternated, run
from benchmarks.result import Result, medians, ratio
from benchmarks.submissions import MadeUp, hand_in, made_up
from grader.course.stage import Course, Stage

GOALS = {"mix": 2.0, "styles": 2.5, "equal": 7.0}  # plain pytest / class, at least
JOBS_GOAL = 1.8  # submissions a second, two jobs / one
RIGHT = ("right", "reference")  # kinds that have to pass


@dataclass(frozen=True)
class Further:
    """What each further submission of a class takes: processor and elapsed seconds, and bytes of the gradebook."""

    cpu_s: float
    elapsed_s: float
    gradebook_bytes: float
    passed: int


@dataclass(frozen=True)
class Classes:
    """A small class and a large one of the same mix, and how many of the large one's modules other graders get."""

    course: Course
    stage: Stage
    mix: str
    low: int
    high: int
    sample: int
    isolation: str

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high:
            sizes = f"the classes have {self.low} and {self.high} submissions; the second has to be larger"
            raise BenchmarkError(sizes, "Choose others with --low and --high.")

    @cached_property
    def submissions(self) -> list[MadeUp]:
        return made_up(self.stage, self.mix, self.high)

    @property
    def further(self) -> list[MadeUp]:
        """The submissions that only the large class has."""
        return self.submissions[self.low :]

    def warm_up(self) -> None:
        """Grade one submission, which leaves bytecode behind."""
        self._graded(1, 1)

    def measured(self, jobs: int = 1) -> Further:
        """Grade both classes."""
        small, large = self._graded(self.low, jobs), self._graded(self.high, jobs)
        more = self.high - self.low
        return Further(
            (large.cpu_s - small.cpu_s) / more, (large.elapsed_s - small.elapsed_s) / more,
            (large.gradebook_bytes - small.gradebook_bytes) / more, large.passed,
        )  # fmt: skip

    def _graded(self, size: int, jobs: int) -> Further:
        """Grade the first submissions into a new gradebook; BenchmarkError where a right one does not pass."""
        chosen = self.submissions[:size]
        with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
            handed, out = Path(name) / "submissions", Path(name) / "marks"
            hand_in(chosen, handed)
            command = class_grade(self.stage, handed, out, jobs, self.isolation)
            done = run(command, self.course.root, expected=(0, 3))  # 3: many are broken, and in one way
            written = sum(path.stat().st_size for path in out.glob("gradebook.sqlite*"))
        passed = {mark["student"] for mark in json.loads(done.output)["marks"] if mark["passed"]}
        if wrong := [each.name for each in chosen if each.kind in RIGHT and each.name not in passed]:
            raise BenchmarkError(f"{len(wrong)} right submissions do not pass, {wrong[0]} is the first of them")
        return Further(done.cpu_s, done.elapsed_s, written, len(passed))


def each_submission(classes: Classes, runs: int, others: Sequence[str], jobs: int) -> Result:
    """Measure what a submission of a mix costs in a class, beside what it costs other graders."""
    texts = [each.text for each in classes.further[: classes.sample]]
    passed: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        beside = OtherGraders(classes.course, classes.stage, Path(name))

        def ours() -> float:
            found = classes.measured(jobs)
            passed["class"] = found.passed
            return found.cpu_s

        def other(grader: str) -> float:
            seconds, passed[grader] = _sampled(beside, grader, texts)
            return seconds

        classes.warm_up()
        for grader in others:
            _sampled(beside, grader, texts[:1])
        measures: dict[str, Callable[[], float]] = {"class": ours, **{each: partial(other, each) for each in others}}
        found = alternated(runs, measures)
    goals = {"pytest": GOALS.get(classes.mix)}
    facts = {
        "submissions": f"{classes.low} and {classes.high}, of which other graders get {len(texts)}",
        "kinds of the larger class": dict(Counter(each.kind for each in classes.submissions)),
        "passed": passed,
    }
    ratios = [ratio(found, each, "class", at_least=goals.get(each)) for each in others]
    unit = "s of processor time for a submission"
    return Result(f"class of {classes.mix}", classes.stage.id, runs, unit, medians(found), ratios, facts)


def second_job(classes: Classes, runs: int) -> Result:
    """Measure how many submissions of a class are graded in a second by one job and by two."""
    classes.warm_up()
    done = alternated(runs, {"1 job": partial(classes.measured, 1), "2 jobs": partial(classes.measured, 2)})
    found = {name: [1 / each.elapsed_s for each in measured] for name, measured in done.items()}
    costs = {name: round(statistics.median(each.cpu_s for each in measured), 3) for name, measured in done.items()}
    ratios = [ratio(found, "2 jobs", "1 job", at_least=JOBS_GOAL)]
    facts = {"processor time of a submission, s": costs}
    unit = "submissions a second"
    return Result(f"jobs, class of {classes.mix}", classes.stage.id, runs, unit, medians(found), ratios, facts)


def _sampled(beside: OtherGraders, other: str, texts: Sequence[str]) -> tuple[float, int]:
    """Return the mean processor time that another grader takes for these submissions, and how many it passes."""
    command, folder = beside.command(other)
    runs = []
    for text in texts:
        beside.submit(text)
        runs.append(run(command, folder, expected=None, most_s=beside.stage.limits.stage_seconds))
    return statistics.fmean(each.cpu_s for each in runs), sum(each.exit_code == 0 for each in runs)
