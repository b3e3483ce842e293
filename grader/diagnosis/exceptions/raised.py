"""What is told of an exception that a learner's call raised, where that may fail without changing a result."""

from __future__ import annotations

from grader.course.stage import Stage
from grader.diagnosis.exceptions.help import helped
from grader.diagnosis.exceptions.place import Place
from grader.sandbox.record import Frame, Record
from grader.submission.source import plain_text


def help_with(error: BaseException | None, source: bytes, stage: Stage) -> str:
    """Return what an exception means on the learner's line; nothing where that is unknown."""
    if error is None or not hasattr(error, "learner_seen"):
        return ""
    frames: list[Frame] = getattr(error, "learner_frames", [])
    line, function = (frames[-1].line, frames[-1].function) if frames else (0, "")
    try:
        return helped(
            str(error), Place(plain_text(source) or "", line, error.learner_seen, stage.axes.get(function, {}))
        )
    except Exception:  # a source and a message that a learner chose; recursion is among its kinds
        return ""


def is_of_a_call(records: list[Record], error: BaseException | None) -> bool:
    """Say whether a function that a test called raised this, be it before its first line: its arguments did not fit."""
    told = hasattr(error, "learner_seen")  # else a function of the test raised it, which the call passed on
    return told and any(record.error is error and record.kind == "call" for record in records)
