"""A learner's copy of the small good stage, sealed as a release seals it, for tests that change things in it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from grader import __version__
from grader.classroom.release import sealed
from grader.course.bundle import SealKey
from grader.course.manifest import load_course
from grader.course.sealed import RECORD, SHIPPED_KEY, ReleaseRecord, digest, record_text
from grader.course.stage import Course, Stage
from grader.course.stub import stub_of
from tests.support.good_stage import SOLUTION, write_stage

NAME = "s90_small"
KEY = SealKey(hashlib.sha256(b"a key of the tests").digest())
OTHER_KEY = SealKey(hashlib.sha256(b"another key of the tests").digest())


class SmallCopy:
    """An author's course of one stage in folder/author, and the learner's copy of it in folder/copy."""

    def __init__(self, folder: Path, *, shipped: bool = False) -> None:
        author = folder / "author"
        write_stage(author / "stages", author / "hidden", NAME)
        self.author = load_course(author, author / "hidden")
        self.root = folder / "copy"
        self.hidden = self.root / "hidden"
        self.key_file = folder / "tests.key"
        self.key_file.write_text(KEY.text)
        write_stage(self.root / "stages", folder / "unused", NAME)
        self.hidden.mkdir()
        self.bundle = self.hidden / f"{NAME}.sealed"
        self.bundle.write_bytes(sealed(self.author.stages[0], KEY))
        (self.hidden / f"{NAME}.stub").write_text(stub_of(SOLUTION))
        paths = sorted(path for path in self.root.rglob("*") if path.is_file() and path.parent != self.hidden)
        files = {path.relative_to(self.root).as_posix(): digest(path.read_bytes()) for path in paths}
        (self.hidden / RECORD).write_text(record_text(ReleaseRecord(__version__, KEY.id, shipped, files)))
        if shipped:
            (self.hidden / SHIPPED_KEY).write_text(KEY.text)

    def course(self, key_file: Path | None = None) -> Course:
        """Return the copy's course, as it is opened with a key or without."""
        course = load_course(self.root, self.hidden)
        return replace(course, stages=tuple(replace(stage, key_file=key_file) for stage in course.stages))

    def stage(self, key_file: Path | None = None) -> Stage:
        return self.course(key_file).stages[0]

    @property
    def keyed(self) -> Stage:
        return self.stage(self.key_file)
