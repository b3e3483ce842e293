"""Stage 23: products that know distance, heads that share keys under a window, a rolling cache, and a training.

Patterns are read by giving the values of an identity matrix: the output is then the array of weights. The cache is
given keys that are the numbers of their positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Step
from grader.explore.values import (
    Unfit,
    agree,
    array,
    bounded,
    fall,
    listing,
    number,
    scalar,
    several,
    sums,
    wrong_weights,
)
from grader.sandbox.proxies import RemoteValue

BASES, PLACES, TURNED = (100.0, 10000.0, 500000.0), 64, 32
HEADS, SHARED, TOKENS, WINDOW = 4, 2, 10, 4
READ, KEPT = 9, 3
TRAINING, LENGTH, BATCH, STEPS_TAKEN, RATE = 700, 24, 8, 150, 0.015
DIM, HIDDEN = 32, 108
DECAY, FAST, SLOW = 0.01, 0.9, 0.999  # of AdamW
AXES, SQUARE = ("seq", "d"), ("seq_q", "seq_k")
GIVEN = f"{TOKENS} tokens for what is seen · {READ} for the cache · 700 sentences of the course for the training"


def start(example: None, seed: int, files: Mapping[str, bytes]) -> Known:
    """Return queries and keys, and the sentences as one text."""
    draws = np.random.default_rng(seed)
    lines = [[".", *line.split()[:-1]] for line in files["sentences.txt"].decode().splitlines()]
    words = sorted({word for line in lines for word in line})
    index = {word: place for place, word in enumerate(words)}
    text = np.array([index[word] for line in lines[:TRAINING] for word in line])
    queries, keys = (draws.standard_normal((heads, TOKENS, 4)) for heads in (HEADS, SHARED))
    return {"queries": queries, "keys": keys, "text": text, "words": words, "seed": seed}


def _rotary(learner: Any, known: Known) -> Reading:
    """Turn a query and keys of ones: their product is the mean of the cosines of all pairs."""
    lines, wrong = [], []
    for base in BASES:
        near, far = (_products(learner, base, first) for first in (0, 100))
        lines.append(near / TURNED)
        if not agree(near, far):
            wrong = ["the dot product should depend on the distance of the positions alone"]
    products = np.array(lines)
    text = ", ".join(
        f"{number(float(line[10]))} with base {base:,.0f}" for base, line in zip(BASES, lines, strict=True)
    )
    facts = (Fact("ten", tuple(float(line[10]) for line in lines), f"at distance 10: {text}"),)
    return Reading({"products": products}, (PLACES, TURNED), AXES, facts, tuple(wrong))


def _products(learner: Any, base: float, first: int) -> Array:
    """Return the dot products of a query at one position and keys at that one and those that follow."""
    places, ones = np.arange(first, first + PLACES), np.ones((PLACES, TURNED))
    query = bounded(array(learner.rotary_forward(ones[:1], places[:1], base), (1, TURNED), AXES))
    keys = bounded(array(learner.rotary_forward(ones, places, base), (PLACES, TURNED), AXES))
    return np.asarray(keys @ query[0])


def _heads(learner: Any, known: Known) -> Reading:
    """Read the weights of every head of queries."""
    values = np.tile(np.eye(TOKENS), (SHARED, 1, 1))
    returned = learner.grouped_query_attention_forward(known["queries"], known["keys"], values, WINDOW)
    output, _ = several(returned, ("output", "cache"))
    found = bounded(array(output, (HEADS, TOKENS, TOKENS), ("head", *SQUARE)))
    wrong = list(wrong_weights(found, causal=True))
    hidden = np.tri(TOKENS, k=-WINDOW, dtype=bool)
    if not wrong and np.abs(found[:, hidden]).max() > 0:
        wrong.append("a key outside of the window has weight")
    return Reading({"weights": found}, found.shape, ("head", *SQUARE), (sums(found[0]),), tuple(wrong))


def _cache(learner: Any, known: Known) -> Reading:
    """Append one position after another, and look at what is kept."""
    cache = learner.RollingCache(KEPT)
    kept, wrong = np.zeros((READ, READ)), []
    for place in range(READ):
        new = np.full((1, 1, 1, 1), float(place))
        cache.append(new, new)
        count = min(place + 1, KEPT)
        found = array(cache.keys, (1, 1, count, 1), ("batch", "head", "position", "feature"), name="keys").ravel()
        if not set(found.tolist()) <= set(range(READ)):
            raise Unfit("keys: holds numbers that were never appended")
        kept[place, found.astype(int)] = 1
        if found.tolist() != list(range(place + 1 - count, place + 1)):
            wrong = [f"after position {place} the last {count} should be kept, the oldest first"]
    facts = (Fact("kept", tuple(found.tolist()), f"kept in the end: {' '.join(f'{each:g}' for each in found)}"),)
    return Reading({"kept": kept}, None, (), facts, tuple(wrong))


def _training(learner: Any, known: Known) -> Reading:
    """Draw a model's parameters by scaled_initialisation and train it, by an AdamW of this file."""
    rng, tokens = np.random.default_rng(known["seed"]), len(known["words"])
    model = learner.ModernGPT(tokens, 1, DIM, HEADS, SHARED, HIDDEN, rng)
    if not isinstance(model, RemoteValue):
        raise Unfit(f"ModernGPT(…) is {type(model).__name__}, where an object of your class was expected")
    learner.scaled_initialisation(model, 1, rng)
    history = learner.train(model, list(_batches(rng, known["text"])), adamw, rate_of, STEPS_TAKEN)
    if not isinstance(history, dict) or "loss" not in history:
        raise Unfit("train should return a dict with a list of losses under 'loss'")
    losses, guess = bounded(listing(history["loss"], STEPS_TAKEN, "loss")), scalar(learner.initial_loss(tokens))
    wrong = () if losses[-1] < losses[0] / 2 else (f"the loss should fall: it ends at {number(float(losses[-1]))}",)
    facts = (fall("loss", losses), Fact("guess", (guess,), f"a guess has {number(guess)}"))
    return Reading({"losses": losses, "guess": guess}, None, (), facts, wrong)


