"""A judge's content of one stage: test files, from disk or opened in memory, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course import sealed
from grader.course.answers import (
    ALTERNATIVES,
    alternative_sources,
    hidden_folder,
    load_mistakes,
    reference_source,
    stub_source,
)
from grader.course.bundle import Content
from grader.course.provided import data_files
from grader.course.sealed import public_only
from grader.course.stage import Stage
from grader.process import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.diagnosis.answers import Answers, RightModules


@dataclass(frozen=True)
class TestFiles:
    """The test files of one stage that the grader vouches for.

    sources holds the text of those that lie in memory only; modules what they import, by full name; data the files
    that they read, by name.
    """

    __test__ = False
    public: tuple[Path, ...]
    hidden: tuple[Path, ...]
    sources: Mapping[Path, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)


def test_files(stage: Stage) -> TestFiles:
    """Return the tests of a stage and their data; CourseError or SealError where they cannot be read."""
    if public_only(stage):
        return TestFiles(sealed.public_tests(stage), (), data=data_files(stage))
    if sealed.is_sealed(stage):
        return _in_memory(stage, sealed.opened(stage))
    public, hidden = (sorted(folder.glob("test_*.py")) for folder in (stage.tests_path, hidden_folder(stage)))
    return TestFiles(tuple(public), tuple(hidden), data=data_files(stage))


def _in_memory(stage: Stage, content: Content) -> TestFiles:
    """Return the tests that were sealed, under the names that they have in the author's copy."""
    folder = hidden_folder(stage)
    tests = {name for name in content.hidden if name.startswith("test_")}
    public = {stage.tests_path / name: text for name, text in sorted(content.public.items())}
    hidden = {folder / name: content.hidden[name] for name in sorted(tests)}
    package = stage.hidden_package
    others = {
        f"{package}.{name.removesuffix('.py')}": text
        for name, text in content.hidden.items()
        if name.endswith(".py") and name not in tests and not name.startswith(ALTERNATIVES)
    }
    return TestFiles(tuple(public), tuple(hidden), public | hidden, others, content.data)


def answers(stage: Stage, source: bytes, prepared: RightModules | None = None) -> Answers:
    """Return the reference and the known mistakes; without the key to them what the stub tells.

    source is the text of the module whose answers are explained, prepared what was made ahead of the stage's own.
    """
    from grader.diagnosis.answers import Answers

    if public_only(stage):
        return Answers(stage, sealed.stub(stage), (), is_stub=True)
    others = partial(alternative_sources, stage)
    return Answers(
        stage, reference_source(stage), load_mistakes(stage), source, False, others, prepared, stub_source(stage)
    )


class Ahead:
    """The answers of one stage; judges that are forked inherit what was made of them."""

    _has_made = False  # any of this process

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._prepared: RightModules | None = None

    def read(self) -> None:
        """Import what explains, and read the answers."""
        import grader.diagnosis.causes
        import grader.diagnosis.explanation  # noqa: F401

        with suppress(Exception):  # a judge meets it again, and tells it
            answers(self._stage, b"")

    @property
    def is_made(self) -> bool:
        return self._prepared is not None

    def make(self) -> None:
        """Parse, compile and run them; this takes as long as a few tests, and is done once."""
        if self._prepared is not None:
            return
        with suppress(Exception), uncollected(stays=not Ahead._has_made):  # of later stages, those before would stay
            self._prepared = answers(self._stage, b"").prepare()
        Ahead._has_made = True

    def about(self, source: bytes) -> Callable[[], Answers]:
        """Return what makes the answers to one module, given as its text."""
        return partial(answers, self._stage, source, self._prepared)
