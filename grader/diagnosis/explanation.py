"""What is told of a test beside its outcome: which call, and which known mistakes explain it; it may fail alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.diagnosis import expressions
from grader.diagnosis.diagnostician import Diagnostician
from grader.diagnosis.gradients.report import gradients
from grader.outcome import Diagnosis, Gradient
from grader.sandbox.connection import Connection

TEXT_LIMIT = 300


@dataclass(frozen=True)
class Explanation:
    """The call that gave a value, its function, and the mistakes that answer alike; None where nobody was asked.

    late says that time was over. gradients compares what a wrong backward pass gave. failure says why there is no
    explanation: making one of a learner's values failed, which changes no outcome.
    """

    call: str = ""
    function: str = ""
    mistakes: tuple[Diagnosis, ...] | None = None
    failure: str = ""
    gradients: tuple[Gradient, ...] = ()
    late: bool = False


def explained(
    answers: Diagnostician, connection: Connection, actual: object, wrong: bool, row: str = ""
) -> Explanation:
    """Return what can be told of a test that ended, by its records; wrong asks which mistakes explain it; never raises.

    actual is the value that was found wrong, where there is one; row is the one that the test belongs to.
    """
    told = _called(answers, connection, actual, wrong, row)
    if not wrong or answers.is_stub or not answers.compares(row):
        return told
    try:
        found = gradients(answers.stage, answers.reference, connection.records, connection.names, row)
    except Exception as error:  # as below; what is known already stays
        return replace(told, failure=told.failure or _told(error))
    if found:
        answers.compared(row)
    return replace(told, gradients=found)


def _called(answers: Diagnostician, connection: Connection, actual: object, wrong: bool, row: str) -> Explanation:
    call = function = ""
    try:
        call, function = expressions.shown(connection.records, answers.stage, answers.reference, actual)
        asked = connection.records, connection.names
        found = None
        if wrong:
            found = answers.of_row(row, *asked) if row else answers.explain(*asked)
        return Explanation(call, function, found, late=wrong and found is None and answers.is_late)
    except Exception as error:  # of values that a learner's process chose; memory and recursion are among its kinds
        return Explanation(call, function, failure=_told(error))


def _told(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}"[:TEXT_LIMIT]
