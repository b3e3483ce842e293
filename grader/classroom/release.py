"""The learner's copy of a course: stages and the grader's wheel; what a learner does not get is sealed, or left out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.capstone.plan import FOLDER as CAPSTONE
from grader.capstone.plan import has_capstone, read_plan
from grader.classroom.leaks import leaks
from grader.classroom.pages import linked
from grader.classroom.paperwork import paperwork
from grader.course.answers import ALTERNATIVES, PATCHES, hidden_folder, reference_source
from grader.course.bundle import NONCE_BYTES, Content, Label, SealKey, new_key, seal
from grader.course.provided import FOLDER, data_beside
from grader.course.sealed import RECORD, SHIPPED_KEY, ReleaseRecord, digest, record_text
from grader.course.stage import Course, Stage
from grader.course.stub import stub_of
from grader.errors import CourseError, UsageError
from grader.setup.wheel import engine_files, engine_paths, wheel_files

if TYPE_CHECKING:
    from grader.authoring.verify import OnResult

GRADER = Path(__file__).resolve().parents[1]
HOME = GRADER.parent
KINDS = (".py", ".html", ".css", ".js", ".woff2", ".txt", ".json", ".ini", ".toml", ".typed")  # of drawings
STAGE_KINDS = (".py", ".md", ".toml", ".svg", ".png", ".npz", ".txt", ".csv")
ROOMS = ("authoring", "similarity")  # of the grader, that no learner needs
CLASSROOM = ("release.py", "leaks.py", "packing.py", "pages.py", "paperwork.py", "templates")
LEFT_OUT = (*ROOMS, *(f"classroom/{name}" for name in CLASSROOM))
SHOWN = 20  # leaks in one message


@dataclass(frozen=True)
class Plan:
    """Which stages to release; without a key one is made and shipped, for self-study.

    proven says that each reference has to pass its own tests first, which the copy's record says as well.
    """

    stages: tuple[Stage, ...]
    key: SealKey | None
    proven: bool = False


def release(course: Course, plan: Plan, target: Path, on_result: OnResult | None = None) -> tuple[str, ...]:
    """Write a learner's copy into a new or empty folder and return its files; nothing is written where anything fails.

    The plan's stages are whole: none requires or uses one that is not among them. Raises UsageError where target cannot
    take it, CourseError where it would hold hidden text, or where a reference does not pass though the plan wants it.
    """
    _expect_free(target, course)
    engine = engine_files(_own_files())
    wheel = wheel_files(engine)
    files, key = contents(course, plan, wheel)
    expect_sound(course, engine | {name: data for name, data in files.items() if name not in wheel}, key)
    if plan.proven:
        from grader.authoring.verify import expect_sound_stages  # needs pytest, which a build of the package lacks

        expect_sound_stages(course, plan.stages, on_result)
    if plan.key is None:
        files |= shipped_key(course, key)
    _write(target, files)
    return tuple(sorted(files))


def contents(course: Course, plan: Plan, wheel: Mapping[str, bytes] | None = None) -> tuple[dict[str, bytes], SealKey]:
    """Return the files of a learner's copy, but for a key that is shipped, and the key that its bundles have.

    Without a wheel it is the folder of a learner whose grader puts its own into it.
    """
    key = plan.key or new_key()
    files = copied(course, plan.stages)
    files |= paperwork(course, plan.stages, HOME, plan.key is None, released=wheel is not None)
    files |= {page: linked(files[page], page, files) for page in course.settings.pages} | dict(wheel or {})
    digests = {name: digest(data) for name, data in files.items()}
    record = ReleaseRecord(__version__, key.id, plan.key is None, digests, plan.proven)
    hidden = course.settings.hidden
    files[f"{hidden}/{RECORD}"] = record_text(record).encode()
    for stage in plan.stages:
        files[f"{hidden}/{stage.name}.sealed"] = sealed(stage, key)
    return files, key


def shipped_key(course: Course, key: SealKey) -> dict[str, bytes]:
    """Return the file with the key, which a copy for self-study has beside its bundles."""
    return {f"{course.settings.hidden}/{SHIPPED_KEY}": key.text.encode()}


def copied(course: Course, stages: tuple[Stage, ...]) -> dict[str, bytes]:
    """Return the files that a learner gets as they are, and the stubs, which the solutions make."""
    files: dict[str, Path] = {}
    if (drawings := course.settings.drawings) is not None:
        folder = course.root / drawings
        files |= {f"{drawings}/{path.relative_to(folder).as_posix()}": path for path in _below(folder, KINDS)}
    for stage in stages:
        paths = (path for path in _below(stage.folder, STAGE_KINDS) if path != stage.module_path)
        files |= {f"stages/{stage.name}/{path.relative_to(stage.folder).as_posix()}": path for path in paths}
        files |= {
            f"stages/{stage.name}/{FOLDER}/{name}": stage.folder / FOLDER / name for name in data_beside(stage.folder)
        }
    files |= _capstone(course, stages)
    found = {name: _read(path) for name, path in sorted(files.items())}
    for stage in stages:
        stub = stub_of(reference_source(stage), stage.importable).encode()
        found |= {f"stages/{stage.name}/{stage.module}": stub, f"{course.settings.hidden}/{stage.name}.stub": stub}
    return found


def _capstone(course: Course, stages: tuple[Stage, ...]) -> dict[str, Path]:
    """Return the files of the course's capstone, if all that it builds on is released."""
    if not has_capstone(course) or not {each.id for each in read_plan(course).stage.builds_on} <= {
        s.id for s in stages
    }:
        return {}
    folder = course.root / CAPSTONE
    return {f"{CAPSTONE}/{path.relative_to(folder).as_posix()}": path for path in _below(folder, STAGE_KINDS)}


