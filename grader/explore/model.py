"""What an exploration is: the steps as they are planned, what came of each, and the maps of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from grader.explore.drawing import Drawing
from grader.outcome import Status, Where
from grader.submission.parsing import Problem

Array = NDArray[np.float64]
PartStatus = Status | Literal["warning"]  # a warning: the numbers are there, but what is always true does not hold
SEVERITY: tuple[PartStatus, ...] = (
    "passed", "blocked", "not_started", "warning", "over_limit", "timed_out", "crashed", "failed", "grader_fault",
)  # fmt: skip
Known = Mapping[str, Any]  # what is known so far, by the name that the steps give it


@dataclass(frozen=True)
class Fact:
    """Numbers that a step shows, and how they read."""

    name: str
    values: tuple[float, ...]
    text: str


@dataclass(frozen=True)
class Reading:
    """What one call gave: values for later calls, facts to show, and what does not hold although it always should.

    code says what was called, where that was not what was planned.
    """

    values: Mapping[str, Any]
    shape: tuple[int, ...] | None = None
    axes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    wrong: tuple[str, ...] = ()
    code: str = ""


Run = Callable[[Any, Known], Reading]


@dataclass(frozen=True)
class Call:
    """One call of a learner's function: code as a learner would write it, needs the values that it starts from.

    row is the row of the checklist that it is about, where the function alone does not tell.
    """

    id: str
    code: str
    function: str
    needs: tuple[str, ...]
    run: Run
    row: str = ""


@dataclass(frozen=True)
class Step:
    """A step and what it means; notice says what to see in the lesson's own example, own_notice in any other.

    Steps that follow each other and share a process work with the same objects of the learner's; else each call has a
    process of its own.
    """

    id: str
    title: str
    meaning: str
    calls: tuple[Call, ...]
    notice: Callable[[Known], str | None] = lambda known: None
    process: str = ""
    own_notice: Callable[[Known], str | None] = lambda known: None


@dataclass(frozen=True)
class Part:
    """What came of one call: facts or, in message, what came instead; waits_for is the function that comes first."""

    id: str
    code: str
    function: str
    status: PartStatus
    shape: tuple[int, ...] | None = None
    axes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    message: str = ""
    waits_for: str | None = None
    where: Where | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepResult:
    """What came of a step."""

    id: str
    title: str
    meaning: str
    parts: tuple[Part, ...]
    notice: str | None = None

    @property
    def status(self) -> PartStatus:
        """The status of the part that went worst."""
        return max((part.status for part in self.parts), key=SEVERITY.index)


@dataclass(frozen=True)
class WeightMap:
    """Weights to be drawn: a row for each query, a column for each key."""

    id: str
    title: str
    causal: bool
    head: int | None
    weights: tuple[tuple[float, ...], ...]


def weight_map(title: str, causal: bool, head: int | None, weights: Array) -> WeightMap:
    """Return a map of an array of weights, (seq_q, seq_k)."""
    rows = tuple(tuple(float(weight) for weight in row) for row in weights)
    return WeightMap(title.lower().replace(" ", "-").replace(",", ""), title, causal, head, rows)


@dataclass(frozen=True)
class Example:
    """What is explored: words, and for each a row of Q, K and V, (seq, d_k), (seq, d_k) and (seq, d_v).

    is_lesson says that it is the sentence of the lesson; source says in words where the numbers come from. Where keys
    and values are about other words than the queries, key_words are theirs, one for each row of K and V.
    """

    words: tuple[str, ...]
    Q: Array
    K: Array
    V: Array
    heads: int
    is_lesson: bool
    source: str
    key_words: tuple[str, ...] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The words of the keys: those of the queries where there are no others."""
        return self.words if self.key_words is None else self.key_words

    @property
    def is_self(self) -> bool:
        """Whether queries, keys and values are one array."""
        return self.Q is self.K and self.K is self.V


@dataclass(frozen=True)
class Ran:
    """Where and how the learner's module ran."""

    file: str
    digest: str
    isolation: str
    isolation_note: str | None
    seed: int | None


@dataclass(frozen=True)
class Exploration:
    """All of it; next_function comes next, and look_at is the first function that does not do what it should.

    look_row is the row of the checklist that this function fails, where the step says which.
    example is the sentence that was explored; where a stage has its own data instead, given says which.
    """

    stage: str
    title: str
    example: Example | None
    ran: Ran
    steps: tuple[StepResult, ...] = ()
    maps: tuple[WeightMap, ...] = ()
    next_function: str | None = None
    look_at: str | None = None
    look_row: str = ""
    problem: Problem | None = None
    given: str = ""
    drawings: tuple[Drawing, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether every step did what it should."""
        return self.problem is None and all(step.status == "passed" for step in self.steps)


@dataclass(frozen=True)
class Plan:
    """What the exploration of one stage consists of; random says whether the seed makes a difference.

    start gives what the steps begin with, from the sentence (None for a stage that has its own data) and the seed;
    given says what a stage's own data are, and drawings makes of what is known what can be drawn. Where data is set,
    start gets the files of the stage's data folder as well: their bytes by name. Where prompt is set, the stage
    continues a text: start gets its words, those of prompt where nobody gave others.
    """

    steps: tuple[Step, ...]
    start: Callable[..., Known]
    random: bool
    of_sentence: bool = False
    given: str = ""
    maps: Callable[[Known], tuple[WeightMap, ...]] = lambda known: ()
    drawings: Callable[[Known], tuple[Drawing, ...]] = lambda known: ()
    data: bool = False
    prompt: str = ""
