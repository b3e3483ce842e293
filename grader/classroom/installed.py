"""What the grader says of itself, name, requirements and licence: beside its own sources, or as it was installed."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from grader.course.manifest import read_toml
from grader.course.settings import PROJECT
from grader.errors import CourseError

OF_AN_EXTRA = re.compile(r"(?P<need>.+?)\s*;\s*extra == ['\"](?P<extra>[\w.-]+)['\"]")


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
    needs: list[str] = []
    extras: dict[str, list[str]] = {name: [] for name in values.get_all("Provides-Extra") or ()}
    for line in values.get_all("Requires-Dist") or ():
        if of_extra := OF_AN_EXTRA.fullmatch(line):
            extras[of_extra["extra"]].append(of_extra["need"])
        else:
            needs.append(line)
    return {
        "name": values["Name"],
        "requires-python": values["Requires-Python"],
        "dependencies": needs,
        "optional-dependencies": extras,
    }
