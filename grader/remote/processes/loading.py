"""What a learner's process is to load, and what it tells of it: the names that the module defines, or why it stops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.course.contract import NO_CONTRACT, Contract
from grader.course.settings import UNSAID
from grader.course.stage import Stage
from grader.protocol import codec
from grader.remote.connection import Connection
from grader.remote.exceptions import deeper_of
from grader.remote.handles import Handles
from grader.remote.record import MAX_NUMBER, Name, line_of
from grader.submission import Snapshot
from grader.submission.source import Problem

MAX_NAMES = 2000
KINDS = ("function", "class", "exception", "value")


@dataclass(frozen=True)
class Job:
    """What a learner's process is to load, and the limits that it runs under."""

    label: str
    source: bytes
    call_seconds: float
    cpu_seconds: float
    memory_mb: int
    hide: Path
    result_mb: int = 4
    result_rows: int = 65536
    packages: tuple[str, ...] = UNSAID
    lent: tuple[tuple[str, str, bytes], ...] = ()  # name, label and text of modules of earlier stages
    alone: bool = False  # its tests start no process and no thread
    withheld: bool = False  # a reference among them is held back, so that no failure is explained
    contract: Contract = NO_CONTRACT

    @property
    def bounds(self) -> codec.Bounds:
        """What one result may be."""
        return codec.Bounds(self.result_mb << 20, self.result_rows)


def job_for(stage: Stage, snapshot: Snapshot, hide: Path) -> Job:
    """Return the job of loading someone's module of a stage; hide is the course, which it is not to see."""
    limits = stage.limits
    return Job(
        snapshot.label, snapshot.source, limits.call_seconds, limits.stage_seconds, limits.memory_mb, hide,
        limits.result_mb, limits.result_rows, stage.packages,
        tuple((each.name, each.label, each.text) for each in snapshot.uses), limits.alone, bool(snapshot.withheld),
        stage.whole_contract,
    )  # fmt: skip


def become(connection: Connection, code: bytes) -> None:
    """Put a changed form of the module, as marshal has it, in its place for one test, before anything else is asked.

    What running it raises is raised here; from then on its names stand for the module's.
    """
    connection.names = names_of(connection.request("become", 0, "", (code,), label="a changed form"))
    connection.handles = Handles(connection, connection.limits, connection.names, connection.contract.members)
    connection.records.clear()


class LoadFailed(Exception):
    """The learner's module cannot be loaded; problem says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def names_of(table: list[Any]) -> dict[str, Name]:
    """Return the public names of a module; WireError for a table that no honest process sends."""
    if len(table) > MAX_NAMES:
        raise codec.WireError(f"more than {MAX_NAMES} public names")
    names: dict[str, Name] = {}
    kinds: dict[int, str] = {}
    for row in table:
        match row:
            case [str(name), str(kind), int(number), list(bases)] if kind in KINDS and 0 <= number < MAX_NUMBER:
                if (kind == "value") != (number == 0) or kinds.setdefault(number, kind) != kind:
                    raise codec.WireError("a name whose number is of something else")
                names[name] = Name(kind, number, tuple(base[:100] for base in bases[:20] if type(base) is str))
            case _:
                raise codec.WireError("a name of another form")
    return names


def load_problem(description: Any, label: str) -> Problem:
    match description:
        case [_, str(shown), _, str(message), _, list(frames), _, *more]:
            last = frames[-1] if frames else None
            line = line_of(last[0]) if isinstance(last, list) and last and type(last[0]) is int else None
            deeper = deeper_of(more[1]) if len(more) > 1 else None
            place = f", {deeper}" if deeper else ""
            text = f"{label} fails while it is loaded{place}: {shown[:100]}: {message[:500]}"
            kind: Literal["import", "import-error"] = "import" if shown == "ModuleNotFoundError" else "import-error"
            return Problem(kind, text, line, _of_a_trial(shown, frames))
    raise codec.WireError("an exception of another form")


def _of_a_trial(shown: str, frames: list[Any]) -> str | None:
    """Return what to do about a line of the module itself that calls a function, or asks somebody at a keyboard."""
    match frames:
        case [[int(line), "<module>"], *called] if type(line) is int and (called or shown == "EOFError"):
            does = "calls it" if called else "asks for input"
            return (
                f"Line {line_of(line)} {does} each time the module is loaded. Trials of your own belong under "
                '`if __name__ == "__main__":`, which a check leaves out.'
            )
    return None