def _batches(rng: np.random.Generator, text: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (ids, targets) from places of the text drawn at random."""
    for _ in range(STEPS_TAKEN):
        stretches = text[rng.integers(0, len(text) - LENGTH, size=(BATCH, 1)) + np.arange(LENGTH + 1)]
        yield stretches[:, :-1], stretches[:, 1:]


def rate_of(step: int) -> float:
    """Return a rate that rises for a tenth of the steps, and then falls."""
    return RATE * min(1.0, (step + 1) / (STEPS_TAKEN / 10)) * (1 - step / STEPS_TAKEN)


def adamw(params: Any, grads: Any, state: Any, learning_rate: float) -> tuple[Any, Any]:
    """Return one step of AdamW, as in s05."""
    if not isinstance(grads, dict) or set(grads) != set(params):
        raise Unfit("the optimizer should get gradients with the names of params")
    count = state.get("count", 0) + 1
    means, squares, moved = {}, {}, {}
    for name, value in params.items():
        grad = bounded(array(grads[name], np.shape(value), name=f"grads[{name!r}]"))
        means[name] = FAST * state.get("means", {}).get(name, 0) + (1 - FAST) * grad
        squares[name] = SLOW * state.get("squares", {}).get(name, 0) + (1 - SLOW) * grad**2
        step = means[name] / (1 - FAST**count) / (np.sqrt(squares[name] / (1 - SLOW**count)) + 1e-8)
        moved[name] = value * (1 - learning_rate * DECAY) - learning_rate * step
    return moved, {"count": count, "means": means, "squares": squares}


GROUPED = "grouped_query_attention_forward"
STEPS = (
    Step("distance", "Distance", "Turned features have products that know how far apart they are, and nothing else.",
         (Call("products", "rotary_forward(q, …) @ rotary_forward(k, …)", "rotary_forward", (), _rotary),)),
    Step("heads", "Shared heads", "Values of an identity matrix come out as the weights that they were given.",
         (Call("weights", f"{GROUPED}(Q, K, I, {WINDOW})", GROUPED, (), _heads, criterion="window"),)),
    Step("cache", "A rolling cache", "Each new position takes the place of the one that left the window.",
         (Call("kept", f"RollingCache({KEPT}), append, {READ} times", "RollingCache.append", (), _cache),)),
    Step("training", "Training", "Sentences whose last word follows from their first noun, and your own loop.",
         (Call("losses", f"train(model, batches, adamw, schedule, {STEPS_TAKEN})", "train", (), _training),)),
)  # fmt: skip
