"""Stage 15, the last step: what the heads of the learner's own layer attend to, by the projections that it drew."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Step
from grader.explore.values import Unfit, agree, array, pair, span, wrong_weights
from grader.sandbox.proxies import RemoteValue

NAMES = ("W_Q", "W_K", "W_V", "W_O")
AXES = ("batch", "heads", "seq_q", "seq_k")
HEADS = ("batch", "heads", "seq", "d_k")
LAYER = "MultiHeadAttention"


def _layer(learner: Any, known: Known) -> Reading:
    """Make a layer and read its projections; where Q and V differ in features there is no such layer."""
    d_model = known["Q"].shape[1]
    if known["V"].shape[1] != d_model:
        told = f"left out: a layer takes {d_model} features of V too, not {known['V'].shape[1]}"
        return Reading({"projections": None}, None, (), (Fact("left out", (), told),))
    layer = learner.MultiHeadAttention(d_model, known["num_heads"], rng=np.random.default_rng(known["seed"]))
    if not isinstance(layer, RemoteValue):
        raise Unfit(f"{LAYER}(…) is {type(layer).__name__}, where an object of your class was expected")
    params = layer.get_params()
    if not isinstance(params, dict) or set(params) != set(NAMES):
        raise Unfit("get_params() should return a dict of W_Q, W_K, W_V and W_O")
    found = {name: array(params[name], (d_model, d_model), ("d_model", "d_model"), name=name) for name in NAMES}
    return Reading({"projections": found, "layer": layer}, None, (), (span(found["W_Q"], "range of W_Q"),))


def _weights(learner: Any, known: Known) -> Reading:
    """Attend with every head's own queries, keys and values."""
    if known["projections"] is None:
        return Reading({"projected": None})
    heads, split = known["num_heads"], {}
    for letter in "QKV":
        x = known[letter] @ known["projections"][f"W_{letter}"]
        shape = (1, heads, len(x), x.shape[1] // heads)
        split[letter] = array(learner.split_heads(x[np.newaxis], heads), shape, HEADS, name=f"split_heads({letter})")
    found = learner.scaled_dot_product_attention(split["Q"], split["K"], split["V"])
    first, second = pair(found, ("output", "weights"))
    output = array(first, split["Q"].shape[:3] + split["V"].shape[3:], HEADS, name="output")
    weights = array(second, (1, heads, len(known["Q"]), len(known["K"])), AXES, name="weights")
    values = {"projected-weights": weights[0], "projected": output}
    return Reading(values, weights.shape, AXES, (), wrong_weights(weights, False))


def _output(learner: Any, known: Known) -> Reading:
    """Compare what the layer's forward gives with its heads, joined and projected."""
    if known["projected"] is None:
        return Reading({})
    Q, K, V = (known[letter][np.newaxis] for letter in "QKV")
    output = array(known["layer"].forward(Q, K, V), Q.shape, ("batch", "seq_q", "d_model"), name="output")
    joined: Array = known["projected"].swapaxes(1, 2).reshape(Q.shape) @ known["projections"]["W_O"]
    wrong = () if agree(joined, output) else ("forward should give its heads, side by side, times W_O",)
    return Reading({"layer-output": output}, output.shape, ("batch", "seq_q", "d_model"), (span(output),), wrong)


PROJECTIONS = Step(
    "projections", "Heads with projections",
    "In a layer each head has queries, keys and values of its own, by projections that it learns: these are as drawn.",
    (
        Call("projections", f"layer = {LAYER}(d_model, num_heads, rng)", LAYER, (), _layer),
        Call("projected", "scaled_dot_product_attention of Q W_Q, K W_K and V W_V, split", LAYER,
             ("output", "projections", "split"), _weights),
        Call("layer-output", "layer.forward(Q, K, V)", LAYER, ("projected",), _output),
    ),
    process="layer",
)  # fmt: skip
