"""Words as labels of small images: cut where they are long."""

from __future__ import annotations

LONGEST = 10


def short(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words of at most ten characters.

    >>> short(("cat", "extraordinarily"))
    ('cat', 'extraordi…')
    """
    return tuple(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in words)
