"""The reference of a stage that has passed, beside the learner's own module."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.course.stage import Stage
from grader.errors import GraderError, SubmissionError
from grader.progress.actions import Workspace
from grader.progress.beside.pieces import Piece, pieces
from grader.progress.beside.timing import Timing, measured
from grader.progress.building import equipped
from grader.progress.lessons import solution
from grader.submission import Snapshot, take
from grader.submission.source import plain_text

if TYPE_CHECKING:
    from grader.outcome import Outcome


@dataclass(frozen=True)
class Pair:
    """A function in the learner's module and in the reference; timing where both were called alike."""

    name: str
    own: Piece | None
    reference: Piece | None
    timing: Timing | None = None

    @property
    def same(self) -> bool:
        """Whether both are written alike, but for layout and comments."""
        return self.own is not None and self.reference is not None and self.own.form == self.reference.form


@dataclass(frozen=True)
class Comparison:
    """All functions of both modules, those of the reference first, in its order.

    problem says why the learner's own module is not there, unmeasured why there are no times.
    """

    stage: str
    title: str
    label: str
    pairs: tuple[Pair, ...] = field(default=())
    problem: str = ""
    unmeasured: str = ""


def compared(
    workspace: Workspace,
    stage: Stage,
    timed: bool = True,
    isolation: str = "auto",
    on_test: Callable[[Outcome], None] | None = None,
) -> Comparison:
    """Return the reference beside the learner's own module, and how long both take; StageLocked before it has passed.

    What is wrong with the learner's module, or with measuring, is told in the result, with the reference all the same.
    """
    text = solution(workspace, stage)
    label = f"stages/{stage.name}/{stage.module}"
    reference = pieces(text)
    try:
        snapshot = take(stage, None, workspace.course.root)
        own = _read(snapshot)
    except SubmissionError as error:
        alone = tuple(Pair(name, None, each) for name, each in reference.items())
        return Comparison(stage.id, stage.title, label, alone, error.message, "there is nothing to measure it with")
    pairs = paired(own, reference)
    if not timed:
        return Comparison(stage.id, stage.title, label, pairs, "", "not asked for")
    try:
        snapshot = equipped(workspace.course, workspace.store, stage, snapshot, None, {})
        other = _snapshot_of(stage, text, snapshot)  # what it is run with may see it: it is shown here anyway
        times = measured(workspace.course, stage, (snapshot, other), isolation, on_test)
    except GraderError as error:
        return Comparison(stage.id, stage.title, label, pairs, "", error.message)
    found = tuple(replace(pair, timing=times.get(pair.name.removesuffix(".__init__"))) for pair in pairs)
    none = "" if any(pair.timing for pair in found) else f"no test of {stage.id} passes with both modules"
    return Comparison(stage.id, stage.title, label, found, "", none)


def paired(own: dict[str, Piece], reference: dict[str, Piece]) -> tuple[Pair, ...]:
    """Return the functions of two modules by name: those of the reference, then those that only the learner's has."""
    pairs = [Pair(name, own.get(name), piece) for name, piece in reference.items()]
    return tuple(pairs + [Pair(name, piece, None) for name, piece in own.items() if name not in reference])


def _read(snapshot: Snapshot) -> dict[str, Piece]:
    text = plain_text(snapshot.source)
    try:
        if text is not None:
            return pieces(text)
        why = "it is no text that Python reads at once"
    except SyntaxError as error:
        why = f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        why = f"{type(error).__name__}: {error}"
    raise SubmissionError(f"{snapshot.label} cannot be read: {why}")


def _snapshot_of(stage: Stage, text: str, like: Snapshot) -> Snapshot:
    source = text.encode()
    return replace(like, source=source, digest=hashlib.sha256(source).hexdigest(), label=f"the reference of {stage.id}")
