"""Modules that could not be imported, or use what is not there, counted while a class is graded.

So a reason that many share stops the run before it costs all of them their marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grader.course.stage import Stage
from grader.errors import SystematicFault
from grader.gradebook.intake.doubts import Alarm, Doubt, Reason, alarms
from grader.gradebook.intake.survey import loading_cause
from grader.gradebook.records import Result
from grader.gradebook.store import Gradebook

_ABSENT = re.compile(r"(?:^|: )(?P<package>\w+) is not available when a stage is checked, and \S+ is used")
_REASON: Mapping[str, Reason] = {"import": "import", "syntax": "load", "encoding": "load", "import-error": "load"}


class Loading:
    """The results of one stage whose module could not be imported, of a class of total students."""

    def __init__(self, stage: Stage, total: int, proceed: bool) -> None:
        self._stage, self._total, self._proceed = stage, total, proceed
        self._found: dict[str, Doubt] = {}

    def learn(self, book: Gradebook) -> None:
        """Count the results that earlier runs left, by the attempt of each student that came last."""
        for attempt in book.attempts():
            if attempt.stage == self._stage.id and attempt.result is not None:
                self._count(book.result(attempt.result))

    def see(self, result: Result) -> None:
        """Count a result; SystematicFault where it makes a reason systematic, unless the run is to go on."""
        self._count(result)
        if self._found.get(result.key.student) is not None and not self._proceed and (found := self.alarms):
            raise SystematicFault("\n".join(each.summary for each in found), f"{found[0].example}\n{found[0].remedy}")

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Each reason that more than a tenth of the class shares."""
        return alarms(((student, (doubt,)) for student, doubt in self._found.items()), self._total)

    def _count(self, result: Result) -> None:
        self._found.pop(result.key.student, None)
        doubt = _doubt(result.verdict.get("problem") or {}) or _used(result.verdict)
        if doubt is not None and result.outcome == "graded":
            self._found[result.key.student] = doubt


def _doubt(problem: Mapping[str, Any]) -> Doubt | None:
    """Return the doubt that a verdict's problem is; None where it is of another kind."""
    reason = _REASON.get(str(problem.get("kind")))
    if reason is None:
        return None
    message = str(problem["message"])
    hint = str(problem.get("hint") or "")
    return Doubt(reason, message.partition("\n")[0], hint, loading_cause(reason, message))


def _used(verdict: Mapping[str, Any]) -> Doubt | None:
    """Return the doubt that a criterion fails because it uses a package that is not there."""
    for row in verdict.get("criteria", ()):
        for failure in row.get("failures", ()):
            if found := _ABSENT.search(str(failure.get("message") or "")):
                what = f"{row['id']} uses {found['package']}, which is not available when a stage is checked"
                return Doubt("import", what, "", found["package"])
    return None
