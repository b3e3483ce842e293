"""Stage 16 step by step: nine steps forward, ten backward with what central differences give, and the inputs."""

from __future__ import annotations

from drawings.s16.backward import BACKWARD, INPUT
from drawings.s16.forward import (
    SPLIT,
    run_forward,
    run_layer,
    run_output,
    run_plain,
    run_project,
    run_split,
    run_step,
    start,
)  # fmt: skip
from grader.explore.model import Call, Known, Step, WeightMap, weight_map


def maps(known: Known) -> tuple[WeightMap, ...]:
    """Return the maps that can be drawn: of each head, plain and, of one sentence, causal."""
    both = [("plain", "plain", False), ("attention_weights", "causal", True)]
    found = [
        (known[key][0], kind, causal) for key, kind, causal in both if key in known and (known["causal"] or not causal)
    ]
    return tuple(
        weight_map(f"Head {head}, {kind}", causal, head, weights[head])
        for head in range(known["heads"])
        for weights, kind, causal in found
    )


_F = "Attention.forward"


def _call(name: str, formula: str, row: str, needs: tuple[str, ...], wrong: str) -> Call:
    return Call(name, f"{name} = {formula}", _F, needs, run_step(name, wrong), row)


FORWARD = (
    Step("project", "Queries, keys, values", "What each word looks for, what it offers, what it hands over.",
         (Call("layer", "layer = Attention(embedding, heads, rng), then larger weights", "Attention", (), run_layer),
          Call("forward", "layer.forward(x, causal=True)", _F, ("layer",), run_forward),
          Call("projected", "Q, K, V = X W_Q, X W_K, X W_V", _F, ("forward",), run_project)), process="layer"),
    Step("split", "Heads", "The features of every word are shared out: each head gets its own.",
         tuple(Call(name, f"{name} = split_heads({letter})", _F, ("projected",), run_split(place),
                    name.replace("_", "-"))
               for place, (name, letter) in enumerate(zip(SPLIT, "QKV", strict=True))), process="layer"),
    Step("scores", "Scores", "Every query meets every key: a row for each query, a column for each key.",
         (_call("attention_scores", "queries_multihead · keys_multiheadᵀ", "attention-scores", SPLIT[:2],
                "the scores should be the queries times the keys, transposed"),), process="layer"),
    Step("scale", "Scale", "Divided by √head_dimension, so that the softmax does not become all or nothing.",
         (_call("scaled_scores", "attention_scores / √head_dimension", "scaled-scores", ("attention_scores",),
                "the scores should be divided by √head_dimension, once"),), process="layer"),
    Step("mask", "Mask", "Words that come later get a score that leaves no weight for them.",
         (_call("masked_scores", "scaled_scores, but -inf where j > i", "masked-scores", ("scaled_scores",),
                "allowed scores should stay, and forbidden ones be -inf or up to -1e8"),), process="layer"),
    Step("softmax", "Weights", "Each row of scores becomes shares that sum to 1.",
         (_call("attention_weights", "softmax(masked_scores)", "attention-weights", ("masked_scores",),
                "the weights should be the softmax of masked_scores along the last axis"),
          Call("plain", "the same without a mask", _F, ("attention_weights",), run_plain, "attention-weights")),
         process="layer"),
    Step("average", "Attention", "Each head averages the values, by its weights.",
         (_call("attention_output", "attention_weights · values_multihead", "attention-output",
                ("attention_weights", SPLIT[2]), "attention_output should be the weights times the values"),),
         process="layer"),
    Step("join", "Heads joined", "The heads of a word stand side by side again.",
         (_call("concatenated_heads", "concatenate_heads(attention_output)", "concatenated-heads",
                ("attention_output",), "the heads of each word should stand side by side, in their order"),),
         process="layer"),
    Step("mix", "Output", "One more product mixes what the heads have found; the shape is the input's.",
         (Call("output", "output = concatenated_heads · W_O", _F, ("concatenated_heads",), run_output,
               "output-projection"),), process="layer"),
)  # fmt: skip
STEPS = (*FORWARD, *BACKWARD, INPUT)
__all__ = ["STEPS", "maps", "start"]
