"""What the functions of this stage should return, worked out with loops over bytes, places, ids and features."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Pair = tuple[int, int]

WORDS = ("Zebra", "ape", "apes", "bee", "élan", "owl", "ox", "yak", "鹿")  # in Python's order they are others
ALPHABETS = ("ab", "abc", "aé", "xyz ", "añ\U0001f40d", "日本語", "0\n\t")


def unpack(result: Any, *names: str) -> Any:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def draw_tokens(rng: np.random.Generator, counts: tuple[int, ...]) -> list[str]:
    """Return a shuffled text in which nine words have these counts, whichever of them has which."""
    names = rng.permutation(WORDS).tolist()
    tokens = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    return [tokens[place] for place in rng.permutation(len(tokens))]


def vocabulary(tokens: list[str], min_count: int) -> dict[str, int]:
    """Return the ids of the words: the best of those left gets the next id, until none is frequent enough."""
    left = {token for token in tokens if token != "<unk>"}
    ids = {"<unk>": 0}
    while left:
        most = max(tokens.count(token) for token in left)
        if most < min_count:
            break
        best = min(token for token in left if tokens.count(token) == most)
        ids[best] = len(ids)
        left.remove(best)
    return ids


def draw_text(rng: np.random.Generator, length: int) -> str:
    """Return a text of few different characters, so that pairs recur and ties are frequent."""
    letters = ALPHABETS[rng.integers(len(ALPHABETS))]
    return "".join(letters[i] for i in rng.integers(len(letters), size=length))


def draw_unicode(rng: np.random.Generator, length: int) -> str:
    """Return characters of one to four bytes each, none of them a surrogate."""
    ranges = ((0, 0x80), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000))
    return "".join(chr(rng.integers(*ranges[rng.integers(len(ranges))])) for _ in range(length))


def merged(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """Return ids with each occurrence of the pair replaced, walking from the left and stepping over what was taken."""
    result, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            result.append(new_id)
            place += 2
        else:
            result.append(ids[place])
            place += 1
    return result


def byte_pair_merges(text: str, num_merges: int) -> list[Pair]:
    """Return the merges, each from a table of all counts, in the order of the pairs."""
    ids, merges = list(bytes(text, "utf-8")), []
    while len(merges) < num_merges:
        counts: dict[Pair, int] = {}
        for place in range(1, len(ids)):
            pair = ids[place - 1], ids[place]
            counts[pair] = counts.get(pair, 0) + 1
        best, most = None, 1
        for pair in sorted(counts):
            if counts[pair] > most:
                best, most = pair, counts[pair]
        if best is None:
            break
        ids = merged(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    """Return the ids: of all pairs that are there, the one that was learnt first is merged, until none is left."""
    ids = list(bytes(text, "utf-8"))
    while found := [pair for pair in merges if pair in pairwise(ids)]:
        ids = merged(ids, found[0], 256 + merges.index(found[0]))
    return ids


def draw_merges(rng: np.random.Generator, letters: str, number: int) -> list[Pair]:
    """Return different pairs of bytes of the letters and of earlier pairs: many want the same byte."""
    known, merges = sorted(set(bytes(letters, "utf-8"))), []
    while len(merges) < number:
        pair = (int(rng.choice(known)), int(rng.choice(known)))
        if pair not in merges:
            known.append(256 + len(merges))
            merges.append(pair)
    return merges


def expanded(index: int, merges: list[Pair]) -> bytes:
    """Return the bytes of one id, those of its left part before those of its right part."""
    if index < 256:
        return bytes([index])
    left, right = merges[index - 256]
    return expanded(left, merges) + expanded(right, merges)


def lookup(ids: Array, table: Array) -> Array:
    """Return the row of the table at every place of ids."""
    result = np.empty((*ids.shape, table.shape[1]), dtype=table.dtype)
    for place in np.ndindex(ids.shape):
        result[place] = table[int(ids[place])]
    return result


def gathered(grad_output: Array, ids: Array, num_embeddings: int) -> Array:
    """Return for each id the sum of the gradients at its places, feature by feature."""
    result = np.zeros((num_embeddings, grad_output.shape[-1]))
    for row, feature in np.ndindex(result.shape):
        here = [float(grad_output[(*place, feature)]) for place in np.ndindex(ids.shape) if ids[place] == row]
        result[row, feature] = math.fsum(here)
    return result


def skip_gram_pairs(ids: Array, window: int) -> list[list[int]]:
    """Return (center, context) for all two places that are at most window apart, and not the same."""
    places = range(len(ids))
    return [[int(ids[i]), int(ids[j])] for i in places for j in places if 1 <= abs(i - j) <= window]


def softplus(x: float) -> float:
    """Return log(1 + exp(x)), which is -log sigmoid(-x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)) without an overflow or a difference."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def draw_batch(rng: np.random.Generator, batch: int = 5, dim: int = 3, num_negatives: int = 4) -> dict[str, Array]:
    """Return the arguments of negative_sampling_loss by name, for tables of eight rows of which one is not used.

    Centers, contexts and the negatives of one pair repeat themselves, and one negative equals its context.
    """
    names = rng.permutation(8)
    centers, contexts = rng.integers(7, size=(2, batch))
    negatives = rng.integers(7, size=(batch, num_negatives))
    centers[1:2], contexts[1:2] = centers[0], contexts[0]
    negatives[:1, 1:2], negatives[:1, 2:3] = negatives[:1, :1], contexts[0]
    return {
        "center_table": rng.normal(size=(8, dim)),
        "context_table": rng.normal(size=(8, dim)),
        "centers": names[centers],
        "contexts": names[contexts],
        "negatives": names[negatives],
    }


