"""Stages that build on earlier ones: who may import whose module, and the references that trusted code gets for them.

A stage imports a module of another by its full name, stages.<stage>.<module>. In the trusted process that is always
the reference, run from memory: a learner's file of that path is never executed there, whatever sys.path holds.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from grader.course import sealed
from grader.course.answers import reference_source
from grader.course.packages import set_aside
from grader.course.stage import STAGES, Stage
from grader.errors import CourseError

Text = Callable[[], str]


def given_text(stage: Stage, used: Stage) -> tuple[str, str] | None:
    """Return the place and the text of what a stage, or one that it builds on, gives for a used stage's module.

    It is the released text where the course is a learner's copy. CourseError where it cannot be read.
    """
    givers = (each for each in (stage, *reversed(stage.builds_on)) if used.id in each.uses)
    return next((found for giver in givers if (found := _given_by(giver, used)) is not None), None)


def _given_by(giver: Stage, used: Stage) -> tuple[str, str] | None:
    path = giver.given_path(used)
    shown = path.relative_to(giver.folder.parent.parent).as_posix()
    if sealed.is_sealed(giver) and not sealed.public_only(giver):
        text = sealed.opened(giver).given.get(path.name)
        return None if text is None else (shown, text)
    if not path.is_file():
        return None
    try:
        return shown, path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CourseError(f"{shown} cannot be read: {error}") from error


def reference_texts(stage: Stage) -> dict[str, Text]:
    """Return by full name what gives the reference of each stage that one builds on; sealed ones are opened then.

    Without the key to them it is the stub, as for the stage itself.
    """
    return {used.import_name: partial(_trusted, used) for used in stage.builds_on}


def _trusted(used: Stage) -> str:
    return sealed.stub(used) if sealed.public_only(used) else reference_source(used)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `stages` and the modules below it among texts, and refuses every other: no file is ever looked at.

    files holds what tracebacks call a text, where that is a file. Tests of the stage itself, which pytest imports from
    the files that it is given, are left to it.
    """

    def __init__(self, stage: Stage, texts: Mapping[str, Text], files: Mapping[str, str] | None = None) -> None:
        self.stage = stage
        self.texts = texts
        self.files = files or {}
        self._tests = f"{STAGES}.{stage.name}.tests"
        own = {STAGES, f"{STAGES}.{stage.name}", self._tests}
        self.packages = own | {name.rpartition(".")[0] for name in texts}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != STAGES:
            return None
        if name in self.texts or name in self.packages:
            return importlib.machinery.ModuleSpec(name, self, origin=f"<{name}>", is_package=name in self.packages)
        if name.startswith(f"{self._tests}."):
            return None
        there = ", ".join(self.texts) or "no module of another stage"
        raise ModuleNotFoundError(f"No module named {name!r}: {self.stage.id} may import {there}", name=name)

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if name in self.texts:
            file = self.files.get(name, f"<{name}>")
            exec(compile(self.texts[name](), file, "exec", dont_inherit=True), module.__dict__)


@contextlib.contextmanager
def references_in_place(stage: Stage) -> Iterator[None]:
    """Let what a stage builds on be imported as references while the block lasts, and nothing else below `stages`."""
    finder = Finder(stage, reference_texts(stage))
    with set_aside({STAGES}):
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
