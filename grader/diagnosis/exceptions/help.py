"""Choose the sentence for an exception: the first that has one for its message."""

from __future__ import annotations

import re

from grader.course.stage import Stage
from grader.diagnosis.exceptions.names import SENTENCES as NAMES
from grader.diagnosis.exceptions.place import Place
from grader.diagnosis.exceptions.sizes import SENTENCES as SIZES
from grader.diagnosis.exceptions.values import SENTENCES as VALUES
from grader.sandbox.record import Frame, Record
from grader.submission.source import plain_text

_SIZE = r"(\d{1,9}(?:\.\d{0,9})?) (bytes|[KMGTPE]iB)"  # what has more digits is not NumPy's
_NUMPY = re.compile(rf"Unable to allocate {_SIZE} for an array with shape (\([\d, ]*\))")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def helped(message: str, place: Place) -> str:
    """Return what the message of an exception means at a place; nothing where that is unknown, or raised by hand."""
    if place.is_raised_by_hand:
        return ""
    for pattern, sentence in (*VALUES, *SIZES, *NAMES):
        found = pattern.search(message)
        if found is not None and (text := sentence(found, place)):
            return text
    return ""


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


def too_much(said: str, most: int) -> str:
    """Return the message for a MemoryError that said so much, in a stage of most MB (of 2**20 bytes, as in stage.toml).

    "Unable to allocate 488. MiB for an array with shape (64000000,) …" becomes "an array of shape (64000000,) takes
    488 MB, and about 536 MB or more are held already: together more than the 1024 MB that a stage may use".
    """
    found = _NUMPY.match(said)
    if found is None:
        return f"with this the module would use more than the {most} MB that a stage may use"
    size = round(float(found[1]) * 1024.0 ** (_UNITS.index(found[2]) - _UNITS.index("MiB")))
    array = f"an array of shape {found[3]} takes {size} MB"
    if size > most:
        return f"{array}, more than the {most} MB that a stage may use"
    held = f"about {most - size} MB or more are held already"
    return f"{array}, and {held}: together more than the {most} MB that a stage may use"
