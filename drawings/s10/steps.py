"""Stage 10: words become ids, bytes become pieces, and vectors trained on a small text gather words that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.explore.model import Array, Call, Fact, Known, Reading, Step
from grader.explore.values import Unfit, array, bounded, counts, fall, number, scalar, several

Ids = NDArray[np.int64]
Tables = Mapping[str, Array]
KINDS = {
    "animals": ("cat", "dog", "horse", "mouse"),
    "food": ("bread", "cheese", "apples", "honey"),
    "people": ("anna", "ben", "carla", "david"),
    "places": ("school", "garden", "market", "river"),
}
SENTENCES, MERGES, EVERY = 160, 40, 4
WINDOW, NEGATIVES, DIM = 2, 4, 12
STEPS_TAKEN, RATE = 130, 2.0
LONGEST = 20  # characters of a word that is told
SPREAD = 0.3  # of the first vectors
NEAR, SHOWN = "cat", 4
SLOPE_STEP, OFF = 1e-4, 1e-3
GIVEN = f"{SENTENCES} sentences such as: the cat eats bread · ben walks to the river"


def start(example: None, seed: int) -> Known:
    """Return a text of short sentences, and the generator's seed for what is drawn later."""
    rng = np.random.default_rng(seed=seed)
    words: list[str] = []
    for _ in range(SENTENCES):
        animal, food, person, place = (str(rng.choice(kind)) for kind in KINDS.values())
        words += ["the", animal, "eats", food] if rng.random() < 0.5 else [person, "walks", "to", "the", place]
    return {"tokens": words, "text": " ".join(words[:300]), "seed": seed}


def _vocabulary(learner: Any, known: Known) -> Reading:
    found = learner.build_vocabulary(known["tokens"])
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise Unfit(f"returned {type(found).__name__} where a dict from token to id was expected")
    missing = sorted(set(known["tokens"]) - set(found))
    if missing:
        raise Unfit(f"{missing[0]!r} occurs in the text, but has no id")
    ids = [int(scalar(value, f"the id of {key!r}", most=1e6)) for key, value in found.items()]
    if sorted(ids) != list(range(len(ids))):
        raise Unfit("the ids should be 0, 1, 2, … without a gap")
    words = dict(zip(found, ids, strict=True))
    first = [word[:LONGEST] for word in sorted(words, key=lambda word: words[word])[:5]]
    fact = Fact("words", (float(len(words)),), f"{len(words)} words, first {', '.join(first)}")
    return Reading({"vocabulary": words}, None, (), (fact,))


def _encode(learner: Any, known: Known) -> Reading:
    tokens, vocabulary = known["tokens"], known["vocabulary"]
    returned = learner.encode(tokens, vocabulary)
    ids = array(returned, (len(tokens),), ("tokens",)).astype(np.int64)
    right = np.array([vocabulary[token] for token in tokens])
    if not np.array_equal(ids, right):
        place = int((ids != right).argmax())
        raise Unfit(f"token {place}, {tokens[place]!r}, should have the id {right[place]}, not {ids[place]}")
    return Reading({"ids": ids}, ids.shape, ("tokens",), (counts("begins", ids[:6]),))


def _merges(learner: Any, known: Known) -> Reading:
    found = learner.byte_pair_merges(known["text"], MERGES)
    if not isinstance(found, (list, tuple)) or len(found) > MERGES:
        raise Unfit(f"returned {type(found).__name__} where a list of at most {MERGES} pairs was expected")
    merges = []
    for index, each in enumerate(found):
        left, right = (int(scalar(part, f"pair {index}", most=1e6)) for part in several(each, ("left", "right")))
        if not 0 <= min(left, right) <= max(left, right) < 256 + index:
            raise Unfit(f"pair {index} is ({left}, {right}), but only ids 0 to {255 + index} exist by then")
        merges.append((left, right))
    return Reading({"merges": merges}, None, (), (counts("merges", (len(merges),)), _pieces(merges)))