def negative_sampling(
    center_table: Array, context_table: Array, centers: Array, contexts: Array, negatives: Array
) -> tuple[float, dict[str, Array]]:
    """Return the loss and its gradients, pair by pair and target by target."""
    terms, grads = [], {name: np.zeros(center_table.shape) for name in ("center_table", "context_table")}
    for center, context, others in zip(centers.tolist(), contexts.tolist(), negatives.tolist(), strict=True):
        v = center_table[center].astype(float)
        for target, real in [(context, True), *((other, False) for other in others)]:
            u = context_table[target].astype(float)
            score = math.fsum((u * v).tolist())
            terms.append(softplus(-score if real else score))
            slope = (-sigmoid(-score) if real else sigmoid(score)) / len(centers)
            grads["center_table"][center] += slope * u
            grads["context_table"][target] += slope * v
    return math.fsum(terms) / len(centers), grads


def cosine(v: Array, w: Array) -> float:
    """Return the cosine similarity of two vectors, 0 where one of them is zero."""
    lengths = math.hypot(*v.tolist()) * math.hypot(*w.tolist())
    return math.fsum((v * w).tolist()) / lengths if lengths else 0.0


def neighbors(table: Array, query: Array, k: int) -> tuple[list[int], list[float]]:
    """Return the ids and similarities of the k nearest rows."""
    ranked = sorted((-cosine(row, query), index) for index, row in enumerate(table.astype(float)))[:k]
    return [index for _, index in ranked], [-minus for minus, _ in ranked]


def draw_table(rng: np.random.Generator, rows: int, dim: int) -> tuple[Array, Array]:
    """Return a table and a query whose similarities are at least 1e-5 apart, so that rounding orders nothing anew."""
    while True:
        table, query = rng.normal(size=(rows, dim)) * rng.uniform(0.2, 5, size=(rows, 1)), rng.normal(size=dim)
        if np.diff(sorted(neighbors(table, query, rows)[1])).min() > 1e-5:
            return table, query


def draw_language(rng: np.random.Generator) -> tuple[list[Array], list[list[int]]]:
    """Return three texts over twelve ids, each of four ids of its own in turn, and the twelve ids kind by kind."""
    kinds = rng.permutation(12).reshape(3, 4)
    return [np.tile(kind, 3) for kind in kinds], kinds.tolist()


def draw_negatives(num_pairs: int) -> Array:
    """Return three negatives for each of num_pairs pairs of a text of draw_language: every id equally often."""
    return (np.arange(num_pairs)[:, None] + np.array([0, 4, 8])) % 12
