"""What the exploration of stage 22 draws of what its steps found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from drawings.s22.steps import HEADS, LENGTHS, PLACES, TOKENS, exact, seconds
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows
from grader.sandbox.proxies import peak_memory

COSTS = {"tiled": "tiled", "window": "window", "linear": "linear"}
PATTERNS = {"causal": "Causal", "window": "Window", "alibi": "ALiBi, head 0", "linear": "Linear, causal"}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return costs beside those of exact attention, patterns, and what falls or turns with distance."""
    found: list[Drawing] = []
    measured = [name for name in COSTS if f"{name}-held" in known]
    if measured:
        held, spent = _of_exact(known)
        found.append(_curves("held", "Memory", "MB", 2.0**20, held, {key: known[f"{key}-held"] for key in measured}))
        found.append(_curves("spent", "Time", "ms", 1e-3, spent, {key: known[f"{key}-spent"] for key in measured}))
    seen = [name for name in PATTERNS if name in known]
    if seen:
        panels = tuple(Image(PATTERNS[name], _shares(known[name])) for name in seen)
        caption = (
            "Weights as shares of the row's largest: a window forgets, ALiBi fades, linear attention spreads them."
        )
        found.append(Images("patterns", "Who sees whom", caption, "key", "query", panels, 0.0, 1.0))
    if "slopes" in known:
        x = numbers(np.arange(float(TOKENS)))
        series = tuple(Series(f"head {head}", x, numbers(known["slopes"][head])) for head in range(HEADS))
        caption = "Each head has a slope of its own: some look near, and some far."
        chart = (Chart(f"{HEADS} heads", series),)
        found.append(Curves("slopes", "The bias of ALiBi", caption, "distance", "bias", chart))
    if "near" in known:
        x = numbers(np.arange(float(PLACES)))
        names = {"near": "query at 0", "far": "query at 100"}
        series = tuple(Series(name, x, numbers(known[key]), dots=key == "far") for key, name in names.items())
        caption = "Wherever the query stands, the same distance gives the same product."
        chart = (Chart("A query and a key, turned", series),)
        found.append(Curves("rotary", "Rotary embedding", caption, "distance", "product", chart))
    return tuple(found)


def _shares(weights: Array) -> tuple[tuple[float, ...], ...]:
    """Return every row as shares of its largest weight."""
    largest = np.abs(weights).max(axis=1, keepdims=True)
    return rows(weights / np.where(largest == 0, 1, largest))


def _of_exact(known: Known) -> tuple[Array, Array]:
    """Return what exact attention holds and how long it takes, measured here."""
    held, spent = [], []
    for length in LENGTHS:
        given = tuple(x[:length] for x in known["long"])
        held.append(float(peak_memory(exact, *given)[1]))
        spent.append(seconds(exact, *given))
    return np.array(held), np.array(spent)


def _curves(name: str, title: str, unit: str, size: float, whole: Array, others: Mapping[str, Array]) -> Curves:
    x = numbers(np.array(LENGTHS, dtype=np.float64))
    shown = {"exact, all scores": whole, **{COSTS[key]: values for key, values in others.items()}}
    series = tuple(Series(label, x, numbers(np.maximum(values, 1e-6) / size)) for label, values in shown.items())
    captions = {
        "held": "Twice the length: four times as much for all scores at once, about twice for the others.",
        "spent": "Tiles save memory, not steps; a window and sums save both. The fastest of three calls each.",
    }
    chart = (Chart("", series),)
    return Curves(name, title, captions[name], "positions", unit, chart, log_x=True, log_y=True)
