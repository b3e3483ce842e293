"""Which argument a call changed in place, by the name of its parameter."""

from __future__ import annotations

from typing import Any

from grader.diagnosis.calls import parameter_names
from grader.sandbox.record import Record

DEEPEST = 4  # containers in one another that are looked into
IN_PLACE = " was changed in place: "


def changed(records: list[Record], reference: object) -> str:
    """Return what is told of a test whose calls changed what they were given; nothing where none did."""
    record = next((record for record in records if record.changed), None)
    if record is None:
        return ""
    names = [name for each in record.touched if (name := parameter(record, each, reference))]
    what = f"its argument {names[0]}" if names else "an argument"
    return f"{record.label} changed {what} in place; it is meant to leave it as it was"


def named(text: str, value: object, records: list[Record], reference: object) -> str:
    """Return a message about a value that was changed in place, with the parameter that it was passed as."""
    _, middle, rest = text.partition(IN_PLACE)
    for record in reversed(records):
        if middle and any(each is value for each in record.touched):
            name = parameter(record, value, reference)
            return f"{name}{IN_PLACE}{rest}" if name else text
    return text


def parameter(record: Record, value: object, reference: object) -> str:
    """Return the name of the parameter that a value was passed as, alone or within a container; empty where unknown."""
    names = parameter_names(reference, record.label)
    for position, given in enumerate(record.given):
        if _holds(given, value):
            return names[position] if position < len(names) else ""
    return next((name for name, given in record.given_by_name.items() if _holds(given, value)), "")


def _holds(given: Any, value: object, depth: int = 0) -> bool:
    if given is value:
        return True
    if depth == DEEPEST or not isinstance(given, (list, tuple, dict)):
        return False
    return any(_holds(each, value, depth + 1) for each in (given.values() if isinstance(given, dict) else given))
