"""What a kept grader saves: a warm re-check beside a cold one, submissions per second beside other graders, and memory.

A re-check is of a module that has changed by a line, with the inputs of the check before, as in `grader watch`. What it
takes with other inputs each time, of which nothing is remembered, is told as well.

The others run the same tests on the same module, a process for each submission and as many at once as there are cores:
plain pytest with `--json-report`, and unittest cases under gradescope-utils. They are measured where installed:
`uv run --with gradescope-utils --with pytest-json-report python -m grader.bench.warm`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grader.bench.check import check_command, environment, pytest_command, seconds_of
from grader.course.answers import hidden_folder
from grader.course.manifest import find_course_root, load_course
from grader.course.stage import Course, Stage
from grader.judging.grading import Grader, Options
from grader.submission import Snapshot, take

GOAL = 0.25  # of a cold check
UNMEASURED = 2  # gradings with the same inputs, after which all that can be remembered is
PAUSE_S = 0.5  # from a verdict to the next save, in which the next workers start; who saves waits longer
GRADESCOPE = """
import sys, unittest
import pytest
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


class Collected:
    def pytest_runtestloop(self, session):
        def case(item, following):
            def run():
                session._setupstate.setup(item)
                try:
                    item.runtest()
                finally:
                    session._setupstate.teardown_exact(following)
            return unittest.FunctionTestCase(run, description=item.name)
        items = session.items
        suite = unittest.TestSuite(case(*pair) for pair in zip(items, [*items[1:], None]))
        with open(sys.argv[1], "w") as file:
            result = JSONTestRunner(visibility="visible", stream=file).run(suite)
        session.testsfailed = len(result.failures) + len(result.errors)
        return True


sys.exit(pytest.main(sys.argv[2:], plugins=[Collected()]))
"""


@dataclass(frozen=True)
class Measured:
    """Median seconds of a cold check, of a warm one, of one with other inputs, their ratios to the first, and rates.

    Rates are submissions per second by grader; judge_mb is the most memory that a judge had.
    """

    stage: str
    cold_s: float
    warm_s: float
    fresh_s: float
    ratio: float
    fresh_ratio: float
    per_second: dict[str, float]
    judge_mb: float
    goal: float = GOAL


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a few lines or JSON, and return 0 where the goal is met."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.warm", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s15")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    course = load_course(find_course_root(Path.cwd()))
    found = measure(course, course.find(options.stage), options.submissions)
    print(json.dumps(asdict(found)) if options.json else table(found, options.submissions))
    return 0 if found.ratio <= GOAL else 1


def measure(course: Course, stage: Stage, submissions: int) -> Measured:
    """Time cold and warm checks in turn, then each grader over all submissions, which are the reference."""
    snapshot = take(stage, hidden_folder(stage) / "solution.py", course.root)
    cold_command = check_command(stage, "auto")
    seconds_of(cold_command, course.root)
    cold: list[float] = []
    warm: list[float] = []
    fresh: list[float] = []
    for seconds, seeds in ((warm, [0] * submissions), (fresh, range(submissions))):
        with Grader(course, stage, warm=True, hurried=True) as grader:
            for number, seed in enumerate(seeds):
                seconds.append(_seconds(grader, _saved(snapshot, number), seed))
                grader.prepare(Options(seed))
                if number % 4 == 0:
                    cold.append(seconds_of(cold_command, course.root))
                else:
                    time.sleep(PAUSE_S)
    per_second: dict[str, float] = {}
    with Grader(course, stage, warm=True) as grader:
        one_by_one = [_seconds(grader, _saved(snapshot, number), number) for number in range(submissions)]
        per_second["grader, warm"] = (submissions - UNMEASURED) / sum(one_by_one[UNMEASURED:])
        judge_mb = grader.peak_mb
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        for name, command in others(stage, Path(folder)).items():
            per_second[name] = _rate(command, submissions, course.root)
    cold_s, warm_s, fresh_s = (statistics.median(each) for each in (cold, warm[UNMEASURED:], fresh[1:]))
    return Measured(stage.id, cold_s, warm_s, fresh_s, warm_s / cold_s, fresh_s / cold_s, per_second, judge_mb)


def _saved(snapshot: Snapshot, number: int) -> Snapshot:
    """Return a module with one line more, which says nothing."""
    return replace(snapshot, source=snapshot.source + f"\n# {number}\n".encode())


def _seconds(grader: Grader, snapshot: Snapshot, seed: int) -> float:
    """Return how long the reference takes to pass."""
    started = time.perf_counter()
    if not grader.grade(snapshot, Options(seed)).passed:
        raise SystemExit(f"the reference of {grader.stage.id} does not pass with seed {seed}")
    return time.perf_counter() - started


def others(stage: Stage, folder: Path) -> dict[str, list[str]]:
    """Return the commands of the graders that are installed here."""
    plain = pytest_command(stage, folder)
    found: dict[str, list[str]] = {"plain pytest": plain}
    if importlib.util.find_spec("pytest_jsonreport"):
        found["pytest --json-report"] = [*plain, "--json-report", f"--json-report-file={folder}/report.json"]
    if importlib.util.find_spec("gradescope_utils"):
        (folder / "gradescope.py").write_text(GRADESCOPE)
        found["gradescope-utils"] = [sys.executable, str(folder / "gradescope.py"), os.devnull, *plain[3:]]
    return found


def _rate(command: list[str], number: int, root: Path) -> float:
    """Return how many processes of a command end in a second, as many at once as there are cores."""

    def run(_: int) -> None:
        subprocess.run(command, cwd=root, env=environment(), capture_output=True, check=True)

    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, range(number)))
    return number / (time.perf_counter() - started)


def table(found: Measured, submissions: int) -> str:
    """Return what was measured as a few lines of text."""
    lines = [
        f"{found.stage}: medians",
        f"  cold check     {found.cold_s * 1e3:7.0f} ms",
        f"  warm re-check  {found.warm_s * 1e3:7.0f} ms   {found.ratio:.2f} of it   goal: at most {found.goal}",
        f"  other inputs   {found.fresh_s * 1e3:7.0f} ms   {found.fresh_ratio:.2f} of it",
        f"  judge's peak   {found.judge_mb:7.0f} MB",
        f"  {submissions} submissions, per second:",
    ]
    return "\n".join([*lines, *(f"    {name:22s} {rate:6.2f}" for name, rate in found.per_second.items())])


if __name__ == "__main__":
    sys.exit(main())
