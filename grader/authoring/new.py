"""New stages and new courses, each around one example that proves itself, ready to be filled or replaced."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from string import Template

from grader.course.settings import read_settings
from grader.course.stage import Course
from grader.course.stub import stub_of
from grader.errors import UsageError
from grader.setup.wheel import engine_files, engine_paths, own_project, source_of, wheel_files

TEMPLATE = Path(__file__).resolve().parent / "template"  # a stage of arrays
PLAIN = TEMPLATE.with_name("plain")  # a stage of a course without NumPy
NAME = re.compile(r"(s\d{2,})_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")
TITLE = re.compile(r"""(?=.*\S)[^"\\\x00-\x1f\x7f]+""")  # stands within quotation marks, in TOML and in Python


def new_stage(course: Course, name: str, title: str | None, requires: tuple[str, ...]) -> list[Path]:
    """Make a stage's two folders and return their files; UsageError, and nothing made, where that cannot be."""
    found = NAME.fullmatch(name)
    if found is None:
        raise UsageError(f"{name!r} is not the name of a stage", "Give a number and a topic: s26_normalizing_flows.")
    number, topic = found.groups()
    taken = [stage.name for stage in course.stages if stage.id == number]
    if taken:
        used = {stage.id for stage in course.stages}
        free = next(each for at in count(1) if (each := f"s{at:02}") not in used)
        raise UsageError(f"{number} is taken by {taken[0]}", f"Choose another number: {free} is free.")
    if title is not None and TITLE.fullmatch(title) is None:
        raise UsageError(f"{title!r} cannot be a title", "Give one line without quotation marks and backslashes.")
    needed = dict.fromkeys(course.find(each).id for each in requires)
    words = {
        "id": number,
        "name": name,
        "title": title or topic.replace("_", " ").capitalize(),
        "module": f"{[word for word in topic.split('_') if not word[0].isdigit()][-1]}.py",
        "package": course.hidden.name,
        "requires": ", ".join(f'"{each}"' for each in needed),
    }
    folders = {"stage": course.root / "stages" / name, "hidden": course.hidden / name}
    return _written(words, course.settings.packages, folders)


def _written(words: Mapping[str, str], packages: Sequence[str], folders: Mapping[str, Path]) -> list[Path]:
    """Fill the templates in, beside the folders first, so that a stage is there whole or not at all."""
    for folder in folders.values():
        if folder.exists():
            raise UsageError(f"{folder} already exists", "Choose another name, or move the folder away.")
    templates = TEMPLATE if "numpy" in packages else PLAIN
    drafts = {kind: folder.with_name(f".new-{folder.name}") for kind, folder in folders.items()}
    try:
        for kind, draft in drafts.items():
            for template in sorted((templates / kind).rglob("*.template")):
                file = draft / _file(template.relative_to(templates / kind).as_posix(), words)
                file.parent.mkdir(parents=True, exist_ok=True)
                text = Template(template.read_text(encoding="utf-8")).substitute(words)
                file.write_text(text, encoding="utf-8")
        solution = (drafts["hidden"] / "solution.py").read_text(encoding="utf-8")
        (drafts["stage"] / words["module"]).write_text(stub_of(solution, packages), encoding="utf-8")
        for kind, draft in drafts.items():
            draft.rename(folders[kind])
    except OSError as error:
        where = " and ".join(str(folder) for folder in folders.values())
        raise UsageError(f"{where} cannot be written: {error.strerror}", "Put that right, and try again.") from error
    finally:
        for draft in drafts.values():
            shutil.rmtree(draft, ignore_errors=True)
    return sorted(file for folder in folders.values() for file in folder.rglob("*") if file.is_file())


def _file(template: str, words: Mapping[str, str]) -> str:
    """Return a template's file: its name without the ending, with the stage's module in place of `public`."""
    return template.removesuffix(".template").replace("public", words["module"].removesuffix(".py"))


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
    return _course_written(folder, files | {Path(name): data for name, data in wheel.items()})


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


def _course_written(folder: Path, files: dict[Path, bytes]) -> list[Path]:
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
