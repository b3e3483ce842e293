"""The course that comes with an installed grader: every file of a learner's folder, in one archive beside the code."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader import __version__
from grader.course.sealed import RECORD, ReleaseRecord, is_newer, parsed_record, read_record
from grader.errors import CourseError, UsageError

ARCHIVE = "self_paced.zip"
PLACE = Path(__file__).resolve().parents[1] / ARCHIVE
STAMP = (1980, 1, 1, 0, 0, 0)  # of every file, so that the same course gives the same archive


@dataclass(frozen=True)
class Edition:
    """A course as a learner gets it: path -> bytes of every file; sealed is the folder of its record and bundles.

    wheel is the grader's own, and its hash, by their paths: its record cannot name what it lies in.
    """

    record: ReleaseRecord
    files: Mapping[str, bytes]
    sealed: str
    wheel: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def version(self) -> str:
        return self.record.course

    def path(self, name: str) -> str:
        """Return the path of a file beside the bundles."""
        return f"{self.sealed}/{name}"


def packed(files: Mapping[str, bytes], compressed: bool = True) -> bytes:
    """Return the archive of these files; not compressed, it has the same bytes whichever zlib Python was built with."""
    import zipfile  # every start of the grader asks only whether there is an archive

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            member = zipfile.ZipInfo(name, STAMP)
            member.create_system = 3  # Unix, wherever it is made
            archive.writestr(member, data, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED)
    return buffer.getvalue()


def unpacked(data: bytes) -> Edition:
    """Return the course in an archive; CourseError where it is none."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise CourseError(f"{ARCHIVE} cannot be read: {error}", "Install the grader again.") from error
    records = [name for name in files if PurePosixPath(name).name == RECORD]
    if len(records) != 1:
        what = f"{ARCHIVE} holds {len(records)} files {RECORD}, expected the one of its release"
        raise CourseError(what, "Install the grader again.")
    return Edition(parsed_record(files[records[0]], ARCHIVE), files, str(PurePosixPath(records[0]).parent))


def shipped() -> Edition:
    """Return the course that came with this grader; UsageError where none did."""
    try:
        data = PLACE.read_bytes()
    except FileNotFoundError as error:
        what = "this grader brings no course: only an installed one does"
        raise UsageError(what, "Where it lies beside a course, as here, `grader` works on that one.") from error
    except OSError as error:
        raise CourseError(f"{ARCHIVE} cannot be read: {error.strerror}", "Install the grader again.") from error
    return unpacked(data)


def is_shipped() -> bool:
    """Say whether a course came with this grader."""
    return PLACE.is_file()


def newer_course(hidden: Path) -> str | None:
    """Say that a newer course came with this grader than the one whose bundles lie in a folder; None where none did."""
    if not (is_shipped() and (hidden / RECORD).is_file()):
        return None
    try:
        course = read_record(hidden).course
    except CourseError:
        return None  # whatever needs it says what is wrong
    if not is_newer(__version__, course):
        return None
    return f"This folder has course {course}, and this grader brings {__version__}: `grader update` brings it in."