def _pieces(merges: list[tuple[int, int]]) -> Fact:
    """Return the longest pieces that merges make, as text."""
    pieces = [bytes([value]) for value in range(256)]
    for left, right in merges:
        pieces.append((pieces[left] + pieces[right])[:64])
    longest = sorted(pieces[256:], key=len, reverse=True)[:4]
    shown = ", ".join(repr(piece.decode("utf-8", "replace")) for piece in longest)
    return Fact("longest pieces", tuple(float(len(piece)) for piece in longest), f"longest pieces {shown}")


def _shorter(learner: Any, known: Known) -> Reading:
    text, merges, lengths = known["text"], known["merges"], []
    size = len(text.encode())
    for count in range(0, len(merges) + 1, EVERY):
        returned = learner.bpe_encode(text, merges[:count])
        if not isinstance(returned, np.ndarray) or returned.ndim != 1 or returned.size > size:
            raise Unfit(f"with {count} merges: an array of at most {size} ids, of one axis, was expected")
        ids = array(returned, returned.shape)
        lengths.append(ids.size)
    back = learner.bpe_decode(ids.astype(np.int64), merges[:count])
    wrong = []
    if back != text:
        wrong.append("bpe_decode should give the text back")
    if (np.diff(lengths) > 0).any() or lengths[0] != size:
        wrong.append("without merges there is an id for each byte, and merges only make the list shorter")
    fact = Fact("length", (lengths[0], lengths[-1]), f"{lengths[0]} ids without merges, {lengths[-1]} with {count}")
    return Reading({"lengths": np.array(lengths, dtype=np.float64)}, None, (), (fact,), tuple(wrong))


def _pairs(learner: Any, known: Known) -> Reading:
    ids, size = known["ids"], len(known["vocabulary"])
    count = len(ids)
    expected = sum(min(place, WINDOW) + min(count - 1 - place, WINDOW) for place in range(count))
    pairs = array(learner.skip_gram_pairs(ids, WINDOW), (expected, 2), ("pairs", "center and context"))
    if pairs.min() < 0 or pairs.max() >= size:
        raise Unfit(f"ids should be from 0 to {size - 1}, not {pairs.min():g} to {pairs.max():g}")
    return Reading({"pairs": pairs.astype(np.int64)}, pairs.shape, ("pairs", "center and context"))


def _loss(learner: Any, tables: Tables, pairs: Ids, negatives: Ids) -> tuple[float, Tables]:
    returned = learner.negative_sampling_loss(*tables.values(), pairs[:, 0], pairs[:, 1], negatives)
    first, second = several(returned, ("loss", "grads"))
    if not isinstance(second, dict) or not set(tables) <= set(second):
        raise Unfit("grads should be a dict with the keys center_table and context_table")
    shape = tables["center_table"].shape
    grads = {name: bounded(array(second[name], shape, name=f"grads[{name!r}]"), name) for name in tables}
    return scalar(first, "loss"), grads


def _train(learner: Any, known: Known) -> Reading:
    rng, pairs = np.random.default_rng(known["seed"] + 1), known["pairs"]
    shape = (len(known["vocabulary"]), DIM)
    tables = {name: SPREAD * rng.standard_normal(shape) for name in ("center_table", "context_table")}
    losses: list[float] = []
    wrong: tuple[str, ...] = ()
    first = tables["center_table"]
    for step in range(STEPS_TAKEN):
        negatives = rng.integers(0, shape[0], (len(pairs), NEGATIVES))
        loss, grads = _loss(learner, tables, pairs, negatives)
        if step == 0:
            _expect_slope(learner, tables, grads, (pairs, negatives), rng)
        losses.append(loss)
        tables = {name: bounded(table - RATE * grads[name], name, 1e4) for name, table in tables.items()}
    if not losses[-1] < losses[0]:
        wrong = (f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}",)
    fact = fall("loss", np.array(losses))
    values = {"losses": np.array(losses), "first": first, "table": tables["center_table"]}
    return Reading(values, shape, ("words", "dim"), (fact,), wrong)


