"""The outcome of one test: a frozen record between the engine and everything that reads it, and the names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from grader.criterion import KINDS as KINDS
from grader.criterion import Kind as Kind
from grader.criterion import Status as Status


@dataclass(frozen=True)
class Diagnosis:
    """What explains a wrong answer: its id, the criterion that it fails, and what a learner reads.

    declared says that it is a known mistake of the course, so that its text holds nothing of the reference or of a
    test's inputs; what the grader found by itself may. function and line are the place of the fault in the learner's
    module; empty and 0 where none is known.
    """

    mistake: str
    criterion: str
    text: str
    fix: str
    declared: bool = False
    function: str = ""
    line: int = 0

    @property
    def cause(self) -> str:
        """The id without the digits that tell two edits of one sort apart.

        >>> Diagnosis("term-missing-0a1b2c3d", "total", "A term is missing.", "Add it.").cause
        'term-missing'
        """
        return self.mistake if self.declared else re.sub(r"-[0-9a-f]{8}$", "", self.mistake)

    @property
    def is_edit(self) -> bool:
        """Whether it was found as a change of the learner's own lines."""
        return self.cause != self.mistake


SEARCH = "the search for a cause"  # how the reason begins for which a search came to no end
CUT = f"{SEARCH} took too long and was cut short"


@dataclass(frozen=True)
class Call:
    """One call of a learner's function or method, and the seconds that it took, as the learner's process says."""

    function: str
    seconds: float


Finding = Literal[
    "", "shape", "non-finite", "zeros", "factor", "transposed", "swapped", "missing-sum", "extra-sum", "values"
]


@dataclass(frozen=True)
class Gradient:
    """One gradient of a backward pass beside the right one; of is the input or parameter that it belongs to.

    relative is the largest error over the largest value in either, None where shapes differ or values are not finite;
    index, expected and got are the worst value, in as few digits as a message has. finding is empty where it is right,
    text says it in words.
    """

    name: str
    of: str
    shape: tuple[int, ...]
    expected_shape: tuple[int, ...]
    relative: float | None
    index: tuple[int, ...] | None = None
    expected: str = ""
    got: str = ""
    finding: Finding = ""
    text: str = ""


@dataclass(frozen=True)
class Where:
    """A place in the learner's own file, and the text of that line."""

    file: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class Outcome:
    """One test: which criterion it belongs to, how it ended, and what to tell about it.

    call is the last call as a learner would write it, waits_on the unwritten function that another one needed, explains
    the mistakes that reproduce every recorded answer, notes what was printed or warned about; unexplained is why the
    cause is not known, where the search for it or another explanation came to no end; kind is one of KINDS, or empty
    where the test's marks name none, or several;
    called holds, of a test that failed, the stage's own functions and classes that it called, methods as Class.method;
    help is what a common exception of NumPy or Python means here; gradients compares what a wrong backward pass gave;
    pattern is the line of the message that says what its numbers look like;
    calls holds, where a run is timed, each call of a test that passed;
    undecided holds the ids of known mistakes that explain its answers equally well: none of them is named;
    changed says that it came to its end, and failed because a call changed what it was given, and by nothing else.
    """

    test: str
    criterion: str
    hidden: bool
    status: Status
    message: str = ""
    call: str = ""
    where: Where | None = None
    waits_on: str | None = None
    explains: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    unexplained: str = ""
    kind: Kind | Literal[""] = ""
    called: tuple[str, ...] = ()
    help: str = ""
    gradients: tuple[Gradient, ...] = ()
    pattern: str = ""
    calls: tuple[Call, ...] = ()
    undecided: tuple[str, ...] = ()
    changed: bool = False


def the_one(own: tuple[Diagnosis, ...], others: Iterable[tuple[Diagnosis, ...]]) -> Diagnosis | None:
    """Return the one mistake that explains a test, if need be narrowed by the criterion's other failures; else None."""
    left = {diagnosis.mistake: diagnosis for diagnosis in own}
    for more in others:
        shared = {d.mistake for d in more} & set(left)
        if len(left) > 1 and shared:
            left = {key: left[key] for key in shared}
    return next(iter(left.values())) if len(left) == 1 else None
