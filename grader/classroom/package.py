"""What the grader says of itself as a package: in the pyproject.toml beside it or, once installed, in its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from grader.course.manifest import read_toml
from grader.course.settings import PROJECT
from grader.errors import CourseError

_OF_EXTRA = re.compile(r"""(.*?)\s*;\s*extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class Package:
    """Its name, the Python that it needs, its requirements, those of each extra, and its licence's text.

    newest is the date after which no package is taken; None where that is not said.
    """

    name: str
    python: str
    dependencies: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    license: str | None = None
    newest: str | None = None


def package_of(home: Path) -> Package:
    """Return what is said of the grader whose folder lies in home. Raises CourseError where nothing is."""
    return _from_project(home) if (home / PROJECT).is_file() else _from_metadata(home)


def _from_project(home: Path) -> Package:
    values: Any = read_toml(home / PROJECT, PROJECT)
    project = values["project"]
    extras = {name: tuple(wanted) for name, wanted in project.get("optional-dependencies", {}).items()}
    license_file = home / "LICENSE"
    return Package(
        project["name"],
        project["requires-python"],
        tuple(project["dependencies"]),
        extras,
        license_file.read_text(encoding="utf-8") if license_file.is_file() else None,
        values.get("tool", {}).get("uv", {}).get("exclude-newer"),
    )


def _from_metadata(home: Path) -> Package:
    own = __name__.partition(".")[0]
    names = metadata.packages_distributions().get(own, [])
    if not names:
        raise CourseError(f"{home} has no {PROJECT}, and nothing that is installed says what the grader needs")
    found = metadata.distribution(names[0])
    plain: list[str] = []
    extras: dict[str, tuple[str, ...]] = dict.fromkeys(found.metadata.get_all("Provides-Extra") or [], ())
    for line in found.requires or []:
        if (of_extra := _OF_EXTRA.fullmatch(line)) is None:
            plain.append(line)
        else:
            extras[of_extra[2]] = (*extras.get(of_extra[2], ()), of_extra[1])
    python = str(found.metadata["Requires-Python"])
    return Package(found.metadata["Name"], python, tuple(plain), extras, found.read_text("licenses/LICENSE"))
