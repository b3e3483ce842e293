"""The files around a learner's copy: README, pyproject.toml, licence, .gitignore and the workflow of public checks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

from grader import __version__
from grader.course.manifest import read_toml
from grader.course.stage import Course, Stage
from grader.errors import CourseError

TEMPLATES = Path(__file__).parent / "templates"
EXTRA = (
    "class"  # what sealed tests need: a learner's copy always does, and scripts that ask for the extra still find it
)


def paperwork(course: Course, stages: tuple[Stage, ...], home: Path, self_paced: bool) -> dict[str, bytes]:
    """Return these files by their path in the copy; home is the folder of the author's pyproject.toml and LICENSE."""
    texts = {
        "README.md": _readme(stages, self_paced),
        "pyproject.toml": _project(read_toml(home / "pyproject.toml", "pyproject.toml")),
        "LICENSE": _text(home / "LICENSE"),
        ".gitignore": _text(TEMPLATES / "copy" / "gitignore"),
        **_workflows(TEMPLATES / "github"),
    }
    if (index := course.root / "stages" / "README.md").is_file():
        texts["stages/README.md"] = _without(_text(index), set(course.stages) - set(stages))
    return {name: text.encode() for name, text in texts.items()}


def _readme(stages: tuple[Stage, ...], self_paced: bool) -> str:
    rows = [f"| [{each.id} {each.title}](stages/{each.name}/README.md) | `{each.module}` |" for each in stages]
    hidden = _text(TEMPLATES / "copy" / ("self_paced.md" if self_paced else "keyed.md")).strip()
    last = max(stages, key=lambda stage: stage.number).id
    return _filled("README.md", stages="\n".join(rows), hidden=hidden, version=__version__, last=last)


def _project(values: dict[str, Any]) -> str:
    """Return the copy's pyproject.toml, made from the author's."""
    project = values["project"]
    newest = values.get("tool", {}).get("uv", {}).get("exclude-newer")
    extras = project.get("optional-dependencies", {})
    if EXTRA not in extras:
        raise CourseError(f"pyproject.toml has no extra {EXTRA!r}, which names what opens sealed tests")
    needed = sorted([*project["dependencies"], *extras[EXTRA]])
    others = [f"{name} = {json.dumps(wanted)}" for name, wanted in sorted(extras.items())]
    return _filled(
        "project.toml",
        name=json.dumps(project["name"]),
        description=json.dumps(project["description"]),
        python=json.dumps(project["requires-python"]),
        dependencies=json.dumps(needed, indent=4),
        extras="\n".join(others),
        uv=f"[tool.uv]\nexclude-newer = {json.dumps(newest)}\n\n" if newest else "",
    )


def _workflows(folder: Path) -> dict[str, str]:
    """Return what goes below .github; there may be nothing."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".yml", ".yaml", ".md"))
    return {f".github/{path.relative_to(folder).as_posix()}": _text(path) for path in paths}


def _without(index: str, absent: Iterable[Stage]) -> str:
    """Return the index of stages without the rows of those that are not released."""
    links = [f"]({stage.name}/" for stage in absent]
    kept = [line for line in index.splitlines(True) if not (line.startswith("|") and any(x in line for x in links))]
    return "".join(kept)


def _filled(template: str, **words: str) -> str:
    return Template(_text(TEMPLATES / "copy" / template)).substitute(words)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
