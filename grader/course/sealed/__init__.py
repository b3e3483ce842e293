"""What a learner does not get of a stage, in a learner's copy: sealed bundles, opened in memory only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.course.root import find_course_root, read_settings
from grader.course.sealed.copy import DATA, RECORD, digest, expect_released, public_files, read_record
from grader.course.versions import is_newer
from grader.errors import CourseError, SealError

if TYPE_CHECKING:
    from grader.course.sealed.bundle import Content
    from grader.course.stage import Stage

__all__ = [
    "SHIPPED_KEY",
    "expect_key",
    "in_copy",
    "is_copy",
    "is_sealed",
    "is_self_paced",
    "opened",
    "public_data",
    "public_only",
    "public_tests",
    "stub",
    "wanted_key",
]
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
    from grader.course.sealed.bundle import Label, unseal  # most commands ask only whether something is sealed
    from grader.course.sealed.keys import read_key

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
