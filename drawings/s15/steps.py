"""Stage 15 step by step: scores, scaled, masked, weights, output, and what each head attends to.

Words that attend to themselves have the causal mask; where queries meet other keys, the last key is taken for padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from drawings.s15.notices import S15 as NOTICES
from drawings.s15.own_notices import OWN
from drawings.s15.projections import PROJECTIONS
from grader.explore.model import Array, Call, Example, Fact, Known, Reading, Run, Step, WeightMap, weight_map
from grader.explore.values import CLOSE, Unfit, agree, array, number, pair, span, sums, wrong_weights

SCORES = ("seq_q", "seq_k")
OUTPUT = ("seq_q", "d_v")
HEAD_AXES = ("batch", "heads", "seq", "d_k")
MASKED = -1e3  # a score below this is as good as none: values are bounded, see MAX_SIZE in npz.py


def start(example: Example, seed: int) -> Known:
    """Return what the steps begin with."""
    return {
        "Q": example.Q,
        "K": example.K,
        "V": example.V,
        "num_heads": example.heads,
        "seed": seed,
        "words": example.words,
        "keys": example.keys,
        "is_self": example.is_self,
        "is_causal": example.key_words is None,
    }


def _raw(learner: Any, known: Known) -> Reading:
    raw = array(learner.compute_attention_scores(known["Q"], known["K"], scale=False), _square(known), SCORES)
    return Reading({"raw": raw}, raw.shape, SCORES, (span(raw),))


def _scaled(learner: Any, known: Known) -> Reading:
    scaled = array(learner.compute_attention_scores(known["Q"], known["K"]), _square(known), SCORES)
    d_k = known["Q"].shape[1]
    wrong = []
    if "raw" in known and not agree(known["raw"] / np.sqrt(d_k), scaled):
        wrong = [f"scaled scores should be the raw scores divided by √d_k = {number(float(np.sqrt(d_k)))}"]
    return Reading({"scaled": scaled}, scaled.shape, SCORES, (span(scaled),), tuple(wrong))


def _mask(learner: Any, known: Known) -> Reading:
    if not known["is_causal"]:
        return _padding(learner, known)
    length = len(known["Q"])
    returned = learner.create_causal_mask(length)
    numbers = _booleans(returned, _square(known), SCORES)
    right = np.array_equal(numbers, np.tril(np.ones_like(numbers)))
    wrong = () if right else ("the causal mask should be True on and below the diagonal, False above it",)
    return Reading({"mask": np.array(returned)}, numbers.shape, SCORES, (_allowed(numbers),), wrong)


def _padding(learner: Any, known: Known) -> Reading:
    """Take the last key for padding: True for all others, a row for each query."""
    rows, length = _square(known)
    real = max(1, length - 1)
    returned = learner.create_padding_mask([real], length)
    numbers = _booleans(returned, (1, length), ("batch", "seq_k"))
    wrong = () if np.array_equal(numbers[0], np.arange(length) < real) else ("the mask should be True at real keys",)
    mask = np.repeat(np.array(returned), rows, axis=0)
    code = f"mask = create_padding_mask([{real}], {length}), a row for each query"
    return Reading({"mask": mask}, mask.shape, SCORES, (_allowed(mask),), wrong, code)


def _booleans(returned: object, shape: tuple[int, ...], axes: tuple[str, ...]) -> Array:
    numbers = array(returned, shape, axes)
    if not np.isin(numbers, (0, 1)).all():
        raise Unfit("a mask holds True and False (or 1 and 0) only")
    return numbers


def _allowed(mask: Array) -> Fact:
    may, all_pairs = int(mask.sum()), mask.size
    return Fact("allowed", (may, all_pairs), f"{may} of {all_pairs} pairs allowed")


def _masked(learner: Any, known: Known) -> Reading:
    returned = learner.apply_attention_mask(known["scaled"], known["mask"])
    masked = array(returned, _square(known), SCORES, infinite=True)
    may = known["mask"].astype(bool)
    kept, taken = masked[may], masked[~may]
    facts = [span(kept, "allowed")] if kept.size else []
    if taken.size:
        least, most = number(float(taken.min())), number(float(taken.max()))
        text = f"{taken.size} masked at {least}" + ("" if least == most else f" to {most}")
        facts.append(Fact("masked", (taken.size,), text))
    wrong = []
    if not agree(known["scaled"][may], kept):
        wrong.append("scores that may be attended to should stay as they were")
    if taken.size and taken.max() > min(MASKED, float(kept.min(initial=0.0)) + MASKED):
        wrong.append("masked scores should be so low that no weight is left for them, such as -1e9")
    return Reading({"masked": masked}, masked.shape, SCORES, tuple(facts), tuple(wrong))


def _weights(scores: str, key: str, causal: bool) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        weights = array(learner.attention_weights(known[scores]), _square(known), SCORES)
        return Reading({key: weights}, weights.shape, SCORES, (sums(weights),), _wrong(weights, causal, known))

    return run


def _wrong(weights: Array, masked: bool, known: Known) -> tuple[str, ...]:
    """Return what is not as it always is with weights, under the mask or without it."""
    found = wrong_weights(weights, masked and known["is_causal"])
    if masked and not known["is_causal"] and np.abs(weights[~known["mask"].astype(bool)]).max(initial=0.0) > CLOSE:
        return (*found, "the weights of the masked key should be 0")
    return found


def _output(key: str, earlier: str, causal: bool) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        Q, K, V = known["Q"], known["K"], known["V"]
        attend = learner.scaled_dot_product_attention
        returned = attend(Q, K, V, mask=known["mask"]) if causal else attend(Q, K, V)
        first, second = pair(returned, ("output", "weights"))
        output = array(first, (len(Q), V.shape[1]), OUTPUT, name="output")
        weights = array(second, _square(known), SCORES, name="weights")
        wrong = list(_wrong(weights, causal, known))
        if earlier in known and not agree(known[earlier], weights):
            wrong.append("the weights should be those of step 4")
        if not agree(weights @ V, output):
            wrong.append("the output should be the weights times the values")
        values = {key: output, earlier: known.get(earlier, weights)}
        return Reading(values, output.shape, OUTPUT, (span(output),), tuple(wrong))

    return run


def _split(learner: Any, known: Known) -> Reading:
    heads = known["num_heads"]
    found: dict[int, Array] = {}
    for x in (known["Q"], known["K"], known["V"]):
        if id(x) not in found:
            shape = (1, heads, len(x), x.shape[1] // heads)
            found[id(x)] = array(learner.split_heads(x[np.newaxis], heads), shape, HEAD_AXES)
    split = {name: found[id(known[name])] for name in "QKV"}
    kept = all(agree(part[0], np.stack(np.split(known[name], heads, axis=1))) for name, part in split.items())
    features = split["Q"].shape[-1]
    wrong = () if kept else (f"each head should hold {features} features of every word, in their order",)
    return Reading({"split": split}, split["Q"].shape, HEAD_AXES, (), wrong)


def _heads(learner: Any, known: Known) -> Reading:
    Q, K, V = (known["split"][name] for name in "QKV")
    first, second = pair(learner.scaled_dot_product_attention(Q, K, V), ("output", "weights"))
    array(first, (*Q.shape[:3], V.shape[3]), HEAD_AXES, name="output")
    axes = ("batch", "heads", *SCORES)
    weights = array(second, (*Q.shape[:2], *_square(known)), axes, name="weights")
    return Reading({"head-weights": weights[0]}, weights.shape, axes, (), wrong_weights(weights, False))


def _square(known: Known) -> tuple[int, int]:
    return len(known["Q"]), len(known["K"])


def maps(known: Known) -> tuple[WeightMap, ...]:
    """Return the maps that can be drawn: plain, masked, one a head, and one a head of the layer's own projections."""
    mask = "Causal" if known["is_causal"] else "Last key masked"
    both = [("weights", "Plain", False), ("causal-weights", mask, known["is_causal"])]
    found = [weight_map(title, causal, None, known[name]) for name, title, causal in both if name in known]
    kinds = [("head-weights", ""), ("projected-weights", ", projected")]
    heads = [
        weight_map(f"Head {head}{kind}", False, head, weights)
        for name, kind in kinds
        for head, weights in enumerate(known.get(name, ()))
    ]
    return (*found, *heads)


