"""The course as an installed grader brings it to a learner, and the proof that what was built holds no answers."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.release import Plan, contents, expect_sound, shipped_key
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import CourseError
from grader.setup.edition import ARCHIVE, packed

AUTHORS = ("grader/tests", "benchmarks")  # and the course's own folders of answers


def self_paced(root: Path) -> bytes:
    """Return the archive of a course for self-study, without the grader; what it is put into is searched for leaks.

    It is unproven: the workflow that publishes has proven every stage when it builds.
    """
    course = load_course(root)
    files, key = contents(course, Plan(course.stages, None))
    return packed(files | shipped_key(course, key))


def expect_no_answers(root: Path, artifact: Path) -> None:
    """Raise CourseError where a wheel or an sdist holds a file of the author's alone, or hidden text in any file."""
    course = load_course(root)
    files = dict(_members(artifact))
    for folder in _authors(course):
        if found := next((name for name in files if name.startswith(f"{folder}/")), None):
            what = f"{artifact.name} holds {found}, which only the author's copy may hold"
            raise CourseError(what, "Leave it out in pyproject.toml, under tool.hatch.build.")
    expect_sound(course, files)


def _authors(course: Course) -> Iterator[str]:
    yield from (*AUTHORS, course.settings.hidden)
    if course.settings.demo is not None:
        yield str(Path(course.settings.demo.file).parent.as_posix())


def _members(artifact: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a wheel or an sdist by their path in it, and those of the packed course in their turn."""
    if artifact.name.endswith(".whl"):
        yield from _zipped(artifact.read_bytes(), "")
        return
    with tarfile.open(artifact) as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                yield from _whole(member.name.partition("/")[2], file.read())


def _zipped(data: bytes, before: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            yield from _whole(f"{before}{name}", archive.read(name))


def _whole(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    if name.endswith(f"/{ARCHIVE}"):
        yield from _zipped(data, f"{name}/")
    else:
        yield name, data
