"""What is told of a test beside its outcome: which call, and which known mistakes explain it; it may fail alone."""

from __future__ import annotations

from dataclasses import dataclass

from grader.diagnosis import expressions
from grader.diagnosis.diagnostician import Diagnostician
from grader.outcome import Diagnosis
from grader.remote.connection import Connection

TEXT_LIMIT = 300


@dataclass(frozen=True)
class Explanation:
    """The call that gave a value, its function, and the mistakes that answer alike; None where nobody was asked.

    failure says why there is no explanation: making one of a learner's values failed, which changes no outcome.
    """

    call: str = ""
    function: str = ""
    mistakes: tuple[Diagnosis, ...] | None = None
    failure: str = ""


def explained(answers: Diagnostician, connection: Connection, actual: object, wrong: bool) -> Explanation:
    """Return what can be told of a test that ended, by its records; wrong asks which mistakes explain it; never raises.

    actual is the value that was found wrong, where there is one.
    """
    call = function = ""
    try:
        call, function = expressions.shown(connection.records, answers.stage, answers.reference, actual)
        found = answers.explain(connection.records, connection.names) if wrong else None
        return Explanation(call, function, found)
    except Exception as error:  # of values that a learner's process chose; memory and recursion are among its kinds
        return Explanation(call, function, failure=_told(error))


def _told(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}"[:TEXT_LIMIT]
