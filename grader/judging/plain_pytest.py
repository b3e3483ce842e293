"""Modules of earlier stages, and data, under plain pytest: from the files of the course that a test lies in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from grader.course.answers import reference_source, stub_source
from grader.course.import_guard import GUARD, STAGES, Sources, forget
from grader.course.manifest import load_course, load_stage
from grader.course.provided import data_beside, named
from grader.course.sealed import wanted_key
from grader.course.settings import find_course_root
from grader.course.stage import Stage
from grader.errors import CourseError, SealError, SubmissionError
from grader.submission import Snapshot, take
from grader.submission.earlier import used_modules

_current: list[tuple[Path, bool, Sources]] = []  # the stage whose tests run, whether a hidden one does, what is served


def lend(folder: Path, hidden: bool) -> None:
    """Let the module of a stage's folder import earlier ones, or, for a hidden test, their references.

    A learner's own module serves once it is more than the stub; nothing is looked up in the record of passes.
    """
    if _current and _current[0][:2] == (folder, hidden):
        return
    if _current:
        GUARD.withdraw(_current.pop()[2])
        forget({STAGES})
    if not (folder / "stage.toml").is_file() or not load_stage(folder).uses:
        return
    stage = _stage(folder)
    texts, files = _texts(stage, hidden)
    sources = Sources(texts, apart={f"{STAGES}.{stage.name}.tests": stage.tests_path}, files=files, user=stage.id)
    forget({STAGES})
    GUARD.serve(sources)
    _current.append((folder, hidden, sources))


def stage_folder(test: Path) -> Path:
    """Return the folder of the stage that a test is about: around tests/, or of the same name as a hidden test's."""
    if test.parent.name == "tests":
        return test.parent.parent
    return find_course_root(test.parent) / STAGES / test.parent.name


def plain_data(test: Path) -> Callable[[str], bytes]:
    """Return what reads the files that lie in a stage's data folder."""
    folder = stage_folder(test)
    return lambda name: named(data_beside(folder), name, folder.name)


@cache
def _stage(folder: Path) -> Stage:
    course = load_course(find_course_root(folder))
    return next(each for each in course.stages if each.folder.name == folder.name).with_key(wanted_key(None))


def _texts(stage: Stage, hidden: bool) -> tuple[dict[str, Callable[[], str]], dict[str, str]]:
    """Return by full name what gives each module's text, and the files that tracebacks name."""
    if hidden:
        return {used.import_name: partial(reference_source, used) for used in stage.builds_on}, {}
    root = stage.folder.parent.parent
    found = used_modules(stage, partial(_begun, root), lambda used, digest: True)
    files = {each.name: str(root / each.label) for each in found if each.use.source != "reference"}
    return {each.name: partial(each.text.decode, "utf-8-sig", "replace") for each in found}, files


def _begun(root: Path, used: Stage) -> Snapshot | None:
    try:
        mine = take(used, None, root)
        return None if mine.source.replace(b"\r\n", b"\n") == stub_source(used).encode() else mine
    except (SubmissionError, CourseError, SealError):
        return None
