"""The formats of `grader check --format`: what each is called, what makes it, and how the option is read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.table import listed, near
from grader.errors import UsageError
from grader.report.graded import Report, Scene

Render = Callable[[Report, Scene], str]


def as_json(report: Report, scene: Scene) -> str:
    """Return the JSON document of a run: a verdict, or those of every stage."""
    from grader.report.document import dumps, summary_document, verdict_document

    if report.every:
        return dumps(summary_document(report.verdicts))
    return dumps(verdict_document(report.verdicts[0], report.waits_for))


def _by(module: str, function: str) -> Render:
    """Return what calls a function of this folder: of seven formats a run writes one, and imports no other."""

    def render(report: Report, scene: Scene) -> str:
        text: str = getattr(importlib.import_module(f"grader.report.{module}"), function)(report, scene)
        return text

    return render


RENDER: Mapping[str, Render] = {
    "json": as_json,
    "junit": _by("junit", "junit"),
    "github": _by("github", "summary"),
    "gradescope": _by("gradescope", "gradescope"),
    "autograding": _by("autograding", "autograding"),
    "classroom50": _by("classroom50", "classroom50"),
    "problems": _by("problems", "problems"),
}
_EXAMPLE = "As in --format github,junit=FILE; a file's name may not have a comma."


@dataclass(frozen=True)
class Target:
    """One format and the file that takes it; without a file it is printed (github: goes where the runner says)."""

    name: str
    path: Path | None = None

    @property
    def printed(self) -> bool:
        """Whether its document is what stdout is for."""
        return self.path is None and self.name != "github"


def parsed(text: str, as_json: bool = False) -> tuple[Target, ...]:
    """Read the option; as_json adds what --json asks for. Raises UsageError."""
    targets = [_target(part.strip()) for part in text.split(",")] if text else []
    targets += [Target("json")] if as_json and Target("json") not in targets else []
    for place, target in enumerate(targets):
        if target.name in [other.name for other in targets[:place]]:
            raise UsageError(f"{target.name} is asked for twice", "Each format can be written once.")
    printed = [target.name for target in targets if target.printed]
    if len(printed) > 1:
        raise UsageError(f"{' and '.join(printed)} cannot both be printed", f"Give a file: {printed[-1]}=FILE.")
    return tuple(targets)


def _target(part: str) -> Target:
    name, sign, path = part.partition("=")
    if name not in RENDER:
        alike = near(name, RENDER)
        hint = f"Did you mean {alike[0]}?" if alike else f"Choose {listed(RENDER)}. {_EXAMPLE}"
        raise UsageError(f"{name!r} is not a format", hint)
    if sign and not path:
        raise UsageError(f"{part!r} names no file", _EXAMPLE)
    return Target(name, Path(path) if path else None)
