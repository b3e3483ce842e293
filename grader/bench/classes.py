"""How fast `grader class grade` is, and how much memory it takes, beside a process of pytest for each submission.

The class is made up: most modules are right or nearly, some are broken, some never end, some attack the grader. All
graders get the same modules, as many at once as there are cores, and the same time for each. The others are measured
where they are installed, as `warm.py` says. With `--memory`, a judge that answers at once stands in for the real one,
and the coordinator's peak memory is told for classes of several sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.bench.check import environment
from grader.bench.made_up import submissions
from grader.bench.warm import others
from grader.course.answers import stub_source
from grader.course.manifest import find_course_root, load_course
from grader.course.provenance import Provenance
from grader.course.stage import Course, Stage
from grader.gradebook.intake.listing import listing
from grader.gradebook.intake.taking import taken
from grader.gradebook.job import Done, Job
from grader.gradebook.running import Coordinator
from grader.gradebook.seeds import Seeds
from grader.gradebook.setting import Setting
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.policy import Policy

SIZES = (200, 2000)
ASIDE = "import sys; from grader.bench.classes import {}; {}(*sys.argv[1:])"


@dataclass(frozen=True)
class Measured:
    """What a class was made of; by grader, submissions per second and how many pass; and the peak memory in MB."""

    stage: str
    kinds: dict[str, int]
    per_second: dict[str, float] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)
    coordinator_mb: float = 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a few lines or JSON."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.classes", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s01")
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--memory", action="store_true", help="only the coordinator, with a judge that answers at once")
    parser.add_argument("--ours", action="store_true", help="leave the other graders out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    course = load_course(find_course_root(Path.cwd()))
    stage = course.find(options.stage)
    if options.memory:
        peaks = {size: memory(course, stage, size) for size in SIZES}
        print(
            json.dumps(peaks)
            if options.json
            else "\n".join(f"{n:6d} students  {mb:6.0f} MB" for n, mb in peaks.items())
        )
        return 0
    found = measure(course, stage, options.submissions, options.ours)
    print(json.dumps(asdict(found)) if options.json else table(found))
    return 0


def measure(course: Course, stage: Stage, number: int, only_ours: bool = False) -> Measured:
    """Grade one class with each grader, one after the other."""
    modules = submissions(stage, number)
    found = Measured(stage.id, dict(Counter(kind for kind, _ in modules)))
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name:
        folder = Path(name)
        handed = folder / "handed"
        handed.mkdir()
        for place, (_, text) in enumerate(modules):
            (handed / f"s{place}.py").write_text(text, encoding="utf-8")
        told, seconds = _ours(course, stage, handed, folder / "out")
        found.per_second["grader class"] = number / seconds
        found.passed["grader class"] = told["passed"]
        peak = told["peak_mb"]
        for grader in [] if only_ours else others(stage, folder / "names"):
            rate, passed = _rate(stage, grader, [text for _, text in modules], folder / grader.replace(" ", ""))
            found.per_second[grader], found.passed[grader] = rate, passed
    return replace(found, coordinator_mb=peak)


def _ours(course: Course, stage: Stage, handed: Path, out: Path) -> tuple[dict[str, Any], float]:
    out.mkdir()
    started = time.perf_counter()
    command = [sys.executable, "-c", ASIDE.format("grade", "grade"), stage.id, str(handed), str(out)]
    done = subprocess.run(command, cwd=course.root, env=environment(), capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    told: dict[str, Any] = json.loads(done.stdout)
    return told, seconds


def grade(stage: str, handed: str, out: str) -> None:
    """Grade a folder as the command does, and print what passed and the peak memory; for a process of its own."""
    from grader.gradebook.session import Wishes
    from grader.gradebook.whole import grade as whole

    course = load_course(find_course_root(Path.cwd()))
    wishes = Wishes(Path(out), require="process", jobs=os.cpu_count())
    done = whole(course, (course.find(stage),), Path(handed), wishes, lambda tally: None)
    print(json.dumps({"passed": done.tallies[0].passed, "peak_mb": peak_mb()}))


def _rate(stage: Stage, grader: str, texts: Sequence[str], folder: Path) -> tuple[float, int]:
    """Return how many modules a grader of another kind takes in a second, and how many it lets pass."""
    commands: list[list[str]] = []
    for place, text in enumerate(texts):
        (mine := folder / str(place)).mkdir(parents=True)
        commands.append(others(stage, mine)[grader])
        (mine / stage.name / stage.module).write_text(text, encoding="utf-8")
    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda command: _passes(command, stage), commands))
    return len(texts) / (time.perf_counter() - started), sum(passed)


def _passes(command: list[str], stage: Stage) -> bool:
    """Run a grader's process for as long as the stage has, and end whatever it started."""
    quiet = subprocess.DEVNULL
    root = stage.folder.parent.parent
    process = subprocess.Popen(
        command, cwd=root, env=environment(), stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        return process.wait(stage.limits.stage_seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def memory(course: Course, stage: Stage, number: int) -> float:
    """Return the coordinator's peak memory in MB for a class of that many, in a process of its own."""
    command = [sys.executable, "-c", ASIDE.format("coordinate", "coordinate"), stage.id, str(number)]
    done = subprocess.run(command, cwd=course.root, env=environment(), capture_output=True, text=True, check=True)
    return float(done.stdout)


def coordinate(stage_id: str, number: str) -> None:
    """Coordinate the grading of made-up modules by a judge that answers at once, and print the peak memory."""
    course = load_course(find_course_root(Path.cwd()))
    stage = course.find(stage_id)
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as name, Gradebook.open(Path(name), create=True) as book:
        handed = Path(name) / "handed"
        handed.mkdir()
        text = stub_source(stage)
        for place in range(int(number)):
            (handed / f"s{place}.py").write_text(f"{text}\n# {place}\n", encoding="utf-8")
        setting = Setting(course, Policy(), "process", Seeds.drawn(), Provenance())
        found = listing(handed, setting.policy.zone).arrivals
        attempts = (each for one in found for each in taken(one, stage, course.root, True))
        Coordinator(book, setting, Faked(stage), 8, lambda tally: None).grade(stage, attempts, int(number))
    print(peak_mb())


class Faked(Executor):
    """Answers at once that every row fails, with a message as long as a real one."""

    def __init__(self, stage: Stage) -> None:
        failure = {"test": "test_values", "message": "expected 8.0, got 4.0; " * 40, "call": "f(x)", "diagnosis": None}
        self._rows = [
            {"id": row.id, "text": row.text, "status": "failed", "tests_passed": 0, "tests_total": 4, "kinds": {},
             "values_right": False, "failures": [failure] * 3}
            for row in stage.criteria
        ]  # fmt: skip

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        """Return a future that has ended."""
        (job,) = arguments
        assert isinstance(job, Job)
        future: Future[Any] = Future()
        future.set_result(Done({"passed": False, "problem": None, "criteria": self._rows}, False, 0.1, "here"))
        return future


def peak_mb() -> float:
    """Return the most memory that this process has held; on Linux of itself alone, not of what it was forked from."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def table(found: Measured) -> str:
    """Return what was measured as a few lines of text."""
    ours = found.per_second["grader class"]
    lines = [f"{found.stage}: {sum(found.kinds.values())} submissions: {found.kinds}"]
    lines += [
        f"  {name:20s} {rate:6.2f}/s   {rate / ours:5.2f} × our rate   {found.passed[name]} pass"
        for name, rate in found.per_second.items()
    ]
    return "\n".join([*lines, f"  the coordinator's peak: {found.coordinator_mb:.0f} MB"])


if __name__ == "__main__":
    sys.exit(main())
