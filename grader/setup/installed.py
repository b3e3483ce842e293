"""What the grader says of itself, as its pyproject.toml does: beside its own sources, or as it was installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from grader.course.settings import PROJECT
from grader.course.table import read_toml
from grader.errors import CourseError

OF_AN_EXTRA = re.compile(r"(?P<need>[^;]+?)\s*;\s*(?:\((?P<marker>.+)\) and )?extra == ['\"](?P<extra>[\w.-]+)['\"]")
SCRIPTS = "console_scripts"


def project(home: Path) -> dict[str, Any]:
    """Return the values of the grader's pyproject.toml; home is the folder that `grader` lies in.

    Where the grader was installed from a package there is none, and its metadata say the same.
    """
    found = _distribution(home)
    return read_toml(home / PROJECT, PROJECT) if found is None else {"project": _described(found)}


def licence(home: Path) -> str:
    """Return the text of the grader's own licence; CourseError where it is missing."""
    found = _distribution(home)
    try:
        text = (home / "LICENSE").read_text("utf-8") if found is None else found.read_text("licenses/LICENSE")
    except OSError as error:
        raise CourseError(f"{home / 'LICENSE'} cannot be read: {error.strerror}") from error
    if text is None:
        raise CourseError("the installed grader lacks its licence", "Install it again.")
    return text


def _distribution(home: Path) -> Distribution | None:
    """Return the installed package that `grader` came with; none where it runs from its sources."""
    own = "grader/__init__.py"
    of_home = distributions(path=[str(home)])
    return next((each for each in of_home if any(file.as_posix() == own for file in each.files or ())), None)


def _described(found: Distribution) -> dict[str, Any]:
    values = found.metadata
    licences = values.get_all("License-Expression") or [""]
    needs: list[str] = []
    extras: dict[str, list[str]] = {name: [] for name in values.get_all("Provides-Extra") or ()}
    for line in values.get_all("Requires-Dist") or ():
        if of_extra := OF_AN_EXTRA.fullmatch(line):
            marker = f"; {of_extra['marker']}" if of_extra["marker"] else ""
            extras[of_extra["extra"]].append(f"{of_extra['need']}{marker}")
        else:
            needs.append(line)
    points: dict[str, dict[str, str]] = {}
    for point in found.entry_points:
        points.setdefault(point.group, {})[point.name] = point.value
    return {
        "name": values["Name"],
        "license": licences[0],
        "requires-python": values["Requires-Python"],
        "dependencies": needs,
        "optional-dependencies": extras,
        "scripts": points.pop(SCRIPTS, {}),
        "entry-points": points,
    }


def metadata_text(project: dict[str, Any], version: str) -> str:
    """Return METADATA of a wheel of the project."""
    return "".join(f"{line}\n" for line in _metadata(project, version))


def _metadata(project: dict[str, Any], version: str) -> Iterator[str]:
    yield from ("Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}")
    if project.get("license"):
        yield f"License-Expression: {project['license']}"
    yield from ("License-File: LICENSE", f"Requires-Python: {project['requires-python']}")
    yield from (f"Requires-Dist: {need}" for need in project["dependencies"])
    for extra, needs in project.get("optional-dependencies", {}).items():
        yield f"Provides-Extra: {extra}"
        for need in needs:
            name, _, marker = need.partition(";")
            condition = f"({marker.strip()}) and extra" if marker else "extra"
            yield f"Requires-Dist: {name.strip()}; {condition} == '{extra}'"


def entry_points_text(project: dict[str, Any]) -> str:
    """Return entry_points.txt of a wheel of the project."""
    groups = {SCRIPTS: project.get("scripts", {}), **project.get("entry-points", {})}
    sections = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in groups.items()
        if points
    )
    return "\n".join(sections)
