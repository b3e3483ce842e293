"""The files around a learner's copy: README, AGENTS.md, pyproject.toml, licence, .gitignore and public checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from typing import Any

from grader import __version__
from grader.course.settings import PROJECT, Settings
from grader.course.stage import Course, Stage
from grader.course.table import read_toml
from grader.errors import CourseError
from grader.setup.wheel import licence, own_project, source_of, wheel_path

CONVENTIONS = "The conventions that all stages share are in [stages/README.md](stages/README.md).\n\n"
EXPLORE = " `explore` runs what you have written on an example, and shows it step by step."
TEMPLATES = Path(__file__).parent / "templates"


def paperwork(
    course: Course, stages: tuple[Stage, ...], home: Path, self_paced: bool, released: bool = True
) -> dict[str, bytes]:
    """Return these files by their path in the copy; home is the folder that the grader lies in.

    A folder that is not released but made by an installed grader has no workflow, and is brought up to date by it.
    """
    licences = [course.root / "LICENSE"] if (course.root / "LICENSE").is_file() else []
    values = own_project(home)
    package = values["project"]["name"]
    words = {**_words(course, stages, self_paced), "wheel": wheel_path(package)}
    update = "" if released else _filled("copy/update.md", wheel=words["wheel"].rpartition("/")[2])
    texts = {
        "README.md": _filled("copy/README.md", **words, update=update),
        "AGENTS.md": _filled("copy/AGENTS.md", **words, folder=stages[0].name),
        "pyproject.toml": _project(course, _own(course), values),
        ".gitignore": _text(TEMPLATES / "copy" / "gitignore"),
        **({"LICENSE": _text(licences[0])} if licences else {"LICENSE": licence(home)} if released else {}),
        **(_workflows(TEMPLATES / "github") if released else {}),
        **_index(course, stages),
        **{page: _text(course.root / page) for page in course.settings.pages},
    }
    return {name: text.encode() for name, text in texts.items()}


def _words(course: Course, stages: tuple[Stage, ...], self_paced: bool) -> dict[str, str]:
    """Return what a README says of the course."""
    own = course.settings
    rows = [f"| [{each.id} {each.title}](stages/{each.name}/README.md) | `{each.module}` |" for each in stages]
    return {
        "title": own.title,
        "first": stages[0].id,
        "last": stages[-1].id,
        "conventions": CONVENTIONS if (course.root / "stages" / "README.md").is_file() else "",
        "pages": f"{', '.join(f'[{page}]({page})' for page in own.pages)} say more.\n\n" if own.pages else "",
        "explore": EXPLORE if own.drawings is not None else "",
        "stages": "\n".join(rows),
        "hidden": _text(TEMPLATES / "copy" / ("self_paced.md" if self_paced else "keyed.md")).strip(),
        "version": f"{__version__}. {own.license} licence." if own.license else f"{__version__}.",
    }


def _own(course: Course) -> dict[str, Any]:
    """Return what the course's own pyproject.toml says of its project; nothing where it does not."""
    values = read_toml(course.root / PROJECT, PROJECT) if (course.root / PROJECT).is_file() else {}
    project = values.get("project", {})
    return project if isinstance(project, dict) else {}


def _project(course: Course, own: dict[str, Any], values: dict[str, Any]) -> str:
    """Return the copy's pyproject.toml: the course's name, and the grader, whose values these are, from its wheel."""
    project = values["project"]
    package = project["name"]
    is_graders = own.get("name") == package  # then its requirements are those of the grader, which the wheel names
    grader = re.compile(rf"{re.escape(package)}(?![\w-])")
    others = [] if is_graders else [each for each in own.get("dependencies", ()) if not grader.match(each)]
    newest = values.get("tool", {}).get("uv", {}).get("exclude-newer")
    extras = sorted(project.get("optional-dependencies", {}))
    return _filled(
        "copy/project.toml",
        name=json.dumps(f"{package}-course" if is_graders else own.get("name") or "course"),
        description=json.dumps(own.get("description") or course.settings.title),
        license=f"license = {json.dumps(course.settings.license)}\n" if course.settings.license else "",
        python=json.dumps(project["requires-python"]),
        dependencies=json.dumps([package, *sorted(others)]),
        extras="\n".join(f"{name} = {json.dumps([f'{package}[{name}]'])}" for name in extras),
        newest=f"exclude-newer = {json.dumps(newest)} # newer packages were not tried\n" if newest else "",
        source=source_of(package),
        settings=_settings_text(course.settings),
    )


def _settings_text(own: Settings) -> str:
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in _settings(own))


def _settings(own: Settings) -> Iterator[tuple[str, object]]:
    """Yield what a copy keeps of the course's own table; the demonstration holds answers."""
    yield "title", own.title
    if own.license:
        yield "license", own.license
    yield from (("packages", own.packages), ("hidden", own.hidden))
    if own.drawings is not None:
        yield "drawings", own.drawings
    if own.passes != Settings.passes:
        yield "passes", own.passes


def _workflows(folder: Path) -> dict[str, str]:
    """Return what goes below .github; there may be nothing."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".yml", ".yaml", ".md"))
    return {f".github/{path.relative_to(folder).as_posix()}": _text(path) for path in paths}


def _index(course: Course, stages: tuple[Stage, ...]) -> dict[str, str]:
    """Return the page of all stages, where the course has one."""
    index = course.root / "stages" / "README.md"
    return {"stages/README.md": _without(_text(index), set(course.stages) - set(stages))} if index.is_file() else {}


def _without(index: str, absent: Iterable[Stage]) -> str:
    """Return the index of stages without the rows of those that are not released."""
    links = [f"]({stage.name}/" for stage in absent]
    kept = [line for line in index.splitlines(True) if not (line.startswith("|") and any(x in line for x in links))]
    return "".join(kept)


def _filled(template: str, **words: str) -> str:
    return Template(_text(TEMPLATES / template)).substitute(words)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
