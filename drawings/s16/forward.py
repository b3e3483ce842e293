"""Stage 16, forward: each step is read from the attribute that the layer leaves, and seen to follow from the others.

The layer gets weights that make its heads differ; those that it draws itself would leave all attention alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.explore.example import of_one_width
from grader.explore.model import Array, Example, Fact, Known, Reading, Run
from grader.explore.values import Unfit, agree, array, number, span, sums, told, wrong_weights
from grader.sandbox.proxies import RemoteValue

EMBEDDED = ("batch", "seq", "embedding")
HEADS = ("batch", "heads", "seq", "head_dimension")
SCORES = ("batch", "heads", "seq_q", "seq_k")
MATRICES = ("query_weights", "key_weights", "value_weights", "output_weights")
GIVEN = ("query_input", "key_input", "value_input")
SPLIT = ("queries_multihead", "keys_multihead", "values_multihead")
SHARP = 1.5  # about the spread of the scaled scores that the weights are drawn for
MARKED = -1e8  # a score that marks a forbidden place is no higher


def start(example: Example, seed: int) -> Known:
    """Return what the steps begin with; UsageError where the three inputs have not the same features."""
    Q, K, V = of_one_width(example)
    drawing = np.random.default_rng(seed)
    norm = max(float(np.sqrt((np.concatenate([Q, K]) ** 2).sum(axis=1).mean())), 1e-3)
    spread = float(np.sqrt(SHARP)) / norm, 1 / float(np.sqrt(Q.shape[1]))
    shape = (Q.shape[1], Q.shape[1])
    drawn = {name: drawing.normal(size=shape) * spread[place > 1] for place, name in enumerate(MATRICES)}
    inputs = dict(zip(GIVEN, (each[np.newaxis] for each in (Q, K, V)), strict=True))
    causal = example.is_self
    allowed = np.tril(np.ones((len(Q), len(K)), dtype=bool)) if causal else np.full((len(Q), len(K)), True)
    grad_output = drawing.normal(size=(1, len(Q), Q.shape[1]))
    return {**inputs, **drawn, "heads": example.heads, "seed": seed, "causal": causal, "allowed": allowed,
            "grad_output": grad_output, "words": example.words, "keys": example.keys}  # fmt: skip


def made(learner: Any, known: Known) -> Any:
    """Return a layer of the learner's class, as it draws itself."""
    rng = np.random.default_rng(known["seed"])
    layer = learner.Attention(known["query_input"].shape[2], known["heads"], rng=rng)
    if not isinstance(layer, RemoteValue):
        raise Unfit(f"Attention(…) is {type(layer).__name__}, where an object of your class was expected")
    return layer


def forward(layer: Any, known: Known, causal: bool | None = None) -> object:
    """Call forward on the inputs; one array is given once where it is query, key and value."""
    if known["causal"]:
        return layer.forward(known["query_input"], causal=known["causal"] if causal is None else causal)
    return layer.forward(*(known[name] for name in GIVEN))


def norm(values: Array) -> Fact:
    """Return the fact how long values are, taken as one vector."""
    size = float(np.sqrt((values[np.isfinite(values)] ** 2).sum()))
    return Fact("norm", (size,), f"norm {number(size)}")


def split(x: Array, heads: int) -> Array:
    """Return (batch, heads, seq, head_dimension) of (batch, seq, embedding)."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def joined(x: Array) -> Array:
    """Return (batch, seq, embedding) of (batch, heads, seq, head_dimension)."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def shares_of(scores: Array) -> Array:
    """Return the softmax along the last axis; a row has a score that is finite."""
    grown = np.exp(scores - np.amax(scores, axis=-1, keepdims=True))
    return np.asarray(grown / np.sum(grown, axis=-1, keepdims=True))


def transposed(x: Array) -> Array:
    """Return each table of x turned over: rows become columns."""
    return np.swapaxes(x, -1, -2)


def run_layer(learner: Any, known: Known) -> Reading:
    """Make two layers, one of them to be nudged, and give both the same weights."""
    layer, probe = made(learner, known), made(learner, known)
    shape = known[MATRICES[0]].shape
    spreads = [float(array(getattr(layer, name), shape, name=name).std()) for name in MATRICES]
    for name in MATRICES:
        setattr(layer, name, known[name])
        setattr(probe, name, known[name])
    return Reading({"layer": layer, "probe": probe}, None, (), (told("std of each of its weights", spreads),))


def run_forward(learner: Any, known: Known) -> Reading:
    """Run forward, and keep what it left where it is not finished."""
    layer = known["layer"]
    try:
        returned: object = forward(layer, known)
        code = "" if known["causal"] else "layer.forward(query_input, key_input, value_input)"
        return Reading({"forward": True, "failure": None, "returned": returned}, code=code)
    except Exception as error:
        if not hasattr(error, "learner_frames") or _left(layer, SPLIT[0]) is None:
            raise
        return stopped("forward", error, {"forward": True, "failure": error})


def stopped(method: str, error: Exception, values: Known) -> Reading:
    """Return the reading of a method that left some of its steps and did not end: fine where the rest is unwritten."""
    if isinstance(error, NotImplementedError):
        return Reading(values, None, (), (Fact("stopped", (), "it stops where it is not written yet"),))
    return Reading(values, None, (), (), (f"{method} did not end: {type(error).__name__}: {error}",))


