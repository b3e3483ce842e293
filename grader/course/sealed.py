"""A learner's copy: the record of its release, and what its learner does not get, in bundles opened in memory only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.course.settings import find_course_root, read_settings
from grader.errors import CourseError, SealError

if TYPE_CHECKING:
    from grader.course.bundle import Content
    from grader.course.stage import Stage


RECORD = "release.json"
SCHEMA = 1
AGAIN = "Fetch this copy of the course again."
DATA = "data/"  # begins the paths of a stage's data, in its folder
OWN = (".git", ".grader")  # folders of a learner's, of which no release has a file but the grader's wheel
WHEELS = (".grader", "wheels")


@dataclass(frozen=True)
class ReleaseRecord:
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


def record_text(record: ReleaseRecord) -> str:
    """Return a record as it is written."""
    import json

    return json.dumps({"schema": SCHEMA, **asdict(record)}, indent=2, sort_keys=True) + "\n"


def read_record(hidden: Path) -> ReleaseRecord:
    """Return the record of a copy; CourseError where it cannot be read."""
    path = hidden / RECORD
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"{path.name} cannot be read: {error.strerror}"
        raise CourseError(what, "Fetch this copy of the course again.") from error
    return parsed_record(data, path.name)


def parsed_record(data: bytes, name: str) -> ReleaseRecord:
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


def _record(values: Mapping[str, Any]) -> ReleaseRecord | None:
    """Return what a record holds; None where a value is of another type."""
    course, key, self_paced, files = (values[name] for name in ("course", "key", "self_paced", "files"))
    texts = [course, key, *files, *files.values()] if isinstance(files, dict) else [None]
    if type(self_paced) is not bool or not all(isinstance(text, str) for text in texts) or not course.isprintable():
        return None
    return ReleaseRecord(course, key, self_paced, files, values.get("proven") is True)


def _is_inside(path: str) -> bool:
    """Say whether a path can be a course's file: an update deletes and replaces what the old record names."""
    parts = path.split("/")
    checked = parts[2:] if tuple(parts[:2]) == WHEELS else parts
    return path.isprintable() and not set(path) & set("\\:") and bool(checked) and all(map(_is_name, checked))


def _is_name(part: str) -> bool:
    return part not in ("", ".", "..") and part.lower() not in OWN


def public_files(stage: Stage, record: ReleaseRecord, below: str = "") -> dict[str, str]:
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


_VERSION = r"(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?"


def is_newer(version: str, than: str) -> bool:
    """Say whether a version comes after another; False where one is written another way: 0.2.0 after 0.2.0rc1."""
    one, other = _ordered(version), _ordered(than)
    return one is not None and other is not None and one > other


def _ordered(version: str) -> tuple[tuple[int, ...], str, int] | None:
    """Return what versions are ordered by: 1.0 is 1.0.0, and a pre-release comes before its release."""
    found = re.fullmatch(_VERSION, version)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), found[2] or "release", int(found[3] or 0)


def missing_stages(root: Path, hidden: Path, mistakes: list[str]) -> tuple[str, str | None]:
    """Return a line for each stage that is gone, and what brings it back; else mistakes, as in an author's course."""
    wrong = "\n".join(mistakes)
    if not (hidden / RECORD).is_file():
        return wrong, None
    try:
        record = read_record(hidden)
    except CourseError:
        return wrong, None  # whatever needs it says what is wrong
    named = [name for name in record.files if name.startswith("stages/") and name.endswith("/stage.toml")]
    gone = [f"{name}: is missing" for name in sorted(named) if not (root / name).is_file()]
    if not gone:
        return wrong, None
    return "\n".join(gone), "`grader update` puts it back." if record.self_paced else AGAIN


KEY_FILE = "GRADER_KEY_FILE"  # the environment's name for the file with the key to the hidden tests
SHIPPED_KEY = "tests.key"  # lies beside the bundles where a copy is meant for self-study


def is_copy(hidden: Path) -> bool:
    """Say whether a course is a learner's copy, with bundles in the hidden tests' place, be its record there or not."""
    return (hidden / RECORD).is_file() or next(hidden.glob("*.sealed"), None) is not None


