"""The checks of `grader doctor`: Python, packages, user, isolation tiers, terminal, course and progress file."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grader.course.manifest import load_course
from grader.course.sealed import is_copy, is_sealed, opened, public_only, public_tests
from grader.course.settings import find_course_root
from grader.course.stage import Course, Stage, public_names
from grader.errors import CourseError, GraderError

if TYPE_CHECKING:
    from grader.doctor.guards import Guard


def outlines(tree: ast.AST, lines: list[int]) -> Iterator[ast.AST]:
    """Yield the nodes of a module in which any of these lines lies: few of those of a test."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += (each for each in ast.iter_child_nodes(node) if _covers(each, lines))


def _covers(node: ast.AST, lines: list[int]) -> bool:
    """Say whether a node, with its decorators, has one of these lines, which are sorted; one without lines may have."""
    if (last := getattr(node, "end_lineno", None)) is None:
        return True
    first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last


Level = Literal["ok", "warning", "broken"]
PACKAGES = ("numpy", "pytest", "msgpack", "rich", "typer", "filelock", "tomli", "watchfiles")
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
LEAST_PYTHON = (3, 11)
_PARTS = {False: "README, stub, tests and solution", True: "README, stub, public tests and sealed ones"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is, how it is, and what to do where it is not well."""

    topic: str
    level: Level
    what: str
    remedy: str = ""
    guards: tuple[Guard, ...] = ()  # of a tier of isolation: what was tried in it
    promises: Mapping[str, str] = field(default_factory=dict)  # of a tier: what holds in it and what is left open


def examine(
    start: Path, encoding: str, width: int, colour: bool, plain: bool = False, every_tier: bool = True
) -> Iterator[Finding]:
    """Look at everything, one finding after the other; a broken thing never hides the next one.

    plain says that only ASCII is shown, by the locale or the encoding. Without every_tier only the tier of isolation
    that checks use is tried out, which takes a second for each.
    """
    yield _python()
    yield from _bytecode()
    yield from (_package(name) for name in PACKAGES)
    yield from _user()
    yield from _isolation(every_tier)
    yield _terminal(encoding, width, colour, plain)
    yield from _course(start)


def _python() -> Finding:
    version, where = ".".join(map(str, sys.version_info[:3])), sys.prefix
    if sys.version_info < LEAST_PYTHON:
        return Finding(
            "python", "broken", f"{version} in {where}", "Python 3.11 or newer is needed; `uv sync` fetches it."
        )
    return Finding("python", "ok", f"{version} in {where}")


def _bytecode() -> Iterator[Finding]:
    if os.environ.get(NO_BYTECODE):
        said = "Every command then compiles what it imports: unset the variable, or run `uv sync --compile-bytecode`."
        yield Finding("bytecode", "warning", f"{NO_BYTECODE} is set, so that Python keeps none", said)


def _package(name: str) -> Finding:
    try:
        return Finding(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, "broken", "is not installed", "Run `uv sync`.")


def _user() -> Iterator[Finding]:
    """Tell where the grader is root in name alone, so that no run gets a user of its own."""
    from grader.isolation import users

    if shortfall := users.shortfall():
        yield Finding("user", "warning", shortfall, users.REMEDY)


def _isolation(every: bool = True) -> Iterator[Finding]:
    """Set a probe to work in each tier, or in the strongest that works, as a check does with a learner's module."""
    from grader.isolation.tiers import TIERS, why_missing

    works: list[str] = []
    for tier in TIERS:
        guards: tuple[Guard, ...] = ()
        reason = why_missing(tier)
        if reason is None and works and not every:
            yield Finding(f"isolation {tier}", "ok", "is available, not tried: `grader doctor --every-tier` tries it")
            continue
        if reason is None:
            reason, guards = _tried_out(tier)
        if reason is None:
            works.append(tier)
            yield _working(tier, guards, used=len(works) == 1)
        else:
            level: Level = "warning" if tier != "process" or works else "broken"
            yield Finding(f"isolation {tier}", level, f"is unavailable: {reason}", _without(tier))


def _working(tier: str, guards: tuple[Guard, ...], used: bool) -> Finding:
    from grader.isolation.tier import find
    from grader.isolation.zygote import why_alone

    promises = {row: words.replace("*", "").replace("`", "") for row, words in find(tier).promises.items()}
    what = "works, and checks use it" if used else "works"
    if holding := [guard.name for guard in guards if guard.holds]:
        what += f". Tried and blocked: {', '.join(holding)}"
    if open_still := [guard.name for guard in guards if not guard.holds and not guard.promised]:
        what += f". It does not promise: {', '.join(open_still)}"
    if alone := why_alone(find(tier)):
        what += f". It starts an interpreter for each submission here, which takes longer than a fork ({alone})"
    if broken := [guard.name for guard in guards if not guard.holds and guard.promised]:
        remedy = "Do not grade other people's files in it. Where libseccomp is missing: `apt-get install libseccomp2`."
        return Finding(
            f"isolation {tier}", "warning", f"{what}. It fails at: {', '.join(broken)}", remedy, guards, promises
        )
    return Finding(f"isolation {tier}", "ok", what, guards=guards, promises=promises)


def _without(tier: str) -> str:
    if tier == "process":
        return "Without it nothing can be graded here, unless another tier works."
    needed = "Your own files can be checked without it. Before you grade other people's files, make it work"
    if tier == "bubblewrap" and sys.platform == "linux" and shutil.which("bwrap") is None:
        return f"{needed}: `apt-get install bubblewrap`, as root."
    return f"{needed}."


def _tried_out(tier: str) -> tuple[str | None, tuple[Guard, ...]]:
    """Return why a probe cannot be loaded in a tier, or what came of it."""
    from grader.doctor.guards import try_out
    from grader.sandbox.process import LoadFailed

    try:
        return None, try_out(tier)
    except LoadFailed as failed:
        return failed.problem.message, ()
    except (GraderError, OSError) as error:
        return str(error), ()


def _terminal(encoding: str, width: int, colour: bool, plain: bool = False) -> Finding:
    shown = f"{width} columns, {encoding or 'unknown encoding'}, {'colour' if colour else 'no colour'}"
    if not encoding.lower().startswith("utf"):
        return Finding("terminal", "warning", shown, "Marks are shown in ASCII; PYTHONUTF8=1 gives UTF-8.")
    if plain:
        said = "The locale is C, so only ASCII is shown; LC_ALL=C.UTF-8 shows every sign."
        return Finding("terminal", "warning", shown, said)
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
        yield Finding("stages", "ok", f"{len(course.stages)} in {root}, each with {_PARTS[is_copy(course.hidden)]}")
    yield from mistakes
    yield from _wheel(root)
    yield _progress(course)


def _wheel(root: Path) -> Iterator[Finding]:
    """Compare the wheel that the folder installs the grader from with its hash; nothing where it brings none."""
    from grader.setup.wheel import wheel_used

    if (used := wheel_used(root)) is not None:
        yield Finding("wheel", "broken" if used.remedy else "ok", used.what, used.remedy)


def _stage(stage: Stage) -> Iterator[Finding]:
    """Return what a stage lacks; nothing where it is whole."""
    from grader.course.answers import hidden_folder, load_mistakes, reference_source
    from grader.submission.source import defined_names

    topic = f"course {stage.id}"
    hidden = hidden_folder(stage)
    for path in (stage.readme_path, stage.module_path):
        if not path.is_file():
            back = f"grader reset {stage.id}" if path == stage.module_path else f"git checkout -- stages/{stage.name}"
            remedy = f"`{back}` puts it back."
            yield Finding(topic, "warning", f"stages/{stage.name}/{path.name} is missing", remedy)
    if is_sealed(stage):
        yield from _sealed(stage)
        return
    for kind, folder in (("public", stage.tests_path), ("hidden", hidden)):
        marked, all_seen = _marked_criteria(folder)
        for criterion in stage.criteria:
            if all_seen and criterion.id not in marked:
                yield Finding(topic, "broken", f"{criterion.id} has no {kind} test, so it can never pass")
        for name in sorted(marked - {each.id for each in stage.criteria}):
            yield Finding(topic, "broken", f"a {kind} test is marked {name!r}, which is not a criterion of stage.toml")
    try:
        load_mistakes(stage)
        defined = defined_names(reference_source(stage).encode())
        absent = [name for name in public_names(stage) if name not in defined]
        if absent:
            yield Finding(topic, "broken", f"the solution does not define {', '.join(absent)}")
    except (CourseError, SyntaxError) as error:
        yield Finding(topic, "broken", str(error))


def _sealed(stage: Stage) -> Iterator[Finding]:
    """Return why a stage of a learner's copy cannot be graded, as far as that can be seen without its key."""
    try:
        if public_only(stage):
            public_tests(stage)
        else:
            opened(stage)
    except GraderError as error:
        yield Finding(f"course {stage.id}", "broken", error.message, error.hint or "")


def _marked_criteria(folder: Path) -> tuple[set[str], bool]:
    """Return the criteria that tests of a folder are marked with, read from their text, and whether all could be read.

    A mark may be computed, as for each of several rules; a check sees it all the same.
    """
    found: set[str] = set()
    all_seen = True
    for path in folder.glob("test_*.py"):
        try:
            tree = ast.parse(text := path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in outlines(tree, [at for at, line in enumerate(text.splitlines(), 1) if b"criterion" in line]):
            match node:
                case ast.Call(func=ast.Attribute(attr="criterion"), args=[ast.Constant(value=str(name))]):
                    found.add(name)
                case ast.Call(func=ast.Attribute(attr="criterion")):
                    all_seen = False
    return found, all_seen


def _progress(course: Course) -> Finding:
    from grader.progress.store import Store, refused

    store = Store(course.root)
    folder = store.folder if store.folder.exists() else course.root
    try:
        progress = store.read()
    except GraderError as error:
        return Finding("progress", "broken", error.message, error.hint or "")
    if progress.notice:
        return Finding("progress", "warning", progress.notice)
    if why := refused(folder):
        return Finding("progress", "broken", f"{folder} cannot be written: {why}", "No pass can be recorded there.")
    return Finding("progress", "ok", f"{len(progress.passed)} passed, {len(progress.skipped)} skipped, in {store.file}")
