"""What `grader doctor` looks at: Python, packages, isolation tiers, the terminal, the course, the progress file."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.errors import CourseError, GraderError
from grader.manifest import Course, Stage, find_course_root, load_course, public_names

if TYPE_CHECKING:
    from grader.run.sandbox import Tier

Level = Literal["ok", "warning", "broken"]
PACKAGES = ("numpy", "pytest", "msgpack", "rich", "typer", "filelock")
LEAST_PYTHON = (3, 11)
PROBE = b"import numpy as np\n"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is, how it is, and what to do where it is not well."""

    topic: str
    level: Level
    what: str
    remedy: str = ""


def examine(start: Path, encoding: str, width: int, colour: bool) -> Iterator[Finding]:
    """Look at everything, one finding after the other; a broken thing never hides the next one."""
    yield _python()
    yield from (_package(name) for name in PACKAGES)
    yield from _isolation()
    yield _terminal(encoding, width, colour)
    yield from _course(start)


def _python() -> Finding:
    version, where = ".".join(map(str, sys.version_info[:3])), sys.prefix
    if sys.version_info < LEAST_PYTHON:
        return Finding(
            "python", "broken", f"{version} in {where}", "Python 3.11 or newer is needed; `uv sync` fetches it."
        )
    return Finding("python", "ok", f"{version} in {where}")


def _package(name: str) -> Finding:
    try:
        return Finding(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "broken", "is not installed", "Run `uv sync`.")


def _isolation() -> Iterator[Finding]:
    """Probe each tier by loading a module in it, which is what a check does."""
    from grader.run.sandbox import TIERS, why_missing

    works: list[str] = []
    for tier in TIERS:
        reason = why_missing(tier) or _cannot_load(tier)
        if reason is None:
            works.append(tier)
            used = ", and is what a check uses" if len(works) == 1 else ""
            yield Finding(f"isolation {tier}", "ok", f"works{used}")
        else:
            level: Level = "warning" if tier != TIERS[-1] or works else "broken"
            yield Finding(f"isolation {tier}", level, f"is not available: {reason}", _without(tier))


def _without(tier: Tier) -> str:
    if tier == "process":
        return "Without it nothing can be graded here, unless another tier works."
    return "Your own files can be checked without it. Before you grade other people's files, make it work."


def _cannot_load(tier: Tier) -> str | None:
    """Return why a module that imports NumPy cannot be loaded in a tier; None where it can."""
    from grader.run import sandbox
    from grader.run.process import Job, LearnerProcess, LoadFailed

    nowhere = Path(__file__).parent
    try:
        process = LearnerProcess(Job("probe.py", PROBE, 10.0, 10.0, 1024, nowhere), tier, sandbox.start(tier, nowhere))
        try:
            process.load()
        finally:
            process.kill()
    except LoadFailed as failed:
        return failed.problem.message
    except (GraderError, OSError) as error:
        return str(error)
    return None


def _terminal(encoding: str, width: int, colour: bool) -> Finding:
    shown = f"{width} columns, {encoding or 'unknown encoding'}, {'colour' if colour else 'no colour'}"
    if not encoding.lower().startswith("utf"):
        return Finding("terminal", "warning", shown, "Marks are shown in ASCII; PYTHONUTF8=1 gives UTF-8.")
    if width < 80:
        return Finding("terminal", "warning", shown, "Reports read best from 80 columns on.")
    return Finding("terminal", "ok", shown)


def _course(start: Path) -> Iterator[Finding]:
    try:
        root = find_course_root(start)
        course = load_course(root)
    except CourseError as error:
        yield from (Finding("course", "broken", line, error.hint or "") for line in error.message.splitlines())
        return
    mistakes = [finding for stage in course.stages for finding in _stage(stage)]
    if not mistakes:
        yield Finding("stages", "ok", f"{len(course.stages)} in {root}, each with README, stub, tests and solution")
    yield from mistakes
    yield _progress(course)


def _stage(stage: Stage) -> Iterator[Finding]:
    """Return what a stage lacks; nothing where it is whole."""
    from grader.mistakes import hidden_folder, load_mistakes, reference_source
    from grader.source_check import defined_names

    topic = f"course {stage.id}"
    hidden = hidden_folder(stage)
    for path in (stage.readme_path, stage.module_path):
        if not path.is_file():
            remedy = f"`grader reset {stage.id}` puts the stub there." if path == stage.module_path else ""
            yield Finding(topic, "warning", f"stages/{stage.name}/{path.name} is missing", remedy)
    for kind, folder in (("public", stage.tests_path), ("hidden", hidden)):
        marked = _marked_rows(folder)
        for row in stage.criteria:
            if row.id not in marked:
                yield Finding(topic, "broken", f"{row.id} has no {kind} test, so it can never pass")
        for name in sorted(marked - {row.id for row in stage.criteria}):
            yield Finding(topic, "broken", f"a {kind} test is marked {name!r}, which is no row of stage.toml")
    try:
        load_mistakes(stage)
        absent = [name for name in public_names(stage) if name not in defined_names(reference_source(stage).encode())]
        if absent:
            yield Finding(topic, "broken", f"the solution does not define {', '.join(absent)}")
    except (CourseError, SyntaxError) as error:
        yield Finding(topic, "broken", str(error))


def _marked_rows(folder: Path) -> set[str]:
    """Return the rows that tests of a folder are marked with, read from their text."""
    found: set[str] = set()
    for path in folder.glob("test_*.py"):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="criterion"), args=[ast.Constant(value=str(name))]):
                    found.add(name)
    return found


def _progress(course: Course) -> Finding:
    from grader.progress import Store

    store = Store(course.root)
    folder = store.folder if store.folder.exists() else course.root
    try:
        progress = store.read()
    except GraderError as error:
        return Finding("progress", "broken", error.message, error.hint or "")
    if progress.notice:
        return Finding("progress", "warning", progress.notice)
    if not os.access(folder, os.W_OK):
        return Finding("progress", "broken", f"{folder} cannot be written", "No pass can be recorded there.")
    return Finding("progress", "ok", f"{len(progress.passed)} passed, {len(progress.skipped)} skipped, in {store.file}")