def in_copy(start: Path) -> bool:
    """Say whether the course around a folder is a learner's copy; it is none where it cannot be read."""
    try:
        root = find_course_root(start)
        return is_copy(root / read_settings(root).hidden)
    except (CourseError, OSError):
        return False


def is_sealed(stage: Stage) -> bool:
    """Say whether a stage's hidden files are sealed; the author's copy has a folder of them."""
    return is_copy(stage.hidden_root) and not (stage.hidden_root / stage.name).is_dir()


def wanted_key(given: Path | None) -> Path | None:
    """Return the key file that was asked for, by option or else by the environment."""
    named = os.environ.get(KEY_FILE)
    return given or (Path(named) if named else None)


def public_only(stage: Stage) -> bool:
    """Say whether only a stage's public tests can be run, since the key to the hidden ones is somewhere else."""
    return is_sealed(stage) and _key_file(stage) is None


def is_self_paced(stage: Stage) -> bool:
    """Say whether a stage lies in a copy for self-study, whose key travels along: its learner can read all answers."""
    return is_sealed(stage) and (stage.hidden_root / SHIPPED_KEY).is_file()


def expect_key(stage: Stage, what: str) -> None:
    """Raise SealError where only a stage's public tests can be run, and what asks for more."""
    if public_only(stage):
        hint = "Name the file with the key: --key-file KEY, or GRADER_KEY_FILE in the environment."
        raise SealError(f"{what} needs the hidden tests of {stage.id}, which are sealed", hint)


def opened(stage: Stage) -> Content:
    """Return a stage's hidden files, and the released form of its public ones, without writing any of them anywhere.

    Raises SealError where there is no key or the bundle is not what was sealed, CourseError where stage.toml is not
    the released one: it says which answers pass.
    """
    from grader.course.bundle import Label, read_key, unseal  # most commands ask only whether something is sealed

    file = _key_file(stage)
    if file is None:
        hint = "They run when you submit. Whoever has the key names its file with --key-file or GRADER_KEY_FILE."
        raise SealError(f"the hidden tests and the solution of {stage.id} are sealed", hint)
    _expect_version(read_record(stage.hidden_root).course)
    key = read_key(file)
    path = stage.hidden_root / f"{stage.name}.sealed"
    content = unseal(_read(path), key, Label(stage.name, __version__, key.id), path.name)
    expect_released(stage, {f"stages/{stage.name}/stage.toml": digest(content.manifest.encode())})
    return content


def _expect_version(course: str) -> None:
    """Raise SealError unless a course is of this grader's version: tests and grader of one release fit each other."""
    if course == __version__:
        return
    older = is_newer(__version__, course)
    hint = "`grader update` brings the newer course." if older else f"Install the grader {course}, or a newer one."
    raise SealError(f"this folder has course {course}, and this grader is {__version__}", hint)


def public_tests(stage: Stage) -> tuple[Path, ...]:
    """Return the public tests of a stage in a learner's copy; CourseError where one is not the released one.

    Files that a learner adds beside them are left out.
    """
    record = read_record(stage.hidden_root)
    return expect_released(stage, public_files(stage, record))


def public_data(stage: Stage) -> tuple[Path, ...]:
    """Return the data of a stage in a learner's copy; CourseError where a file is not the released one."""
    wanted = public_files(stage, read_record(stage.hidden_root), DATA)
    expect_released(stage, wanted)
    return tuple(stage.folder.parent.parent / path for path in sorted(wanted))


def stub(stage: Stage) -> str:
    """Return the stub that a learner's copy was released with."""
    return _read(stage.hidden_root / f"{stage.name}.stub").decode("utf-8")


def _key_file(stage: Stage) -> Path | None:
    shipped = stage.hidden_root / SHIPPED_KEY
    return stage.key_file or (shipped if shipped.is_file() else None)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "It came with this copy of the course: fetch it again."
        raise CourseError(f"{path.name} cannot be read: {error.strerror}", hint) from error
