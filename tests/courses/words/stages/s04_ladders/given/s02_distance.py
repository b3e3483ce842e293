"""How far one word is from another, as s04 gives it to those whose own s02 has not passed."""

from functools import cache


@cache
def edit_distance(a, b):
    """Return the least number of letters to add, take away or change that makes a into b."""
    if not a or not b:
        return len(a) + len(b)
    rest = edit_distance(a[1:], b[1:])
    return rest if a[0] == b[0] else 1 + min(rest, edit_distance(a[1:], b), edit_distance(a, b[1:]))
