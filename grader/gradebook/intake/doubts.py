"""What is doubtful about submissions before they are graded, and the one reason that too many of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

# Nothing was handed in by somebody in the roster; there is no module in it; there is one under another name; what is
# there cannot be accepted; it imports what is not there; Python cannot read it, or it raises when it is imported; only
# the file's own time makes it late; the roster does not know the student; and what is worth a look, and no more.
Reason = Literal["absent", "not found", "another name", "rejected", "import", "load", "late by file", "unknown", "note"]
SHARE = 0.10  # of a class, beyond which a reason is systematic
FEWEST = 2  # students who make a reason systematic, unless there is but one
REASONS: tuple[Reason, ...] = get_args(Reason)
_REMEDY: dict[Reason, str] = {
    "not found": "Give the folder that holds one entry for each student; an entry is a module, an archive or a folder.",
    "another name": "With --accept such files are taken for the module.",
    "rejected": "Ask for the files again, or correct the list that names them.",
    "import": "Allow the package in the course, or have the import removed.",
    "load": "Tell the class what is wrong and take the files again, or change what the stage expects.",
    "late by file": "Give the platform's own times: its list of submissions with --roster, or a column `submitted` in "
    "class.csv.",
    "unknown": "Add them to the roster, or name another one with --roster.",
}
_SYSTEMATIC: tuple[Reason, ...] = ("not found", "another name", "rejected", "import", "load", "late by file", "unknown")


@dataclass(frozen=True)
class Doubt:
    """Something doubtful about a submission: its kind, what it is in words, and what can be done about it.

    cause is what submissions with the same fault have in common, as the package that they import.
    """

    reason: Reason
    text: str
    remedy: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Alarm:
    """A reason that too many submissions share: who they are, of how many, and an example."""

    reason: Reason
    cause: str
    students: tuple[str, ...]
    total: int
    example: str
    remedy: str

    @property
    def summary(self) -> str:
        """What it concerns, in words.

        >>> Alarm("import", "torch", ("ada", "bob"), 8, "", "").summary
        'import (torch): 2 of 8 students'
        """
        cause = f" ({self.cause})" if self.cause else ""
        return f"{self.reason}{cause}: {len(self.students)} of {self.total} students"


def alarms(found: Iterable[tuple[str, Sequence[Doubt]]], total: int) -> tuple[Alarm, ...]:
    """Return each reason that more than a tenth of a class shares, the most frequent first.

    found is students with what is doubtful about their submission, total the size of the class.
    """
    by_cause: dict[tuple[Reason, str], list[tuple[str, Doubt]]] = {}
    for student, doubts in found:
        for doubt in doubts:
            if doubt.reason in _SYSTEMATIC:
                by_cause.setdefault((doubt.reason, doubt.cause), []).append((student, doubt))
    told = []
    for (reason, cause), cases in by_cause.items():
        students = tuple(dict.fromkeys(student for student, _ in cases))
        if len(students) >= min(FEWEST, total) and len(students) > SHARE * total:
            first, doubt = cases[0]
            remedy = _REMEDY.get(reason, "") or doubt.remedy
            told.append(Alarm(reason, cause, students, total, f"{first}: {doubt.text}", remedy))
    return tuple(sorted(told, key=lambda alarm: -len(alarm.students)))
