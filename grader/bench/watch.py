"""How long `grader watch` takes from a save to its verdict, beside a cold `grader check` of the same module, in turn.

The module is the reference with a last function that gives nothing, in a course folder of its own; saves replace it, as
editors do. Three moments are measured: when the first line about the row that failed first has arrived, which is graded
ahead, when that of the whole verdict has, and when the last one has, the cause, if one is found. Noticing the save,
grading and printing are all in it, in the last moment recording as well.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from grader.bench.check import COMMAND, environment, seconds_of
from grader.course.answers import hidden_folder
from grader.course.manifest import find_course_root, load_course
from grader.course.stage import Stage

GOAL = 0.3  # of a cold check
GOAL_S = 0.4  # for s15, on a machine that does nothing else
PATIENCE_S = 60.0
QUIET_S = 0.4  # without a line: what was printed is complete
ROW = "First: "
VERDICT = " rows pass."


@dataclass(frozen=True)
class Measured:
    """Median seconds of a cold check and from a save to the three moments, and medians of their ratios to cold."""

    stage: str
    saves: int
    cold_s: float
    row_s: float
    verdict_s: float
    explained_s: float
    row_ratio: float
    ratio: float
    explained_ratio: float
    goal: float = GOAL
    goal_s: float = GOAL_S


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a few lines or JSON, and return 0 where the ratio is within the goal."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.watch", description=__doc__)
    parser.add_argument("stage", nargs="?", default="s15")
    parser.add_argument("--saves", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    root = find_course_root(Path.cwd())
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        copy = copied(root, Path(folder) / "course")
        found = measure(copy, load_course(copy).find(options.stage), options.saves)
    print(json.dumps(asdict(found)) if options.json else table(found))
    return 0 if found.ratio <= GOAL else 1


def copied(root: Path, copy: Path) -> Path:
    """Copy what a course is made of."""
    settings = load_course(root).settings
    for name in filter(None, ("stages", settings.hidden, settings.drawings, "demo")):
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", copy)
    return copy


def measure(root: Path, stage: Stage, saves: int) -> Measured:
    """Watch the stage and, in turn, save it and check it in a process of its own."""
    run = [sys.executable, "-c", COMMAND]
    subprocess.run([*run, "start", stage.id], cwd=root, env=environment(), capture_output=True, check=True)
    text = (hidden_folder(stage) / "solution.py").read_text(encoding="utf-8")
    text += f"\n\ndef {stage.criteria[-1].functions[0].partition('.')[0]}(*_, **__):\n    return None\n"
    save(stage, text)
    cold_command = [*run, "check", stage.id]
    seconds_of(cold_command, root, fine=(0, 1))
    cold: list[float] = []
    rows: list[float] = []
    verdicts: list[float] = []
    explained: list[float] = []
    with subprocess.Popen(
        [*run, "watch", stage.id, "--plain"], cwd=root, env={**environment(), "COLUMNS": "200"}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
    ) as watching:  # fmt: skip
        lines = _lines(watching.stdout)
        _until(VERDICT, lines)
        for number in range(saves):
            _rest(lines)
            started = time.perf_counter()
            save(stage, f"{text}\n# {number}\n")
            _until(ROW, lines)
            rows.append(time.perf_counter() - started)
            _until(VERDICT, lines)
            verdicts.append(time.perf_counter() - started)
            explained.append(max(verdicts[-1], _rest(lines) - started))
            cold.append(seconds_of(cold_command, root, fine=(0, 1)))
        watching.terminate()
    moments = rows, verdicts, explained
    ratios = [statistics.median(a / b for a, b in zip(each, cold, strict=True)) for each in moments]
    return Measured(stage.id, saves, *map(statistics.median, (cold, *moments)), *ratios)


def save(stage: Stage, text: str) -> None:
    """Replace the module in one step."""
    fresh = stage.module_path.with_name(".fresh")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, stage.module_path)


def _lines(stream: IO[str] | None) -> queue.Queue[str]:
    """Return a queue that is filled with the lines of a stream, as they come."""
    assert stream is not None
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _until(words: str, lines: queue.Queue[str]) -> None:
    """Wait for a line with these words; SystemExit where none comes."""
    ends_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends_at:
        with suppress(queue.Empty):
            if words in lines.get(timeout=1.0):
                return
    raise SystemExit(f"no line with {words!r} within {PATIENCE_S:g} s")


def _rest(lines: queue.Queue[str]) -> float:
    """Wait until nothing more is printed; return when the last line came, or 0."""
    last = 0.0
    with suppress(queue.Empty):
        while True:
            lines.get(timeout=QUIET_S)
            last = time.perf_counter()
    return last


def table(found: Measured) -> str:
    """Return what was measured as a few lines of text."""
    return (
        f"{found.stage}: {found.saves} saves and checks in turn, medians\n"
        f"  cold check        {found.cold_s * 1e3:7.0f} ms\n"
        f"  save to the row   {found.row_s * 1e3:7.0f} ms   {found.row_ratio:.2f} of it\n"
        f"  save to verdict   {found.verdict_s * 1e3:7.0f} ms   {found.ratio:.2f} of it\n"
        f"  save to the cause {found.explained_s * 1e3:7.0f} ms   {found.explained_ratio:.2f} of it\n"
        f"  goal              {found.goal} of it at most; for s15 on an idle machine {found.goal_s * 1e3:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
