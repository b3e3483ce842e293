"""Maps of weights for a terminal to show, and the lines that it shows without their colours."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from grader.explore.model import WeightMap, weight_map

WORDS = ("The", "cat", "sat", "down")


def attention(count: int, title: str = "Plain", causal: bool = False) -> WeightMap:
    """Weights that fall off with distance."""
    places = np.arange(count)
    weights = np.exp(-np.abs(places[:, None] - places))
    weights = np.tril(weights) if causal else weights
    return weight_map(title, causal, None, weights / weights.sum(axis=1, keepdims=True))


def both(count: int) -> tuple[WeightMap, WeightMap]:
    return attention(count), attention(count, "Causal", True)


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]
