"""What a learner's copy says of itself: the version and the digest of each file that it was released with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import CourseError

if TYPE_CHECKING:
    from grader.course.stage import Stage

RECORD = "release.json"
SCHEMA = 1
AGAIN = "Fetch this copy of the course again."
DATA = "data/"  # begins the paths of a stage's data, in its folder
OWN = (".git", ".grader")  # folders of a learner's, of which no release has a file but the grader's wheel
WHEELS = (".grader", "wheels")


@dataclass(frozen=True)
class Record:
    """A release: course version, where the key is, the key's id, and path -> digest of every file but the bundles.

    proven says that each reference passed its own tests when the release was made.
    """

    course: str
    key: str
    self_paced: bool
    files: Mapping[str, str]
    proven: bool = False


def digest(data: bytes) -> str:
    """Return a file's SHA-256 in hexadecimal; a checkout that changes line ends changes nothing else."""
    import hashlib  # loads OpenSSL, which `grader --help` needs not

    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def record_text(record: Record) -> str:
    """Return a record as it is written."""
    import json

    return json.dumps({"schema": SCHEMA, **asdict(record)}, indent=2, sort_keys=True) + "\n"


def read_record(hidden: Path) -> Record:
    """Return the record of a copy; CourseError where it cannot be read."""
    path = hidden / RECORD
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"{path.name} cannot be read: {error.strerror}"
        raise CourseError(what, "Fetch this copy of the course again.") from error
    return parsed_record(data, path.name)


def parsed_record(data: bytes, name: str) -> Record:
    """Return the record in a file's bytes; CourseError where there is none, or one of a newer grader."""
    import json  # `grader --help` asks only whether there is a record

    try:
        values = json.loads(data)
        schema = values["schema"]
        if type(schema) is int and schema > SCHEMA:
            what = f"{name} was written by a newer grader: it has the schema {schema}, and this one reads {SCHEMA}"
            raise CourseError(what, "Install the newest grader.")
        found = _record(values) if schema == SCHEMA else None
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if found is None:
        what = f"{name} cannot be read: expected the record of a release, schema {SCHEMA}"
        raise CourseError(what, AGAIN)
    if (odd := next((path for path in found.files if not _is_inside(path)), None)) is not None:
        what = f"{name} names {odd!r:.160}, expected files of the course, by their paths in its folder"
        raise CourseError(what, AGAIN)
    return found


def _record(values: Mapping[str, Any]) -> Record | None:
    """Return what a record holds; None where a value is of another type."""
    course, key, self_paced, files = (values[name] for name in ("course", "key", "self_paced", "files"))
    texts = [course, key, *files, *files.values()] if isinstance(files, dict) else [None]
    if type(self_paced) is not bool or not all(isinstance(text, str) for text in texts) or not course.isprintable():
        return None
    return Record(course, key, self_paced, files, values.get("proven") is True)


def _is_inside(path: str) -> bool:
    """Say whether a path can be a course's file: an update deletes and replaces what the old record names."""
    parts = path.split("/")
    checked = parts[2:] if tuple(parts[:2]) == WHEELS else parts
    return path.isprintable() and not set(path) & set("\\:") and bool(checked) and all(map(_is_name, checked))


def _is_name(part: str) -> bool:
    return part not in ("", ".", "..") and part.lower() not in OWN


def public_files(stage: Stage, record: Record, below: str = "") -> dict[str, str]:
    """Return path -> digest of what a check without hidden tests goes by: the manifest and the public tests.

    With a folder of the stage's it is the files in there, its README left out.
    """
    own = f"stages/{stage.name}/"
    if below:
        files = {path: wanted for path, wanted in record.files.items() if path.startswith(own + below)}
        return {path: wanted for path, wanted in files.items() if not path.endswith("/README.md")}
    return {
        path: wanted
        for path, wanted in record.files.items()
        if path == f"{own}stage.toml" or (path.startswith(f"{own}tests/test_") and path.endswith(".py"))
    }


def expect_released(stage: Stage, wanted: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the tests among a stage's files, given as path -> digest; CourseError where one is not as released."""
    root = stage.folder.parent.parent
    for path, expected in wanted.items():
        try:
            found = digest((root / path).read_bytes())
        except OSError as error:
            raise CourseError(f"{path} cannot be read: {error.strerror}", "Put the released file back.") from error
        if found != expected:
            hint = "Put the released file back (git knows it); tests of your own go into a file of their own."
            raise CourseError(f"{path} differs from the released file, so it proves nothing", hint)
    return tuple(root / path for path in sorted(wanted) if path.endswith(".py"))
