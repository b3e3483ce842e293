"""Stage 17 step by step: what goes through a pre-norm block, what its heads attend to, and a post-norm block beside it.

The parts of one block are called one after the other, as its forward does; where the block itself is not written yet,
the layers that are stand in for its parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.example import embeddings
from grader.explore.model import Array, Call, Example, Fact, Known, Reading, Run, Step, WeightMap, weight_map
from grader.explore.values import Unfit, agree, array, span, sums, told, wrong_weights
from grader.sandbox.proxies import RemoteValue

TOKENS = ("batch", "seq", "dim")
WEIGHTS = ("batch", "heads", "seq_q", "seq_k")
RATIO = 4.0  # hidden features of the MLP for each of the block's, the default of the contract
FLAT, NEAR = 1e-2, 0.02  # variance below which eps keeps a word from standard deviation 1, and how near is near


def start(example: Example, seed: int) -> Known:
    """Return what the steps begin with; UsageError where the example is no one array of embeddings."""
    x = embeddings(example)[np.newaxis]
    length = x.shape[1]
    return {"x": x, "num_heads": example.heads, "seed": seed, "mask": np.tril(np.ones((length, length), dtype=bool))}


def _rng(known: Known) -> np.random.Generator:
    return np.random.default_rng(known["seed"])


def _object(value: object, name: str) -> Any:
    if not isinstance(value, RemoteValue):
        raise Unfit(f"{name} is {type(value).__name__}, where an object of one of your classes was expected")
    return value


def _words(values: Array) -> tuple[Fact, Fact]:
    """Return mean and standard deviation of every word's features."""
    return told("mean of each word", values[0].mean(axis=-1)), told("std of each word", values[0].std(axis=-1))


def _tokens(value: object, known: Known) -> Array:
    return array(value, known["x"].shape, TOKENS)


def _reading(key: str, values: Array, wrong: tuple[str, ...] = (), code: str = "") -> Reading:
    return Reading({key: values}, values.shape, TOKENS, (span(values), *_words(values)), wrong, code)


def _block(learner: Any, known: Known) -> Reading:
    made = learner.Block(known["x"].shape[-1], known["num_heads"], rng=_rng(known))
    facts = (span(known["x"], "range of the input"), *_words(known["x"]))
    return Reading({"block": _object(made, "Block(…)")}, known["x"].shape, TOKENS, facts)


def _normalised(values: Array, before: Array) -> tuple[str, ...]:
    """Return what is not as a fresh layer norm leaves it: mean 0, standard deviation 1."""
    varied = before[0].var(axis=-1) > FLAT
    if np.abs(values[0].mean(axis=-1)).max() > NEAR:
        return ("the mean of every word should be 0 after the norm",)
    if np.abs(values[0].std(axis=-1)[varied] - 1).max(initial=0.0) > NEAR:
        return ("the standard deviation of every word should be 1 after the norm",)
    return ()


def _layer(learner: Any, known: Known, part: str) -> tuple[Any, str]:
    """Return a part of the block, and how it reads; the layer on its own where there is no block yet."""
    if "block" in known:
        return _object(getattr(known["block"], part), part), f"block.{part}"
    dim = known["x"].shape[-1]
    if part == "attention":
        code = "MultiheadSelfAttention(dim, num_heads, rng=rng)"
        return _object(learner.MultiheadSelfAttention(dim, known["num_heads"], rng=_rng(known)), code), code
    if part == "mlp":
        code = "MLP(dim, 4 * dim, rng=rng)"
        return _object(learner.MLP(dim, int(dim * RATIO), rng=_rng(known)), code), code
    return _object(learner.LayerNorm(dim), "LayerNorm(dim)"), "LayerNorm(dim)"


