"""Stage 22: what attention costs as sequences grow, what each pattern lets a query see, and scores that know distance.

Exact attention is computed here, with the array of all scores; what the learner's functions take is measured where they
run. Patterns are read by giving the values of an identity matrix: the output is then the array of weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, number, several, sums, told, wrong_weights
from grader.sandbox.proxies import peak_memory

LENGTHS = (128, 256, 512, 1024)
FEATURES, BLOCK, LEFT, TIMES = 8, 32, 31, 3
TOKENS, SEEN, HEADS, TURNED = 12, 3, 6, 16
PLACES = 24  # positions between which a rotated query and key are compared
AXES, SQUARE = ("seq", "d"), ("seq_q", "seq_k")
GIVEN = f"{LENGTHS[0]} to {LENGTHS[-1]} positions for what it costs · {TOKENS} tokens for what is seen"


def start(example: None, seed: int) -> Known:
    """Return long and short queries, keys and values."""
    rng = np.random.default_rng(seed=seed)
    long, short = rng.standard_normal((3, LENGTHS[-1], FEATURES)), 0.6 * rng.standard_normal((2, TOKENS, FEATURES))
    return {"long": long, "short": short, "pair": rng.standard_normal((2, TURNED))}


def exact(Q: Array, K: Array, V: Array) -> Array:
    """Return causal attention by way of all its scores."""
    scores = np.where(np.tri(len(Q), dtype=bool), Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    powers = np.exp(scores - np.max(scores, axis=1)[:, None])
    return np.asarray(powers / powers.sum(axis=1, keepdims=True) @ V)


def seconds(function: Callable[..., object], *given: object, **options: object) -> float:
    """Return how long the fastest of a few calls takes."""
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        function(*given, **options)
        found.append(time.perf_counter() - began)
    return min(found)


def _cost(key: str, call: Callable[[Any], tuple[Any, tuple[Any, ...], dict[str, Any]]], is_exact: bool = False) -> Run:
    """Return a run that measures a call, (function, further arguments, options), at every length."""

    def run(learner: Any, known: Known) -> Reading:
        function, more, options = call(learner)
        held, spent, wrong = [], [], []
        for length in LENGTHS:
            given = tuple(x[:length] for x in known["long"])
            returned, peak = peak_memory(function, *given, *more, **options)
            spent.append(seconds(function, *given, *more, **options))
            held.append(peak)
            first = several(returned, ("output", "log_sum_exp"))[0] if key == "tiled" else returned
            output = bounded(array(first, (length, FEATURES), AXES, name="output"))
            if is_exact and not agree(exact(*given), output):
                wrong = [f"{length} positions: the output should be that of exact attention"]
        if held[-1] >= 4 * LENGTHS[-1] ** 2:
            wrong.append(f"{LENGTHS[-1]} positions took {_bytes(held[-1])}: is there a number for each pair?")
        values = {f"{key}-held": np.array(held, dtype=np.float64), f"{key}-spent": np.array(spent)}
        text = f"{_bytes(held[0])} for {LENGTHS[0]} positions, {_bytes(held[-1])} for {LENGTHS[-1]}"
        facts = (Fact("held", tuple(held), text),)
        return Reading(values, (LENGTHS[-1], FEATURES), AXES, facts, tuple(wrong))

    return run


def _bytes(size: float) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 1 << 20 else f"{size / 1024:.0f} KB"


def _pattern(key: str, causal: bool, weights: Callable[[Any, Known], object], seen: Callable[[int, int], bool]) -> Run:
    """Return a run that reads an array of weights; seen says which query may look at which key."""

    def run(learner: Any, known: Known) -> Reading:
        found = bounded(array(weights(learner, known), (TOKENS, TOKENS), SQUARE))
        wrong = list(wrong_weights(found, causal))
        allowed = np.array([[seen(i, j) for j in range(TOKENS)] for i in range(TOKENS)])
        if not wrong and np.abs(found[~allowed]).max(initial=0.0) > 0:
            wrong.append("a key outside of the pattern has weight")
        return Reading({key: found}, found.shape, SQUARE, (sums(found),), tuple(wrong))

    return run


def _tiled(learner: Any, known: Known) -> object:
    returned = learner.tiled_attention(*known["short"], np.eye(TOKENS), 4, causal=True)
    return several(returned, ("output", "log_sum_exp"))[0]


def _window(learner: Any, known: Known) -> object:
    return learner.sliding_window_attention(*known["short"], np.eye(TOKENS), SEEN)


def _linear(learner: Any, known: Known) -> object:
    return learner.linear_attention(*known["short"], np.eye(TOKENS), causal=True)


def _alibi(learner: Any, known: Known) -> object:
    bias = array(learner.alibi_bias(HEADS, TOKENS), (HEADS, TOKENS, TOKENS), ("head", *SQUARE), infinite=True)[0]
    if not np.isfinite(bias.max(axis=1)).all():
        raise Unfit("a row of the bias holds -inf only: no key is left for that query")
    powers = np.exp(bias - bias.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _slopes(learner: Any, known: Known) -> Reading:
    shape = (HEADS, TOKENS, TOKENS)
    bias = bounded(array(learner.alibi_bias(HEADS, TOKENS, causal=False), shape, ("head", *SQUARE)))
    falls = bias[:, 0]
    wrong = () if (np.diff(falls, axis=1) < 0).all() else ("the bias of each head should fall with distance",)
    return Reading({"slopes": falls}, shape, ("head", *SQUARE), (told("slopes", -falls[:, 1]),), wrong)


def _rotary(learner: Any, known: Known) -> Reading:
    q, k = known["pair"]
    near, far = (_products(learner, q, k, first) for first in (0, 100))
    wrong = () if agree(near, far) else ("the dot product should depend on the distance of the positions alone",)
    size = f"query at 0 and at 100: {number(float(near[1]))} and {number(float(far[1]))} for neighbours"
    facts = (Fact("neighbours", (float(near[1]), float(far[1])), size),)
    return Reading({"near": near, "far": far}, (PLACES, TURNED), AXES, facts, wrong)


def _products(learner: Any, q: Array, k: Array, first: int) -> Array:
    """Return the dot products of a query at one position and a key at that one and those that follow."""
    places = np.arange(first, first + PLACES)
    query = bounded(array(learner.rotary_embedding(q[np.newaxis], places[:1]), (1, TURNED), AXES))
    keys = bounded(array(learner.rotary_embedding(np.tile(k, (PLACES, 1)), places), (PLACES, TURNED), AXES))
    return np.asarray(keys @ query[0])


TILED, WINDOW, LINEAR = "tiled_attention", "sliding_window_attention", "linear_attention"
_COSTS = (
    Call("tiled-held", f"{TILED}(Q, K, V, {BLOCK}, causal=True)", TILED, (),
         _cost("tiled", lambda learner: (learner.tiled_attention, (BLOCK,), {"causal": True}), is_exact=True)),
    Call("window-held", f"{WINDOW}(Q, K, V, {LEFT})", WINDOW, (),
         _cost("window", lambda learner: (learner.sliding_window_attention, (LEFT,), {}))),
    Call("linear-held", f"{LINEAR}(Q, K, V)", LINEAR, (),
         _cost("linear", lambda learner: (learner.linear_attention, (), {}))),
)  # fmt: skip
STEPS = (
    Step("cost", "Time and memory", "A number for each pair of tokens is what becomes too much; nothing else does.",
         _COSTS),
    Step("patterns", "Who sees whom", "Values of an identity matrix come out as the weights that they were given.",
         (
             Call("causal", f"{TILED}(Q, K, I, 4, causal=True)", TILED, (),
                  _pattern("causal", True, _tiled, lambda i, j: j <= i)),
             Call("window", f"{WINDOW}(Q, K, I, {SEEN})", WINDOW, (),
                  _pattern("window", True, _window, lambda i, j: i - SEEN <= j <= i)),
             Call("alibi", f"softmax of alibi_bias({HEADS}, {TOKENS})[0]", "alibi_bias", (),
                  _pattern("alibi", True, _alibi, lambda i, j: j <= i)),
             Call("linear", f"{LINEAR}(Q, K, I, causal=True)", LINEAR, (),
                  _pattern("linear", True, _linear, lambda i, j: j <= i)),
         )),
    Step("distance", "Distance", "A bias falls with distance; turned features have products that know it.",
         (
             Call("slopes", f"alibi_bias({HEADS}, {TOKENS}, causal=False)", "alibi_bias", (), _slopes),
             Call("near", "rotary_embedding(q, …) @ rotary_embedding(k, …)", "rotary_embedding", (), _rotary),
         )),
)  # fmt: skip