_CAUSAL = _weights("masked", "causal-weights", True)
_CAUSAL_OUTPUT = _output("causal-output", "causal-weights", True)
SCORE, MASK, SOFTMAX = "compute_attention_scores", "apply_attention_mask", "attention_weights"
ATTEND, SPLIT = "scaled_dot_product_attention", "split_heads"
_PLANNED: Mapping[str, tuple[str, str, tuple[Call, ...]]] = {
    "raw-scores": (
        "Raw scores",
        "Each query is compared with each key by a dot product: the more two words share, the higher the score.",
        (Call("raw", f"{SCORE}(Q, K, scale=False)", SCORE, (), _raw),),
    ),
    "scaled-scores": (
        "Scaled scores",
        "Divided by √d_k, so that many features do not make the softmax all or nothing.",
        (Call("scaled", f"{SCORE}(Q, K)", SCORE, (), _scaled),),
    ),
    "masked-scores": (
        "Masked scores",
        "Scores of words that come later, or of padding, are made so low that no weight is left for them.",
        (
            Call("mask", "mask = create_causal_mask(seq)", "create_causal_mask", (), _mask),
            Call("masked", f"{MASK}(scaled, mask)", MASK, ("scaled", "mask"), _masked),
        ),
    ),
    "weights": (
        "Attention weights",
        "The softmax turns each row of scores into shares that sum to 1.",
        (
            Call("weights", f"{SOFTMAX}(scaled)", SOFTMAX, ("scaled",), _weights("scaled", "weights", False)),
            Call("causal-weights", f"{SOFTMAX}(masked)", SOFTMAX, ("weights", "masked"), _CAUSAL),
        ),
    ),
    "output": (
        "Output",
        "Every word becomes an average of the values, weighted by its row.",
        (
            Call("output", f"{ATTEND}(Q, K, V)", ATTEND, (), _output("output", "weights", False)),
            Call("causal-output", f"{ATTEND}(Q, K, V, mask)", ATTEND, ("output", "mask"), _CAUSAL_OUTPUT),
        ),
    ),
    "heads": (
        "Heads",
        "Each head attends with its own share of the features, so heads can look for different things.",
        (
            Call("split", f"{SPLIT}(x, num_heads) of Q, K and V", SPLIT, (), _split),
            Call("head-weights", f"{ATTEND}(Q, K, V) of all heads", ATTEND, ("output", "split"), _heads),
        ),
    ),
}
STEPS = (
    *(Step(name, *planned, NOTICES[name], own_notice=OWN[name]) for name, planned in _PLANNED.items()),
    replace(PROJECTIONS, notice=OWN[PROJECTIONS.id], own_notice=OWN[PROJECTIONS.id]),
)