def _left(layer: Any, name: str) -> object:
    try:
        return getattr(layer, name)
    except AttributeError:
        return None


def _attribute(known: Known, name: str, shape: tuple[int, ...], axes: tuple[str, ...], infinite: bool = False) -> Array:
    value = _left(known["layer"], name)
    if value is None:
        if known["failure"] is not None:
            raise known["failure"]
        raise Unfit(f"forward leaves no attribute {name}")
    return array(value, shape, axes, name=name, infinite=infinite)


def projections(known: Known) -> list[Array]:
    """Return queries, keys and values, (batch, seq, embedding)."""
    return [known[x] @ known[w] for x, w in zip(GIVEN, MATRICES[:3], strict=True)]


def run_project(learner: Any, known: Known) -> Reading:
    """Project the three inputs: the one step that leaves no attribute."""
    found = projections(known)
    sizes = [norm(x).values for x in found]
    facts = [Fact(name, size, f"norm of {name} {number(size[0])}") for name, size in zip("QKV", sizes, strict=True)]
    return Reading({"projected": True}, found[0].shape, EMBEDDED, tuple(facts))


def run_split(place: int) -> Run:
    """Return the run that reads the heads of queries, keys or values."""
    name = SPLIT[place]

    def run(learner: Any, known: Known) -> Reading:
        expected = split(projections(known)[place], known["heads"])
        found = _attribute(known, name, expected.shape, HEADS)
        scale = expected.shape[-1] ** -0.5
        right = any(agree(factor * expected, found) for factor in ((1, scale, scale**0.5) if place < 2 else (1,)))
        wrong = () if right else (f"each head should hold its own features of every row of {'QKV'[place]}",)
        return Reading({name: found}, found.shape, HEADS, (norm(found), span(found)), wrong)

    return run


def _square(known: Known) -> tuple[int, ...]:
    return (1, known["heads"], *known["allowed"].shape)


def run_step(name: str, wrong: str) -> Run:
    """Return the run of a step whose values follow from those of the steps before it."""

    def run(learner: Any, known: Known) -> Reading:
        expected = _EXPECTED[name](known)
        axes = SCORES if expected.shape == _square(known) and name in _OF_SCORES else (
            EMBEDDED if expected.ndim == 3 else HEADS)  # fmt: skip
        found = _attribute(known, name, expected.shape, axes, name == "masked_scores")
        may = known["allowed"] if name == "masked_scores" else np.True_
        marked = bool((found <= MARKED)[..., ~known["allowed"]].all()) if name == "masked_scores" else True
        right = marked and agree(np.where(may, expected, 0), np.where(may, found, 0))
        off: tuple[str, ...] = () if right else (wrong,)
        facts = [norm(found), span(found[found > MARKED])] if (found > MARKED).any() else []
        if name == "masked_scores":
            out = int((~known["allowed"]).sum())
            facts.append(Fact("masked", (out,), f"{out} of {known['allowed'].size} pairs masked"))
        if name.endswith("weights"):
            facts, off = [norm(found), sums(found)], off or wrong_weights(found, known["causal"])
        free = name == "masked_scores" and not known["causal"]
        return Reading({name: found}, found.shape, axes, tuple(facts), off, f"{name} = scaled_scores" if free else "")

    return run


_OF_SCORES = ("attention_scores", "scaled_scores", "masked_scores", "attention_weights")
_EXPECTED: Mapping[str, Callable[[Known], Array]] = {
    "attention_scores": lambda known: known[SPLIT[0]] @ transposed(known[SPLIT[1]]),
    "scaled_scores": lambda known: (
        split(projections(known)[0], known["heads"]) @ transposed(split(projections(known)[1], known["heads"]))
    ) * (known["query_input"].shape[2] // known["heads"]) ** -0.5,
    "masked_scores": lambda known: np.where(known["allowed"], known["scaled_scores"], -np.inf),
    "attention_weights": lambda known: shares_of(known["masked_scores"]),
    "attention_output": lambda known: known["attention_weights"] @ known[SPLIT[2]],
    "concatenated_heads": lambda known: joined(known["attention_output"]),
}  # fmt: skip


def run_plain(learner: Any, known: Known) -> Reading:
    """Return the weights without a mask, of a layer with the same matrices."""
    forward(known["probe"], known, causal=False)
    weights = array(known["probe"].attention_weights, _square(known), SCORES, name="attention_weights")
    return Reading({"plain": weights}, weights.shape, SCORES, (norm(weights), sums(weights)),
                   wrong_weights(weights, False))  # fmt: skip


def run_output(learner: Any, known: Known) -> Reading:
    """Read what forward returned."""
    if known["failure"] is not None:
        raise known["failure"]
    found = array(known["returned"], known["query_input"].shape, EMBEDDED, name="output")
    right = agree(known["concatenated_heads"] @ known["output_weights"], found)
    wrong = () if right else ("the output should be concatenated_heads times output_weights",)
    return Reading({"output": found}, found.shape, EMBEDDED, (norm(found), span(found)), wrong)
