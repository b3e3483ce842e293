"""Stage 18: a GPT learns the course's sentences, then continues a prompt, word by word, with a cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.explore.example import beginning
from grader.explore.model import Array, Call, Example, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, fall, number, scalar, several
from grader.sandbox.proxies import RemoteValue

PROMPT = "the cows near the old barn"
STOP = "."
TRAINING, HELD_OUT = 700, 800  # lines before the one are trained on, those from the other on are held out
BATCH, STEPS_TAKEN, RATE = 16, 150, 0.02
DIM, HEADS, MOST = 24, 4, 6  # MOST: words that are written
SAMPLES, TEMPERATURE, TOP_P, SHOWN = 3, 1.0, 0.9, 3
GIVEN = "a GPT of one block and four heads, trained on 700 sentences of the course; --words gives it another beginning"


def start(example: Example | None, seed: int, files: Mapping[str, bytes]) -> Known:
    """Return the sentences as ids, padded with full stops, and the prompt; UsageError for words that are in none."""
    lines = [line.split() for line in files["sentences.txt"].decode().splitlines()]
    words = sorted({word for line in lines for word in line})
    index = {word: number for number, word in enumerate(words)}
    ids = np.full((len(lines), max(map(len, lines))), index[STOP])
    real = np.full(ids.shape, False)
    for at, line in enumerate(lines):
        ids[at, : len(line)], real[at, : len(line)] = [index[word] for word in line], True
    prompt = tuple(PROMPT.split()) if example is None else beginning(example, words, ids.shape[1] - 2)
    begun = np.array([[index[word] for word in prompt]])
    return {"ids": ids, "real": real, "words": words, "prompt": begun, "seed": seed}


def _model(learner: Any, known: Known) -> Reading:
    """Make a model, and say what it expects before it has seen a sentence."""
    rng = np.random.default_rng(known["seed"])
    model = learner.GPT(len(known["words"]), known["ids"].shape[1], 1, DIM, HEADS, rng)
    if not isinstance(model, RemoteValue):
        raise Unfit(f"GPT(…) is {type(model).__name__}, where an object of your class was expected")
    logits = _logits(model.forward(known["prompt"]), known)
    return Reading({"model": model}, logits.shape, ("batch", "seq", "token"), (_next(logits, known),))


def _logits(value: object, known: Known, seq: int | None = None) -> Array:
    length = known["prompt"].shape[1] if seq is None else seq
    return bounded(array(value, (1, length, len(known["words"])), ("batch", "seq", "token"), name="logits"))


def _shares(logits: Array) -> Array:
    """Return the probabilities of what follows the last position."""
    powers = np.exp(logits[0, -1] - logits[0, -1].max())
    return np.asarray(powers / powers.sum())


def _next(logits: Array, known: Known) -> Fact:
    """Return the likeliest words to follow."""
    shares = _shares(logits)
    best = np.argsort(-shares)[:SHOWN]
    told = ", ".join(f"{known['words'][place]} {shares[place]:.2f}" for place in best)
    return Fact("next", tuple(float(shares[place]) for place in best), f"next word: {told}")


def train(learner: Any, known: Known) -> Reading:
    """Train by Adam, and tell how the loss fell."""
    model, rng = known["model"], np.random.default_rng(known["seed"])
    params = dict(model.params)
    moments: dict[str, tuple[Array, Array]] = {}
    losses = []
    for number_ in range(1, STEPS_TAKEN + 1):
        rows = rng.integers(TRAINING, size=BATCH)
        losses.append(_step(learner, model, params, moments, number_, known["ids"][rows], known["real"][rows]))
    held = known["ids"][HELD_OUT:], known["real"][HELD_OUT:]
    reached = _loss(learner, model, *held)[0]
    wrong: tuple[str, ...] = ()
    if losses[-1] > losses[0] / 2:
        wrong = (f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}",)
    perplexity = float(np.exp(min(reached, 50.0)))
    told = f"perplexity of {len(held[0])} held-out sentences, from their second word on, {number(perplexity)}"
    facts = (fall("loss", np.array(losses)), Fact("perplexity", (perplexity,), told))
    return Reading({"losses": np.array(losses)}, None, (), facts, wrong)


def _loss(learner: Any, model: Any, ids: Any, real: Any) -> tuple[float, object]:
    found = learner.cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:], real[:, 1:])
    loss, grad = several(found, ("loss", "grad_logits"))
    return scalar(loss, "loss"), grad


def _step(
    learner: Any, model: Any, params: dict[str, Array], moments: dict[str, tuple[Array, Array]], count: int,
    ids: Any, real: Any,
) -> float:  # fmt: skip
    """Take one step of Adam, and return the loss before it."""
    loss, grad_logits = _loss(learner, model, ids, real)
    model.backward(grad_logits)
    grads, rate = model.grads, RATE * min(1, count / 10) * (1 - 0.9 * count / STEPS_TAKEN)
    if not isinstance(grads, dict) or set(grads) != set(params):
        raise Unfit("grads should be a dict with the names of params")
    for name, value in params.items():
        grad = bounded(array(grads[name], value.shape, name=f"grads[{name!r}]"))
        mean, square = moments.get(name, (np.zeros_like(grad), np.zeros_like(grad)))
        mean, square = mean + 0.1 * (grad - mean), square + 0.02 * (grad**2 - square)
        moments[name] = mean, square
        size = np.sqrt(square / (1 - 0.98**count)) + 1e-8
        params[name] = value - rate * mean / (1 - 0.9**count) / size
    model.params = params
    return loss


def _expected(learner: Any, known: Known) -> Reading:
    logits = _logits(known["model"].forward(known["prompt"]), known)
    return Reading({"expected": logits}, logits.shape, ("batch", "seq", "token"), (_next(logits, known),))


def _writing(choose: str) -> Run:
    """Return what continues the prompt token by token with a cache, by greedy or by sample."""

    def run(learner: Any, known: Known) -> Reading:
        rng = np.random.default_rng(known["seed"])
        first, cache = several(known["model"].forward_with_cache(known["prompt"]), ("logits", "cache"))
        first = _logits(first, known)
        facts = []
        for count in range(SAMPLES if choose == "sample" else 1):
            logits, kept, written = first, cache, known["prompt"]
            shares: list[float] = []
            while len(shares) < min(MOST, known["ids"].shape[1] - known["prompt"].shape[1]):
                token = _chosen(learner, choose, logits, rng)
                shares.append(float(_shares(logits)[token]))
                written = np.append(written, [[token]], axis=1)
                if known["words"][token] == STOP:
                    break
                again = several(known["model"].forward_with_cache(written[:, -1:], kept), ("logits", "cache"))
                logits, kept = _logits(again[0], known, 1), again[1]
            facts.append(_told(count, choose, written, shares, known))
        if choose == "sample":
            return Reading({"samples": True}, None, (), tuple(facts))
        return _seen(known, written[:, :-1], logits, facts[0])

    return run


def _chosen(learner: Any, choose: str, logits: Array, rng: np.random.Generator) -> int:
    if choose == "greedy":
        found = learner.greedy(logits[:, -1])
    else:
        found = learner.sample(logits[:, -1], temperature=TEMPERATURE, top_p=TOP_P, rng=rng)
    token = int(array(found, (1,), name=f"what {choose} returned")[0])
    if not 0 <= token < logits.shape[-1]:
        raise Unfit(f"{choose} returned {token}, expected a token from 0 to {logits.shape[-1] - 1}")
    return token


def _told(count: int, choose: str, written: Any, shares: list[float], known: Known) -> Fact:
    new = written[0, known["prompt"].shape[1] :]
    text = " ".join(f"{known['words'][token]} ({share:.2f})" for token, share in zip(new.tolist(), shares, strict=True))
    return Fact(f"{choose}-{count + 1}", tuple(shares), f"… {text}")


def _seen(known: Known, ids: Any, logits: Array, told: Fact) -> Reading:
    """Return the heads' weights over all that was read, and whether the cache gave what one pass gives."""
    whole = _logits(known["model"].forward(ids), known, ids.shape[1])
    length = ids.shape[1]
    weights = array(known["model"].blocks[0].attention_weights, (1, HEADS, length, length), name="attention_weights")
    wrong = () if agree(whole[:, -1:], logits[:, -1:]) else ("with the cache the last scores are not those of forward",)
    values = {"weights": weights[0], "read": tuple(known["words"][token] for token in ids[0].tolist())}
    return Reading(values, None, (), (told,), wrong)


GPT_FORWARD, CACHED = "GPT.forward", "GPT.forward_with_cache"
STEPS = (
    Step("untrained", "A new model", "It has read nothing yet: which words it prefers is chance.",
         (Call("model", "model.forward(prompt)", GPT_FORWARD, (), _model),), process="model"),
    Step("training", "Training", "Sentences whose last word follows from their first noun.",
         (Call("losses", f"forward, cross_entropy_loss, backward, {STEPS_TAKEN} times", "GPT.backward", ("model",),
               train),), process="model"),
    Step("expected", "What comes next?", "Now the model has seen which words follow which.",
         (Call("expected", "model.forward(prompt)", GPT_FORWARD, ("losses",), _expected),), process="model"),
    Step("written", "Word by word", "Each word is chosen, and read with the cache: nothing is read twice.",
         (Call("weights", "forward_with_cache and greedy, in turn", CACHED, ("expected",), _writing("greedy")),),
         process="model"),
    Step("drawn", "By chance", f"Words are drawn from the likeliest, which make up {TOP_P:.0%}.",
         (Call("samples", f"sample(logits, top_p={TOP_P})", "sample", ("expected",), _writing("sample")),),
         process="model"),
)  # fmt: skip