def sealed(stage: Stage, key: SealKey) -> bytes:
    """Return a stage's bundle: all of its hidden files and answers, and its public tests and manifest."""
    hidden, tests = hidden_folder(stage), stage.tests_path
    paths = sorted([*hidden.glob("*.py"), *hidden.glob(PATCHES), *(hidden / ALTERNATIVES).glob("*.py")])
    content = Content(
        {path.relative_to(hidden).as_posix(): _read(path).decode() for path in paths},
        {path.name: _read(path).decode() for path in sorted(tests.glob("test_*.py"))},
        _read(stage.folder / "stage.toml").decode(),
        data_beside(stage.folder),
        {path.name: _read(path).decode() for path in _given(stage)},
    )
    return seal(content, Label(stage.name, __version__, key.id), key, os.urandom(NONCE_BYTES))


def _given(stage: Stage) -> list[Path]:
    """Return what a stage gives in place of modules of other stages."""
    return [place for used in stage.builds_on if (place := stage.given_path(used)).is_file()]


def _own_files() -> list[Path]:
    """Return the grader's files that a learner gets: nothing of a course, and no command of an author's."""
    return engine_paths(LEFT_OUT)


def _below(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of these kinds, none of a hidden folder or of a cache."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix in kinds and path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path


def _expect_free(target: Path, course: Course) -> None:
    """Raise UsageError unless target is a new or an empty folder, and none that the copy is made of."""
    place = target.resolve()
    for part in (GRADER, course.root / "stages", course.hidden):
        if place.is_relative_to(part.resolve()):
            raise UsageError(f"{target} lies in {part}, which the copy is made of", "Name a folder of its own.")
    try:
        taken = any(target.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}", "Name a new folder.") from error
    if taken:
        raise UsageError(f"{target} is not empty, and nothing in it is overwritten", "Name a new or an empty folder.")


def whole(course: Course, wanted: Iterable[Stage]) -> tuple[Stage, ...]:
    """Return stages, and all that they build on however far away, in the order of the course."""
    names: set[str] = set()
    queue = [stage.id for stage in wanted]
    while queue:
        if (name := queue.pop()) not in names:
            names.add(name)
            stage = course.find(name)
            queue += [*stage.requires, *stage.uses]
    return tuple(stage for stage in course.stages if stage.id in names)


def expect_sound(course: Course, files: Mapping[str, bytes], key: SealKey | None = None) -> None:
    """Raise CourseError where hidden text, or the key, is left in the files."""
    hidden = {f"{stage.hidden_place}/{name}": text for stage in course.stages for name, text in _hidden_texts(stage)}
    found = leaks(files, hidden | ({"the key": key.text} if key is not None else {}), _public_texts(course))
    if not found:
        return
    lines = [f"{leak.file} holds hidden text: {leak.origin}" for leak in found[:SHOWN]]
    lines += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    raise CourseError("\n".join(lines), "Nothing was written. Take the text out of these files, or out of the answers.")


def _hidden_texts(stage: Stage) -> Iterator[tuple[str, str]]:
    folder = hidden_folder(stage)
    for path in _below(folder, (".py", ".toml", ".md", ".json", ".txt")):
        yield path.relative_to(folder).as_posix(), _read(path).decode()


def _public_texts(course: Course) -> Iterator[str]:
    """Yield what the author writes for learners: conventions, stubs, manifests with hints, tests; no stage's README."""
    if (conventions := course.root / "stages" / "README.md").is_file():
        yield _read(conventions).decode()
    for stage in course.stages:
        yield stub_of(reference_source(stage), stage.importable)
        for path in (stage.folder / "stage.toml", *stage.tests_path.glob("*.py"), *_given(stage)):
            yield _read(path).decode()


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        if path.suffix in (".py", ".toml", ".md"):
            data.decode("utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not valid UTF-8: {error}") from error
    return data


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the copy; UsageError, and nothing left of it, where the disk does not take all of it."""
    there = target.exists()
    try:
        for name, data in sorted(files.items()):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        for top in {target / name.split("/")[0] for name in files} if there else {target}:  # empty before, or not there
            if top.is_dir():
                shutil.rmtree(top, ignore_errors=True)
            else:
                with suppress(OSError):
                    top.unlink()
        hint = "Nothing was kept. Make room there, or name another folder."
        raise UsageError(f"{target} cannot be written: {error.strerror}", hint) from error
