"""What the requests of a failing test show before a repair is looked for: whether it raised, or drew numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.diagnosis.slips.probes import Failing
from grader.sandbox.record import Record

FEW_NUMBERS = 8


def is_raised(failing: Failing) -> bool:
    """Say whether a test ended in an exception of the learner's: a wrong value tells more of its cause."""
    return any(not isinstance(record.error, (StopIteration, type(None))) for record in failing.records)


def is_of_nothing(failing: Failing) -> bool:
    """Say whether a test asks for something of no entries: what has no part in it cannot show there."""
    given = (value for record in failing.records for value in (*record.args, *record.kwargs.values()))
    return any(isinstance(value, np.ndarray) and not value.size for value in given)


def says_little(failing: Failing) -> bool:
    """Say whether the last answer is one or a few whole numbers, or True and False: it has many causes."""
    try:
        answer = np.asarray(failing.records[-1].result)
    except (ValueError, TypeError):
        return False
    return answer.dtype.kind in "biu" and 0 < answer.size <= FEW_NUMBERS


def has_generator(records: Sequence[Record]) -> bool:
    """Say whether a generator is handed on, so that what is asked may be made of draws."""
    values = (value for record in records for value in (*record.args, *record.kwargs.values()))
    return any(isinstance(value, np.random.Generator) for value in values)


def has_arrays(records: Sequence[Record]) -> bool:
    """Say whether arrays are given."""
    values = (value for record in records for value in (*record.args, *record.kwargs.values()))
    return any(isinstance(value, np.ndarray) for value in values)


def is_drawn(records: Sequence[Record]) -> bool:
    """Say whether answers come of draws: a generator is handed on, and no array but with it."""
    plain = True
    drawn = False
    for record in records:
        given = (*record.args, *record.kwargs.values())
        has_generator = any(isinstance(value, np.random.Generator) for value in given)
        drawn = drawn or has_generator
        plain = plain and (has_generator or not any(isinstance(value, np.ndarray) for value in given))
    return drawn and plain
