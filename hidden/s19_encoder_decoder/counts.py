"""Losses, answers and scores that the functions of this stage should return, worked out one position at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Next = Callable[[Sequence[int]], Array]


def smoothed_loss(logits: Array, targets: Array, smoothing: float, padding_id: int | None = None) -> float:
    """Return the mean cost of the positions that count."""
    costs = []
    for row, target in zip(logits.reshape(-1, logits.shape[-1]).tolist(), targets.ravel().tolist(), strict=True):
        if target != padding_id:
            peak = max(row)
            total = peak + math.log(math.fsum(math.exp(value - peak) for value in row))
            wanted = [smoothing / len(row) + (1 - smoothing) * (token == target) for token in range(len(row))]
            costs.append(math.fsum(share * (total - value) for share, value in zip(wanted, row, strict=True)))
    return math.fsum(costs) / len(costs) if costs else 0.0


def penalty(length: int, alpha: float) -> float:
    """Return what a score is divided by, through logarithms."""
    return math.exp(alpha * (math.log(5 + length) - math.log(6)))


def search(
    after: Next, start: int, end: int, beam_size: int, max_length: int, alpha: float, keeps_places: bool = False
) -> tuple[list[int], float]:
    """Return the best answer; with keeps_places, finished answers leave as many prefixes in the beam as before.

    Both are beam search in the literature; tests take inputs for which they agree.
    """
    live: dict[tuple[int, ...], float] = {(): 0.0}
    scores: dict[tuple[int, ...], float] = {}
    for length in range(1, max_length + 1):
        sums = {
            (*tokens, token): total + float(value)
            for tokens, total in live.items()
            for token, value in enumerate(after([start, *tokens]))
        }
        best = sorted((tokens for tokens in sums if sums[tokens] > -math.inf), key=lambda tokens: -sums[tokens])
        kept = best[:beam_size]
        scores.update({tokens: sums[tokens] / penalty(length, alpha) for tokens in kept if tokens[-1] == end})
        going_on = [tokens for tokens in (best if keeps_places else kept) if tokens[-1] != end]
        live = {tokens: sums[tokens] for tokens in going_on[:beam_size]}
    scores.update({tokens: total / penalty(max_length, alpha) for tokens, total in live.items()})
    found = max(scores, key=lambda tokens: scores[tokens])
    return [token for token in found if token != end], scores[found]


def every_answer(after: Next, start: int, end: int, max_length: int, alpha: float) -> tuple[list[int], float]:
    """Return the best of all answers that end within max_length tokens, or have that many, by trying each."""
    size = len(after([start]))
    others = [token for token in range(size) if token != end]
    best: tuple[float, list[int]] = (-math.inf, [])
    for length in range(max_length + 1):
        for tokens in itertools.product(others, repeat=length):
            total = sum(float(after([start, *tokens[:place]])[token]) for place, token in enumerate(tokens))
            count = length
            if length < max_length:
                total, count = total + float(after([start, *tokens])[end]), length + 1
            best = max(best, (total / penalty(count, alpha), list(tokens)))
    return best[1], best[0]


def matches(candidates: Sequence[Sequence[Any]], references: Sequence[Sequence[Sequence[Any]]], n: int) -> list[int]:
    """Return [matches, total], n-gram by n-gram: each occurrence may be struck off a reference once."""
    found = total = 0
    for candidate, answers in zip(candidates, references, strict=True):
        grams = _grams(candidate, n)
        total += len(grams)
        for gram in dict.fromkeys(tuple(each) for each in grams):
            allowed = max(_grams(answer, n).count(gram) for answer in answers)
            found += min(grams.count(gram), allowed)
    return [found, total]


def score(candidates: Sequence[Sequence[Any]], references: Sequence[Sequence[Sequence[Any]]], max_n: int) -> float:
    """Return BLEU as a product of powers."""
    product = 1.0
    for n in range(1, max_n + 1):
        found, total = matches(candidates, references, n)
        product *= (found / total) ** (1 / max_n) if found else 0.0
    length = sum(map(len, candidates))
    wanted = 0
    for candidate, answers in zip(candidates, references, strict=True):
        lengths = sorted(map(len, answers))
        wanted += lengths[int(np.argmin([abs(each - len(candidate)) for each in lengths]))]
    return product * math.exp(min(0.0, 1 - wanted / length)) if product else 0.0


def _grams(tokens: Sequence[Any], n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))