def _expect_slope(
    learner: Any, tables: Tables, grads: Tables, drawn: tuple[Ids, Ids], rng: np.random.Generator
) -> None:
    """Raise Unfit where the gradients are not the slope of the loss along a direction drawn at random."""
    ways = {name: rng.standard_normal(table.shape) for name, table in tables.items()}
    ends = [
        _loss(learner, {name: table + h * ways[name] for name, table in tables.items()}, *drawn)[0]
        for h in (SLOPE_STEP, -SLOPE_STEP)
    ]
    measured = (ends[0] - ends[1]) / (2 * SLOPE_STEP)
    told = float(sum((grads[name] * ways[name]).sum() for name in tables))
    if abs(measured - told) > OFF * max(1.0, abs(measured)):
        raise Unfit(f"along one direction the loss rises by {number(measured)}, the gradients say {number(told)}")


def _neighbours(learner: Any, known: Known) -> Reading:
    table, vocabulary = known["table"], known["vocabulary"]
    ids = np.array([vocabulary[NEAR]])
    vector = array(learner.embedding_forward(ids, table), (1, table.shape[1]), ("ids", "dim"))[0]
    wrong = [] if np.array_equal(vector, table[vocabulary[NEAR]]) else [f"the vector of {NEAR} should be its row"]
    first, second = several(learner.nearest_neighbors(table, vector, SHOWN), ("ids", "similarities"))
    near = array(first, (SHOWN,), name="ids").astype(int)
    alike = bounded(array(second, (SHOWN,), name="similarities"))
    words = {number_of: word for word, number_of in vocabulary.items()}
    if near.min() < 0 or near.max() >= len(words):
        raise Unfit(f"ids should be from 0 to {len(words) - 1}")
    if not wrong and near[0] != ids[0]:
        wrong.append(f"nothing is nearer to {NEAR} than {NEAR} itself")
    if (np.diff(alike) > 1e-9).any() or np.abs(alike).max() > 1 + 1e-6:
        wrong.append("similarities should be cosines, from -1 to 1, the largest first")
    text = ", ".join(f"{words[int(index)][:LONGEST]} {value:.2f}" for index, value in zip(near, alike, strict=True))
    return Reading(
        {"near": near}, (SHOWN,), (), (Fact("nearest", tuple(map(float, alike)), f"nearest {text}"),), tuple(wrong)
    )


ENCODE, LOSS, NEAREST = "bpe_encode", "negative_sampling_loss", "nearest_neighbors"
STEPS = (
    Step("vocabulary", "Words to ids", "Every word of the text gets a number, the frequent ones the small ones.", (
        Call("vocabulary", "build_vocabulary(tokens)", "build_vocabulary", (), _vocabulary),
        Call("ids", "encode(tokens, vocabulary)", "encode", ("vocabulary",), _encode),
    )),
    Step("pieces", "Bytes to pieces", "Frequent pairs become one id, again and again, until whole words are one.", (
        Call("merges", f"byte_pair_merges(text, {MERGES})", "byte_pair_merges", (), _merges),
        Call("lengths", f"{ENCODE}(text, merges[:k]), and bpe_decode", ENCODE, ("merges",), _shorter),
    )),
    Step("pairs", "Words and their company", "Each word with the words at most two places away.",
         (Call("pairs", f"skip_gram_pairs(ids, window={WINDOW})", "skip_gram_pairs", ("ids",), _pairs),)),
    Step("training", "Training", "Vectors learn to tell real pairs from made-up ones.",
         (Call("table", f"{LOSS}(…), {STEPS_TAKEN} times", LOSS, ("pairs",), _train),)),
    Step("neighbours", "Neighbours", "Words that keep the same company point the same way.",
         (Call("near", f"{NEAREST}(table, embedding_forward({NEAR}), k={SHOWN})", NEAREST, ("table",), _neighbours),)),
)  # fmt: skip
