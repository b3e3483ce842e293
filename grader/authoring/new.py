"""A new stage: its folder and its hidden mirror, each file in place around one example row, ready to be filled."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from grader.course.stage import Course
from grader.course.stub import stub_of
from grader.errors import UsageError

TEMPLATE = Path(__file__).resolve().parent / "template"  # a stage of arrays
PLAIN = TEMPLATE.with_name("plain")  # a stage of a course without NumPy
NAME = re.compile(r"(s\d{2,})_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")
TITLE = re.compile(r"""(?=.*\S)[^"\\\x00-\x1f\x7f]+""")  # stands within quotation marks, in TOML and in Python


def new_stage(course: Course, name: str, title: str | None, requires: tuple[str, ...]) -> list[Path]:
    """Make a stage's two folders and return their files; UsageError, and nothing made, where that cannot be."""
    found = NAME.fullmatch(name)
    if found is None:
        raise UsageError(f"{name!r} is not the name of a stage", "Give a number and a topic: s23_normalizing_flows.")
    number, topic = found.groups()
    taken = [stage.name for stage in course.stages if stage.id == number]
    if taken:
        raise UsageError(f"{number} is taken by {taken[0]}", "Choose another number.")
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
