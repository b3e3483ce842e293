"""A course as bytes, for workers that share no disk with whoever grades: packed once, unpacked once in each process."""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.manifest import load_course
from grader.course.settings import PROJECT
from grader.course.stage import STAGES, Course
from grader.errors import GraderFault

_WHEN = (1980, 1, 1, 0, 0, 0)  # so that the same course gives the same bytes
_KEY = "tests.key"


@dataclass(frozen=True)
class Bundle:
    """The files that grading needs, as a zip archive, and its SHA-256; key opens what is sealed."""

    data: bytes
    digest: str
    key: bytes | None = None


def packed(course: Course) -> Bundle:
    """Return a course's stages, answers, and what its own table names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(course):
            archive.writestr(zipfile.ZipInfo(path.relative_to(course.root).as_posix(), _WHEN), path.read_bytes())
    key_file = course.stages[0].key_file
    key = key_file.read_bytes() if key_file is not None else None
    return Bundle(out.getvalue(), hashlib.sha256(out.getvalue()).hexdigest(), key)


def _files(course: Course) -> Iterator[Path]:
    settings = course.settings
    if not course.stages[0].hidden_root.resolve().is_relative_to(course.root.resolve()):
        raise GraderFault("the hidden tests lie outside of the course, so that it cannot be sent to other machines")
    names = {STAGES, settings.hidden, settings.drawings, settings.demo.file if settings.demo else None, PROJECT}
    for name in sorted(filter(None, names)):
        place = course.root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


_unpacked: dict[tuple[str, bytes | None], tuple[tempfile.TemporaryDirectory[str], Course]] = {}


def unpacked(bundle: Bundle) -> Course:
    """Return the course of a bundle, from a folder that only this user reads and that goes with this process."""
    known = bundle.digest, bundle.key
    if known not in _unpacked:
        if hashlib.sha256(bundle.data).hexdigest() != bundle.digest:
            raise GraderFault("the course came damaged")
        room = tempfile.TemporaryDirectory(prefix="grader-course-", ignore_cleanup_errors=True)
        root = Path(room.name) / "course"
        with zipfile.ZipFile(io.BytesIO(bundle.data)) as archive:
            archive.extractall(root)  # it comes from the process that gives out the work
        course = load_course(root)
        if bundle.key is not None:
            key = Path(room.name) / _KEY
            key.write_bytes(bundle.key)
            course = replace(course, stages=tuple(stage.with_key(key) for stage in course.stages))
        _unpacked[known] = room, course
    return _unpacked[known][1]
