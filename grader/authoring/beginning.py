"""A new course: the files around its stages, and one example stage that proves itself, ready to be replaced."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from string import Template

from grader.authoring.new import TITLE, new_stage
from grader.course.root import read_settings
from grader.course.stage import Course
from grader.errors import UsageError
from grader.setup.wheel import engine_files, engine_paths, own_project, source_of, wheel_files

COURSE = Path(__file__).resolve().parent / "course"
FIRST = "s01_averages"
_RENAMED = {"gitignore": ".gitignore"}  # a name with a dot would be left out where packages are built


def new_course(folder: Path, title: str | None) -> list[Path]:
    """Make a course in a new or empty folder and return its files; UsageError, and nothing made, where it cannot be."""
    _expect_free(folder)
    said = title or folder.resolve().name.replace("_", " ").replace("-", " ").strip().capitalize() or "A course"
    if TITLE.fullmatch(said) is None:
        hint = "Give --title one line without quotation marks and backslashes."
        raise UsageError(f"{said!r} cannot be a title", hint)
    with tempfile.TemporaryDirectory(prefix="grader-course-") as drafts:
        draft = Path(drafts) / "course"
        _around(draft, said)
        new_stage(Course(draft, (), read_settings(draft)), FIRST, None, ())
        files = {path.relative_to(draft): path.read_bytes() for path in sorted(draft.rglob("*")) if path.is_file()}
    wheel = wheel_files(engine_files(engine_paths()))
    return _written(folder, files | {Path(name): data for name, data in wheel.items()})


def _around(draft: Path, title: str) -> None:
    """Write what stands around the stages."""
    number, _, topic = FIRST.partition("_")
    grader = own_project(COURSE.parents[2])["project"]
    words = {
        "title": title, "project": _project(title), "distribution": grader["name"],
        "python": grader["requires-python"], "source": source_of(grader["name"]),
        "id": number, "name": FIRST, "stage_title": topic.capitalize(), "module": f"{topic}.py",
    }  # fmt: skip
    for template in sorted(COURSE.rglob("*.template")):
        place = template.relative_to(COURSE).as_posix().removesuffix(".template")
        file = draft / _RENAMED.get(place, re.sub(r"^github/", ".github/", place))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Template(template.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
    (draft / "hidden").mkdir()
    (draft / "hidden" / "__init__.py").touch()


def _project(title: str) -> str:
    """Return a name for the project that every tool takes."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "course"


def _expect_free(folder: Path) -> None:
    try:
        taken = any(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", "Name a new folder.") from error
    if taken:
        raise UsageError(f"{folder} is not empty, and nothing in it is overwritten", "Name a new or an empty folder.")


def _written(folder: Path, files: dict[Path, bytes]) -> list[Path]:
    """Write the files; what was written is removed again where the disk does not take all of them."""
    done: list[Path] = []
    try:
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            done.append(path)
            path.write_bytes(data)
    except OSError as error:
        for path in done:
            path.unlink(missing_ok=True)
        raise UsageError(f"{folder} cannot be written: {error.strerror}", "Name another folder.") from error
    return done
