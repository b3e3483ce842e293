"""What the exploration of stage 10 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s10.steps import EVERY, KINDS, STEPS_TAKEN
from grader.explore.model import Array, Chart, Curves, Drawing, Known, Map, Plane, Points, Series, numbers, reach

ROOM = 0.12  # of the map, free for the words beside the outermost points


def _flat(table: Array) -> Array:
    """Return the two directions along which rows of length 1 differ most."""
    rows = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    centred = rows - rows.mean(axis=0)
    values: Array = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    return values


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the map of words, the loss, and the length of a text in pieces."""
    found: list[Drawing] = []
    if "table" in known:
        caption = "Nobody told which words are animals or food: those that keep the same company come to lie together."
        panels = (_map("Before training", known, "first"), _map(f"After {STEPS_TAKEN} steps", known, "table"))
        name = "direction"
        found.append(Plane("map", "Map of the word vectors", caption, f"first {name}", f"second {name}", panels))
    if "losses" in known:
        chart = Chart("Training", (Series("loss", numbers(np.arange(float(STEPS_TAKEN))), numbers(known["losses"])),))
        caption = (
            "It falls fast while words find their kind; made-up pairs are drawn anew each step, so it stays rough."
        )
        found.append(Curves("loss", "Loss of skip-gram", caption, "step", "loss", (chart,)))
    if "lengths" in known:
        x = numbers(np.arange(float(len(known["lengths"]))) * EVERY)
        chart = Chart("Byte pair encoding", (Series("ids", x, numbers(known["lengths"])),))
        caption = "The first merges, of the most frequent pairs, shorten the text most."
        found.append(Curves("pieces", "Length of the text in pieces", caption, "merges", "ids", (chart,)))
    return tuple(found)


def _map(title: str, known: Known, which: str) -> Map:
    """Return the words of a table along the two directions in which they differ most."""
    ids = known["vocabulary"]
    kinds = {name: tuple(word for word in kind if word in ids) for name, kind in KINDS.items()}
    words = [word for kind in kinds.values() for word in kind]
    places = dict(zip(words, _flat(known[which][[ids[word] for word in words]]), strict=True))
    points = tuple(
        Points(
            name, tuple(float(places[word][0]) for word in kind), tuple(float(places[word][1]) for word in kind), kind
        )
        for name, kind in kinds.items()
    )
    (left, right), (low, high) = (reach(tuple(getattr(each, axis) for each in points)) for axis in "xy")
    return Map(title, (left, right + ROOM * (right - left)), (low - ROOM * (high - low), high), points)
