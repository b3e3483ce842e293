"""Whether values are those that a definition gives, and what a drawing says where they are not.

Values that are not right are drawn too, since a learner wants to see them, but never plainly: the title of their panel
or curve says so, and the caption tells what is wrong in place of what is to be noticed.
"""

from __future__ import annotations

import numpy as np

from grader.explore.model import Array

TOLERANCE = 1e-9
LEAST = 1e-16  # of errors that are drawn
Wrong = tuple[str, ...]  # what is not right, a message each


def differing(found: Array, right: Array, name: str) -> Wrong:
    """Return what is to be said of values that are not right: how many they are, and the first of them."""
    off = ~(np.abs(found - right) <= TOLERANCE * np.maximum(1.0, np.abs(right)))
    if not off.any():
        return ()
    place = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
    digits = next((digits for digits in (4, 8) if f"{found[place]:.{digits}g}" != f"{right[place]:.{digits}g}"), 17)
    told = f"{found[place]:.{digits}g} where {right[place]:.{digits}g} is right"
    if found.ndim == 0:
        return (f"{name} is {told}",)
    return (f"{name}: {off.sum()} of {off.size} values {_verb(int(off.sum()))} not right, at {list(place)} {told}",)


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def power(value: float) -> str:
    """Return a number of errors or steps by its first digit.

    >>> power(3.2e-6), power(0.0), power(1.0)
    ('3e-6', '0', '1')
    """
    return f"{value:.1g}".replace("e-0", "e-")


def floored(values: Array) -> Array:
    """Return errors for a logarithmic axis, on which nothing has no place: from LEAST on."""
    found: Array = np.maximum(values, LEAST)
    return found


def floor_told(*values: Array) -> str:
    """Return what is to be said where errors are drawn at LEAST."""
    return f" An error of less than {LEAST:.0e} is drawn there." if any(np.min(each) < LEAST for each in values) else ""


def caption(right: str, *wrong: Wrong) -> str:
    """Return what to notice, or where something is wrong the first thing that is.

    >>> caption("It falls.", (), ("b is 3 where 2 is right",))
    'Not right yet: b is 3 where 2 is right.'
    """
    found = [message for each in wrong for message in each]
    return f"Not right yet: {found[0]}." if found else right


def titled(title: str, wrong: Wrong) -> str:
    """Return the title of a panel or curve, which says so where it is not right."""
    return f"{title}: not right" if wrong else title
