"""Mutants that no test can notice: equivalent.toml in a stage's hidden folder lists them, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grader.course.answers import hidden_folder
from grader.course.mutants import Mutant
from grader.course.stage import Stage
from grader.course.table import Table, read_toml
from grader.errors import CourseError

FILE = "equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can notice; it names the mutant by its function and its statement before and after."""

    function: str
    was: str
    now: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        return (self.function, self.was, self.now) == (mutant.function, mutant.was, mutant.now)


def load_equivalents(stage: Stage) -> tuple[Equivalent, ...]:
    """Return what stands in equivalent.toml; nothing where there is none. CourseError lists every mistake in it."""
    path = hidden_folder(stage) / FILE
    if not path.exists():
        return ()
    place = f"{stage.name}/{FILE}"
    mistakes: list[str] = []
    top = Table(read_toml(path, place), f"{place}: ", mistakes)
    found = [_equivalent(table) for table in top.tables("mutant")]
    top.close()
    if mistakes:
        raise CourseError("\n".join(mistakes))
    return tuple(found)


def _equivalent(table: Table) -> Equivalent:
    entry = Equivalent(table.text("function"), table.text("was"), table.text("now"), table.text("reason"))
    table.close()
    return entry


def unused(entries: Iterable[Equivalent], survivors: Iterable[Mutant]) -> list[Equivalent]:
    """Return the entries that cover no survivor: the code has changed, or a test notices the change after all."""
    left = list(survivors)
    return [entry for entry in entries if not any(entry.covers(mutant) for mutant in left)]
