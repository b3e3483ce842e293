"""How long `grader check` takes beside plain pytest of the same tests, and in each tier, in runs that alternate."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.course.answers import hidden_folder
from grader.course.manifest import find_course_root, load_course
from grader.course.stage import Stage
from grader.isolation.tiers import TIERS, why_missing

GOAL = 1.15  # of plain pytest; pinned to one core 1.4, since there nothing starts beside something else
TIER_GOAL = 1.15  # of bubblewrap beside process
COMMAND = "import sys; from grader.__main__ import main; sys.exit(main())"


@dataclass(frozen=True)
class Comparison:
    """Median seconds of both commands, and the median and extremes of the ratio of each pair of runs."""

    stage: str
    runs: int
    grader_s: float
    pytest_s: float
    ratio: float
    least: float
    most: float
    goal: float = GOAL


@dataclass(frozen=True)
class TierCost:
    """Median seconds of a check in a tier, and the median of its ratio to the weakest tier, run by run."""

    tier: str
    seconds: float
    ratio: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0 where the goal is met."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.check", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s15")
    parser.add_argument("--runs", type=int, default=11, help="pairs of runs (11)")
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--tiers", action="store_true", help="compare the tiers of isolation with each other instead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    root = find_course_root(Path.cwd())
    if options.tiers:
        costs = measure_tiers(root, load_course(root).find(options.stage), options.runs)
        print(json.dumps([asdict(each) for each in costs]) if options.json else tiers_table(costs))
        return 0 if all(each.ratio <= TIER_GOAL for each in costs if each.tier == TIERS[0]) else 1
    found = measure(root, load_course(root).find(options.stage), options.runs, options.isolation)
    print(json.dumps(asdict(found)) if options.json else table(found))
    return 0 if found.ratio <= GOAL else 1


def measure(root: Path, stage: Stage, runs: int, isolation: str) -> Comparison:
    """Time both commands in turn, after one run of each that leaves its bytecode behind."""
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        ours = check_command(stage, isolation)
        theirs = pytest_command(stage, Path(folder))
        for command in (ours, theirs):
            seconds_of(command, root)
        pairs = [(seconds_of(ours, root), seconds_of(theirs, root)) for _ in range(runs)]
    ratios = [a / b for a, b in pairs]
    grader_s, pytest_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Comparison(stage.id, runs, grader_s, pytest_s, statistics.median(ratios), min(ratios), max(ratios))


def measure_tiers(root: Path, stage: Stage, runs: int) -> list[TierCost]:
    """Time a check in each tier that works here, in turn, after one run in each that does not count."""
    commands = {tier: check_command(stage, tier) for tier in TIERS if why_missing(tier) is None}
    for command in commands.values():
        seconds_of(command, root)
    rounds = [{tier: seconds_of(command, root) for tier, command in commands.items()} for _ in range(runs)]
    return [
        TierCost(
            tier,
            statistics.median(each[tier] for each in rounds),
            statistics.median(each[tier] / each[TIERS[-1]] for each in rounds),
        )
        for tier in commands
    ]


def check_command(stage: Stage, isolation: str) -> list[str]:
    """Return the command that checks a stage's reference."""
    reference = hidden_folder(stage) / "solution.py"
    return [
        sys.executable,
        "-c",
        COMMAND,
        "check",
        stage.id,
        "--submission",
        str(reference),
        "--isolation",
        isolation,
        "--json",
    ]


def pytest_command(stage: Stage, folder: Path) -> list[str]:
    """Return the command that runs the same tests on the same module, in a copy of the stage with the reference."""
    copy = folder / stage.name
    shutil.copytree(stage.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(hidden_folder(stage) / "solution.py", copy / stage.module)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib -q\n")
    tests = [*sorted((copy / "tests").glob("test_*.py")), *sorted(hidden_folder(stage).glob("test_*.py"))]
    return [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(folder / "pytest.ini"),
        "-p",
        "no:cacheprovider",
        *map(str, tests),
    ]


def environment() -> dict[str, str]:
    """Return the environment without what changes how fast pytest and imports are."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def seconds_of(command: list[str], root: Path, fine: tuple[int, ...] = (0,)) -> float:
    """Return how long a command takes; SystemExit where it ends with another exit code than these."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in fine:
        raise SystemExit(
            f"{' '.join(command[:6])} … ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
        )
    return seconds


def table(found: Comparison) -> str:
    """Return the comparison as a few lines of text."""
    return (
        f"{found.stage}: {found.runs} pairs of runs, medians\n"
        f"  grader check   {found.grader_s * 1e3:7.0f} ms\n"
        f"  plain pytest   {found.pytest_s * 1e3:7.0f} ms\n"
        f"  ratio          {found.ratio:7.2f}      {found.least:.2f} to {found.most:.2f}; goal: at most {found.goal}"
    )


def tiers_table(costs: Sequence[TierCost]) -> str:
    """Return the tiers as a few lines of text."""
    lines = [f"  {each.tier:12s} {each.seconds * 1e3:7.0f} ms   {each.ratio:5.2f} × {TIERS[-1]}" for each in costs]
    return "\n".join([*lines, f"  goal: {TIERS[0]} at most {TIER_GOAL} × {TIERS[-1]}"])


if __name__ == "__main__":
    sys.exit(main())
