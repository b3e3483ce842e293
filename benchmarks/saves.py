"""`grader watch`: processor time from a save to its verdict, beside a cold check of the same module.

The module is right but for its last function, so that no pass is recorded. A save adds a line that says nothing, or
brings in another style, whose answers differ from those before. A second count goes on until nothing more is printed:
it includes the cause and whatever is prepared for the next save.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from benchmarks.cold import check_of
from benchmarks.graders import folders, grader
from benchmarks.processor import BenchmarkError, counted, environment
from benchmarks.result import Result, medians, ratio
from grader.course.answers import alternative_sources, reference_source
from grader.course.manifest import load_course
from grader.course.stage import Course, Stage

GOAL = 0.25  # of a cold check
VERDICT = re.compile(r"\b\d+ of \d+ (?:rows|criteria)\b")
PATIENCE_S, QUIET_S = 60.0, 1.0
UNTIL = ("verdict", "quiet")


def saves(course: Course, stage: Stage, number: int, runs: int) -> Result:
    """Measure saves of both kinds, with cold checks between them, in a course folder of their own."""
    styles = [reference_source(stage), *alternative_sources(stage).values()]
    kinds = {"a line more": styles[:1], "another style": styles}
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        copy = copied(course, Path(name) / "course")
        watched = copy.find(stage.id)
        check_of(course, stage, styles[0], Path(name), "auto")  # writes bytecode
        for _ in range(runs):
            for kind, texts in kinds.items():
                for until in UNTIL:
                    save, check = _watched(course, watched, [_unfinished(stage, text) for text in texts], number, until)
                    found.setdefault(f"{kind}, to {until}", []).append(save)
                    found.setdefault(f"check beside {kind}, to {until}", []).append(check)
    ratios = [
        ratio(found, each, f"check beside {each}", at_most=GOAL if each.endswith("verdict") else None)
        for each in (f"{kind}, to {until}" for kind in kinds for until in UNTIL)
    ]
    return Result("watch", stage.id, runs, "s of processor time", medians(found), ratios, {"saves": number})


def copied(course: Course, folder: Path) -> Course:
    """Copy what a course is made of, so that nothing is recorded in the user's own."""
    for name in ("stages", *folders(course)):
        shutil.copytree(course.root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(course.root / "pyproject.toml", folder)
    return load_course(folder)


def _unfinished(stage: Stage, text: str) -> str:
    """Return a right module whose last function gives nothing."""
    last = stage.criteria[-1].functions[0].partition(".")[0]
    return f"{text}\n\ndef {last}(*_, **__):\n    return None\n"


def _watched(course: Course, stage: Stage, texts: Sequence[str], number: int, until: str) -> tuple[float, float]:
    """Return the mean processor time of a save, and of the cold check that follows each."""
    root = stage.folder.parent.parent
    start = grader("start", stage.id)
    subprocess.run(start, cwd=root, env=environment(), capture_output=True, check=False)  # again, it changes nothing
    _save(stage, f"{texts[0]}\n# first\n")
    checks = []
    with counted(grader("watch", stage.id, "--plain"), root) as watch:
        lines = _lines(watch.lines)
        _verdict(lines)
        _quiet(lines)
        for place in range(number):
            text = f"{texts[(place + 1) % len(texts)]}\n# {place}\n"
            with watch.counting():
                _save(stage, text)
                _verdict(lines)
                if until == "quiet":
                    _quiet(lines)
            _quiet(lines)
            checks.append(check_of(course, stage, text, root, "auto"))
        return watch.end("q\n") / number, statistics.fmean(checks)


def _save(stage: Stage, text: str) -> None:
    """Replace the module in one step, as editors do."""
    fresh = stage.module_path.with_name(".fresh")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, stage.module_path)


def _lines(stream: IO[str]) -> queue.Queue[str]:
    """Return a queue that a thread fills with the lines of a stream."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _verdict(lines: queue.Queue[str]) -> None:
    """Wait for the line with the verdict; BenchmarkError where none comes."""
    with suppress(queue.Empty):
        while not VERDICT.search(lines.get(timeout=PATIENCE_S)):
            pass
        return
    raise BenchmarkError(f"grader watch printed no line like '1 of 2 rows' for {PATIENCE_S:g} s")


def _quiet(lines: queue.Queue[str]) -> None:
    """Wait until nothing more is printed."""
    with suppress(queue.Empty):
        while True:
            lines.get(timeout=QUIET_S)
