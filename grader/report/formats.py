"""The formats of results, of a check and of a class: what each is called, what makes it, and how `--format` is read.

An installed package adds one by an entry point, whose name is the format's and whose object is a `Format`: of the group
`grader.formats` for checks, of `grader.class_formats` for classes (gradebook/exports). None takes the place of one of
the grader's own. What a format is given has been through feedback.py: it cannot tell more than the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course.table import listed, near
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.report.graded import Report, ReportContext


@dataclass(frozen=True)
class Format:
    """A form in which results leave the grader.

    render makes the document: of a check from a Report and a ReportContext (graded.py), of a class from its entries in
    the gradebook. needs is asked before anything is graded, with the environment, and raises UsageError where the
    format cannot be written. gives_marks says that a gradebook takes points from it.
    """

    name: str
    render: Callable[..., str | bytes]
    needs: Callable[[Mapping[str, str]], None] = lambda environment: None
    gives_marks: bool = False


class Formats(Mapping[str, Format]):
    """The formats of one command by name: the grader's own, then those of installed packages; each loaded when used."""

    def __init__(self, group: str, own: Mapping[str, str]) -> None:
        self._group = group
        self._own = {name: EntryPoint(name, place, group) for name, place in own.items()}

    def _others(self) -> dict[str, EntryPoint]:
        found = {each.name: each for each in entry_points(group=self._group) if each.name not in self._own}
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> Format:
        """Return a format; KeyError for none of that name, UsageError where an installed one cannot be loaded."""
        entry = self._own.get(name) or self._others()[name]
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the format {name} cannot be loaded: {error}", f"It is {entry.value}.") from error
        if not isinstance(found, Format):
            raise UsageError(f"the format {name} is no Format of grader.report.formats", f"It is {entry.value}.")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([*self._own, *self._others()])

    def __len__(self) -> int:
        return len(self._own) + len(self._others())


def as_json(report: Report, scene: ReportContext) -> str:
    """Return the JSON document of a run: a verdict, or those of every stage."""
    from grader.report.document import dumps, summary_document, verdict_document

    if report.every:
        return dumps(summary_document(report.verdicts))
    return dumps(verdict_document(report.verdicts[0], report.waits_for))


JSON = Format("json", as_json)
CHECKS = Formats(
    "grader.formats",
    {
        "json": "grader.report.formats:JSON",
        "junit": "grader.report.junit:JUNIT",
        "github": "grader.report.github:GITHUB",
        "gradescope": "grader.report.gradescope:GRADESCOPE",
        "autograding": "grader.report.github:AUTOGRADING",
        "classroom50": "grader.report.github:CLASSROOM50",
        "problems": "grader.report.problems:PROBLEMS",
    },
)
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
    if name not in CHECKS:
        alike = near(name, CHECKS)
        hint = f"Did you mean {alike[0]}?" if alike else f"Choose {listed(CHECKS)}. {_EXAMPLE}"
        raise UsageError(f"{name!r} is not a format", hint)
    if sign and not path:
        raise UsageError(f"{part!r} names no file", _EXAMPLE)
    return Target(name, Path(path) if path else None)
