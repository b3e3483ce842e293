"""Which sentence is said of an exception: the first that has one for its message."""

from __future__ import annotations

from grader.diagnosis.exceptions.names import SENTENCES as NAMES
from grader.diagnosis.exceptions.operators import SENTENCES as OPERATORS
from grader.diagnosis.exceptions.place import Place
from grader.diagnosis.exceptions.sizes import SENTENCES as SIZES
from grader.diagnosis.exceptions.values import SENTENCES as VALUES


def helped(message: str, place: Place) -> str:
    """Return what the message of an exception means at a place; nothing where that is unknown, or raised by hand."""
    if place.is_raised_by_hand:
        return ""
    for pattern, sentence in (*SIZES, *VALUES, *NAMES, *OPERATORS):
        found = pattern.search(message)
        if found is not None and (text := sentence(found, place)):
            return text
    return ""