def _norm(part: str, source: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        layer, code = _layer(learner, known, part)
        values = _tokens(layer.forward(known[source]), known)
        return _reading(part, values, _normalised(values, known[source]), f"{code}.forward({source})")

    return run


def _attention(key: str, causal: bool) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        heads, length = known["num_heads"], known["x"].shape[1]
        source = "norm1" if "norm1" in known else "x"
        layer, code = known.get("layer") or _layer(learner, known, "attention")
        given, mask = known[source], ", mask=mask" if causal else ""
        output = _tokens(layer.forward(given, mask=known["mask"]) if causal else layer.forward(given), known)
        shape = (1, heads, length, length)
        weights = array(layer.attention_weights, shape, WEIGHTS, name="attention_weights")
        values = {key: output, f"{key}-weights": weights[0], "layer": (layer, code)}
        facts = (sums(weights), span(output, "output"))
        wrong = wrong_weights(weights, causal)
        return Reading(values, shape, WEIGHTS, facts, wrong, f"{code}.forward({source}{mask})")

    return run


def _residual(learner: Any, known: Known) -> Reading:
    return _reading("residual", known["x"] + known["attention"])


def _mlp(learner: Any, known: Known) -> Reading:
    layer, code = _layer(learner, known, "mlp")
    return _reading("mlp", _tokens(layer.forward(known["norm2"]), known), (), f"{code}.forward(norm2)")


def _forward(learner: Any, known: Known) -> Reading:
    output = _tokens(known["block"].forward(known["x"]), known)
    same = agree(known["residual"] + known["mlp"], output)
    wrong = () if same else ("forward should give what its parts give: residual + mlp",)
    return _reading("output", output, wrong)


def _causal(learner: Any, known: Known) -> Reading:
    output = _tokens(known["block"].forward(known["x"], mask=known["mask"]), known)
    shorter = array(known["block"].forward(known["x"][:, :1]), (1, 1, output.shape[-1]), TOKENS)
    wrong = () if agree(shorter, output[:, :1]) else ("under the mask, the first word should not depend on later ones",)
    return _reading("causal-output", output, wrong)


def _post(learner: Any, known: Known) -> Reading:
    x = known["x"]
    block = _object(learner.PostNormBlock(x.shape[-1], known["num_heads"], rng=_rng(known)), "PostNormBlock(…)")
    output = _tokens(block.forward(x), known)
    return _reading("post", output, _normalised(output, np.ones_like(x) * np.arange(x.shape[-1])))


def maps(known: Known) -> tuple[WeightMap, ...]:
    """Return the maps that can be drawn: plain and causal of each head."""
    both = [("attention-weights", "plain", False), ("causal-weights", "causal", True)]
    found = [(known[key], kind, causal) for key, kind, causal in both if key in known]
    heads = max((len(weights) for weights, _, _ in found), default=0)
    return tuple(
        weight_map(f"Head {head}, {kind}", causal, head, weights[head])
        for head in range(heads)
        for weights, kind, causal in found
    )


_NORM2 = _norm("norm2", "residual")
PRE = "pre-norm"
FORWARD = "Block.forward"
STEPS = (
    Step(
        "block", "Input", "The block sees the words as they come: each has a mean and a spread of its own.",
        (Call("block", "block = Block(dim, num_heads, rng=rng)", "Block", (), _block),), process=PRE,
    ),
    Step(
        "norm1", "First norm", "Every word is brought to mean 0 and standard deviation 1 before it is compared.",
        (Call("norm1", "block.norm1.forward(x)", "LayerNorm.forward", (), _norm("norm1", "x")),), process=PRE,
    ),
    Step(
        "attention", "Attention", "Each head compares its own projections of the words.",
        (
            Call("attention", "block.attention.forward(norm1)", "MultiheadSelfAttention.forward", (),
                 _attention("attention", False)),
            Call("causal", "block.attention.forward(norm1, mask=mask)", "MultiheadSelfAttention.forward",
                 ("attention",), _attention("causal", True)),
        ), process=PRE,
    ),
    Step(
        "residual", "First residual", "What was attended to is added to the word as it came: nothing of it is lost.",
        (Call("residual", "x + attention", "MultiheadSelfAttention.forward", ("norm1", "attention"), _residual),),
        process=PRE,
    ),
    Step(
        "norm2", "Second norm", "The sum is brought to mean 0 and standard deviation 1 again.",
        (Call("norm2", "block.norm2.forward(residual)", "LayerNorm.forward", ("residual",), _NORM2),),
        process=PRE,
    ),
    Step(
        "mlp", "MLP", "Each word goes through the same small network, alone.",
        (Call("mlp", "block.mlp.forward(norm2)", "MLP.forward", ("norm2",), _mlp),), process=PRE,
    ),
    Step(
        "output", "Output", "The second sum leaves the block; no norm comes after it, so means and spreads may drift.",
        (
            Call("output", "block.forward(x)", FORWARD, ("block", "residual", "mlp"), _forward),
            Call("causal-output", "block.forward(x, mask=mask)", FORWARD, ("block", "output"), _causal),
        ), process=PRE,
    ),
    Step(
        "post", "Post-norm block", "Here the norm comes last: every word leaves with mean 0 and standard deviation 1.",
        (Call("post", "PostNormBlock(dim, num_heads, rng=rng).forward(x)", "PostNormBlock.forward", (), _post),),
        process="post-norm",
    ),
)  # fmt: skip
