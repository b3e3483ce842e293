"""The files around a learner's copy: README, pyproject.toml, licence, .gitignore and the workflow of public checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from typing import Any

from grader import __version__
from grader.classroom import installed
from grader.course.manifest import read_toml
from grader.course.settings import PROJECT, Settings
from grader.course.stage import Course, Stage
from grader.errors import CourseError

CONVENTIONS = "The conventions that all stages share are in [stages/README.md](stages/README.md).\n\n"
EXPLORE = " `explore` runs what you have written on an example, and shows it step by step."
TEMPLATES = Path(__file__).parent / "templates"
EXTRA = (
    "class"  # what sealed tests need: a learner's copy always does, and scripts that ask for the extra still find it
)


def paperwork(course: Course, stages: tuple[Stage, ...], home: Path, self_paced: bool) -> dict[str, bytes]:
    """Return these files by their path in the copy; home is the folder that the grader lies in."""
    texts = {
        "README.md": _readme(course, stages, self_paced),
        "pyproject.toml": _project(course, _own(course), installed.project(home)),
        "LICENSE": _text(own) if (own := course.root / "LICENSE").is_file() else installed.licence(home),
        ".gitignore": _text(TEMPLATES / "copy" / "gitignore"),
        **_workflows(TEMPLATES / "github"),
        **_index(course, stages),
    }
    return {name: text.encode() for name, text in texts.items()}


def folder_paperwork(course: Course, stages: tuple[Stage, ...], home: Path, self_paced: bool) -> dict[str, bytes]:
    """Return the same of a learner who has installed the grader: the copy's pyproject.toml asks for it by its name."""
    project: Any = installed.project(home)["project"]
    words = {**_words(course, stages, self_paced), "package": project["name"], "stage": stages[0].name}
    texts = {
        "README.md": _filled("folder/README.md", **words),
        "pyproject.toml": _filled(
            "folder/project.toml",
            name=json.dumps(f"{project['name']}-course"),
            python=json.dumps(project["requires-python"]),
            grader=json.dumps(project["name"]),
            extras=_extras_of(project),
            settings=_settings_text(course.settings),
        ),
        ".gitignore": _text(TEMPLATES / "copy" / "gitignore"),
        **({"LICENSE": _text(course.root / "LICENSE")} if (course.root / "LICENSE").is_file() else {}),
        **_index(course, stages),
    }
    return {name: text.encode() for name, text in texts.items()}


def _readme(course: Course, stages: tuple[Stage, ...], self_paced: bool) -> str:
    return _filled("copy/README.md", **_words(course, stages, self_paced))


def _words(course: Course, stages: tuple[Stage, ...], self_paced: bool) -> dict[str, str]:
    """Return what a README says of the course."""
    own = course.settings
    rows = [f"| [{each.id} {each.title}](stages/{each.name}/README.md) | `{each.module}` |" for each in stages]
    return {
        "title": own.title,
        "first": stages[0].id,
        "last": stages[-1].id,
        "conventions": CONVENTIONS if (course.root / "stages" / "README.md").is_file() else "",
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
    """Return the copy's pyproject.toml: the course's name, and what the grader, whose values these are, and it need."""
    project = values["project"]
    newest = values.get("tool", {}).get("uv", {}).get("exclude-newer")
    extras = project.get("optional-dependencies", {})
    if EXTRA not in extras:
        raise CourseError(f"pyproject.toml has no extra {EXTRA!r}, which names what opens sealed tests")
    grader = re.compile(rf"{re.escape(project['name'])}(?![\w-])")
    others_own = [each for each in own.get("dependencies", ()) if not grader.match(each)]  # the copy holds the grader
    needed = sorted({*project["dependencies"], *extras[EXTRA], *others_own})
    others = [f"{name} = {json.dumps(wanted)}" for name, wanted in sorted(extras.items())]
    return _filled(
        "copy/project.toml",
        name=json.dumps(own.get("name") or "course"),
        description=json.dumps(own.get("description") or course.settings.title),
        license=f"license = {json.dumps(course.settings.license)}" if course.settings.license else "",
        python=json.dumps(project["requires-python"]),
        dependencies=json.dumps(needed, indent=4),
        extras="\n".join(others),
        settings=_settings_text(course.settings),
        uv=f"[tool.uv]\nexclude-newer = {json.dumps(newest)}\n\n" if newest else "",
    )


def _extras_of(project: dict[str, Any]) -> str:
    """Return extras of the grader as those of a folder that depends on it."""
    package, names = project["name"], sorted(project.get("optional-dependencies", {}))
    return "\n".join(f"{name} = {json.dumps([f'{package}[{name}]'])}" for name in names)


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
