"""What is shown of a test beside its outcome: the call that gave a value, and its gradients; it may fail alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.diagnosis import expressions
from grader.diagnosis.answers import Answers
from grader.diagnosis.gradients.report import gradients
from grader.outcome import Gradient
from grader.sandbox.connection import Connection

TEXT_LIMIT = 300


@dataclass(frozen=True)
class Explanation:
    """The call that gave a value, and its function.

    gradients compares what a wrong backward pass gave. failure says why something is missing: making it of a learner's
    values failed, which changes no outcome.
    """

    call: str = ""
    function: str = ""
    failure: str = ""
    gradients: tuple[Gradient, ...] = ()


def explained(
    answers: Answers, connection: Connection, actual: object, wrong: bool, criterion: str = ""
) -> Explanation:
    """Return what is shown of a test that ended, by its records; wrong asks for gradients; never raises.

    actual is the value that was found wrong, where there is one; criterion is the one that the test belongs to.
    """
    shown = _called(answers, connection, actual)
    if not wrong or answers.is_stub or not answers.compares(criterion):
        return shown
    try:
        found = gradients(answers.stage, answers.reference, connection.records, connection.names, criterion)
    except Exception as error:  # as below; what is known already stays
        return replace(shown, failure=shown.failure or _told(error))
    if found:
        answers.compared(criterion)
    return replace(shown, gradients=found)


def _called(answers: Answers, connection: Connection, actual: object) -> Explanation:
    try:
        return Explanation(*expressions.shown(connection.records, answers.stage, answers.reference, actual))
    except Exception as error:  # of values that a learner's process chose; memory and recursion are among its kinds
        return Explanation(failure=_told(error))


def _told(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}"[:TEXT_LIMIT]
