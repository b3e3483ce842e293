"""The formats of results, of a check and of a class: what each is called, what makes it, and how `--format` is read.

An installed package adds one by an entry point, whose name is the format's and whose object is a `Format`: of the group
`grader.formats` for checks, of `grader.class_formats` for classes. None takes the place of one of
the grader's own. What a format is given has been through feedback.py: it cannot tell more than the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.course.table import listed, near, together
from grader.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from grader.report.graded import CheckReport, ReportContext


@dataclass(frozen=True)
class Format:
    """A form in which results leave the grader.

    render makes the document: of a check from a Report and a ReportContext (graded.py), of a class from its entries in
    the gradebook. needs is asked before anything is graded, with the environment, and raises UsageError where the
    format cannot be written. gives_marks says that a gradebook takes points from it. notes tells, of a class's entries,
    what whoever reads the document will leave out; has_assignments says that render takes the numbers that a platform
    gives its assignments, by stage.
    """

    name: str
    render: Callable[..., str | bytes]
    needs: Callable[[Mapping[str, str]], None] = lambda environment: None
    gives_marks: bool = False
    notes: Callable[[Sequence[Any]], Iterable[str]] = lambda entries: ()
    has_assignments: bool = False


class Formats(Mapping[str, Format]):
    """The formats of one command by name: the grader's own, then those of installed packages; each loaded when used."""

    def __init__(self, group: str, own: Mapping[str, str]) -> None:
        self._group = group
        self.own = own  # by name, where each stands

    def _others(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # takes a while, and the grader's own need it not

        found = {each.name: each for each in entry_points(group=self._group) if each.name not in self.own}
        return dict(sorted(found.items()))

    def _entry(self, name: str) -> EntryPoint:
        from importlib.metadata import EntryPoint

        return EntryPoint(name, self.own[name], self._group) if name in self.own else self._others()[name]

    def __getitem__(self, name: str) -> Format:
        """Return a format; KeyError for none of that name, UsageError where an installed one cannot be loaded."""
        entry = self._entry(name)
        try:
            found = entry.load()
        except (ImportError, AttributeError) as error:
            raise UsageError(f"the format {name} cannot be loaded: {error}", f"It is {entry.value}.") from error
        if not isinstance(found, Format):
            raise UsageError(f"the format {name} is no Format of grader.report.formats", f"It is {entry.value}.")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([*self.own, *self._others()])

    def __len__(self) -> int:
        return len(self.own) + len(self._others())


def as_json(report: CheckReport, context: ReportContext) -> str:
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
CLASSES = Formats(
    "grader.class_formats",
    {
        name: f"grader.gradebook.exports:{name.upper()}"
        for name in ("csv", "json", "canvas", "moodle", "junit", "parquet")
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
        kept = f"Only one can go to stdout: give the others a file, as in {printed[-1]}=FILE."
        raise UsageError(f"{together(printed)} cannot {'both' if len(printed) == 2 else 'all'} be printed", kept)
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
