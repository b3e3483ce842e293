"""BPE by the rank of pairs with counts kept up to date, gradients by sorting, neighbours from a heap."""

import heapq
import itertools
from collections import Counter, defaultdict

import numpy as np


def build_vocabulary(tokens, min_count=1):
    if min_count <= 0:
        raise ValueError(f"min_count: {min_count}")
    groups = defaultdict(list)
    for token, count in Counter(tokens).items():
        if token != "<unk>" and count >= min_count:
            groups[count].append(token)
    names = itertools.chain(["<unk>"], *(sorted(groups[count]) for count in sorted(groups)[::-1]))
    return {token: index for index, token in enumerate(names)}


def encode(tokens, vocabulary):
    try:
        unknown = vocabulary.get("<unk>")
        chosen = [vocabulary.get(token, unknown) for token in tokens]
        return np.array([index + 0 for index in chosen], dtype="int64")
    except TypeError as error:
        raise ValueError("a token without an id") from error


def decode(ids, vocabulary):
    tokens = dict(map(reversed, vocabulary.items()))
    try:
        return [tokens[index] for index in np.asarray(ids).tolist()]
    except KeyError as error:
        raise ValueError(f"ids: {error} belongs to no token") from error


def byte_pair_merges(text, num_merges):
    """Only the neighbourhoods of replaced pairs are counted anew."""
    if num_merges < 0:
        raise ValueError(f"num_merges: {num_merges}")
    ids, merges = list(text.encode()), []
    counts = Counter(itertools.pairwise(ids))
    while len(merges) < num_merges and counts:
        best = min(counts.items(), key=lambda item: (-item[1], item[0]))[0]
        if counts[best] == 1:
            break
        place, result, new_id = 0, [], 256 + len(merges)
        while place < len(ids):
            if tuple(ids[place : place + 2]) != best:
                result.append(ids[place])
                place += 1
                continue
            counts[best] -= 1
            if result:
                counts[result[-1], best[0]] -= 1
                counts[result[-1], new_id] += 1
            if place + 2 < len(ids):
                counts[best[1], ids[place + 2]] -= 1
                counts[new_id, ids[place + 2]] += 1
            result.append(new_id)
            place += 2
        ids, counts = result, +counts
        merges.append(best)
    return merges


def bpe_encode(text, merges):
    ranks = {tuple(pair): 256 + number for number, pair in enumerate(merges)}
    ids = list(text.encode())
    while len(ids) > 1:
        best = min(ranks.get(pair, np.inf) for pair in itertools.pairwise(ids))
        if best == np.inf:
            break
        for place in range(len(ids) - 1):
            if ranks.get(tuple(ids[place : place + 2])) == best:
                ids[place : place + 2] = [best]
                break
    return np.array(ids, dtype=np.int64)


def bpe_decode(ids, merges):
    pieces = {value: bytes((value,)) for value in range(256)}
    for left, right in merges:
        pieces[len(pieces)] = pieces[left] + pieces[right]
    if not set(np.asarray(ids).tolist()) <= set(pieces):
        raise ValueError("ids beyond bytes and merges")
    return str(b"".join(map(pieces.get, np.asarray(ids).tolist())), "utf-8", "replace")


def _whole(ids, size):
    ids = np.asarray(ids)
    if ids.dtype.kind in "iu" and (ids.size == 0 or (ids.min() >= 0 and ids.max() < size)):
        return ids
    raise ValueError(f"expected integers from 0 to {size - 1}")


def embedding_forward(ids, table):
    rows, _ = table.shape
    return np.take(table, _whole(ids, rows), axis=0)


def embedding_backward(grad_output, ids, num_embeddings):
    ids = _whole(ids, num_embeddings)
    if (*ids.shape, grad_output.shape[-1]) != grad_output.shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}")
    flat, rows = ids.reshape(-1), grad_output.reshape(ids.size, grad_output.shape[-1])
    result = np.zeros_like(grad_output, shape=(num_embeddings, rows.shape[1]))
    if flat.size:
        order = np.argsort(flat, kind="stable")
        present, starts = np.unique(flat[order], return_index=True)
        result[present] = np.add.reduceat(rows[order], starts, axis=0)
    return result


def skip_gram_pairs(ids, window):
    """All pairs of each distance by shifted slices, then brought into order."""
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids: shape {ids.shape}")
    if window < 1:
        raise ValueError(f"window: {window}")
    places = np.arange(len(ids))
    steps = range(1, min(window, len(ids) - 1) + 1)
    found = [np.stack([places[:-step], places[step:]], axis=1) for step in steps]
    found += [pairs[:, ::-1] for pairs in found]
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *found])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return ids.astype(np.int64)[pairs]


def _slope(scores):
    """Return sigmoid(scores), by the half of the axis on which the exponential is small."""
    result = np.empty_like(scores)
    positive = scores >= 0
    result[positive] = 1 / (1 + np.exp(-scores[positive]))
    powers = np.exp(scores[~positive])
    result[~positive] = powers / (1 + powers)
    return result


def negative_sampling_loss(center_table, context_table, centers, contexts, negatives):
    """First the real pairs, then one column of negatives after the other."""
    size, _ = center_table.shape if center_table.ndim == 2 else (None, None)
    if size is None or context_table.shape != center_table.shape:
        raise ValueError("two tables of one shape are needed")
    centers, contexts, negatives = (_whole(ids, size) for ids in (centers, contexts, negatives))
    if centers.ndim != 1 or centers.size == 0 or contexts.shape != centers.shape:
        raise ValueError("centers and contexts: one shape of one axis is needed")
    if negatives.ndim != 2 or len(negatives) != len(centers):
        raise ValueError("negatives: one row for each pair is needed")
    loss = 0.0
    dtype = np.result_type(center_table, 1.0)
    grad_center, grad_context = np.zeros(center_table.shape, dtype), np.zeros(context_table.shape, dtype)
    for targets, sign in [(contexts, 1.0), *((column, -1.0) for column in negatives.T)]:
        v, u = center_table[centers], context_table[targets]
        scores = (u * v).sum(axis=1)
        loss += np.logaddexp(0.0, -sign * scores).mean()
        slopes = -sign * _slope(-sign * scores) / len(centers)
        grad_center += embedding_backward(slopes[:, None] * u, centers, size)
        grad_context += embedding_backward(slopes[:, None] * v, targets, size)
    return float(loss), {"center_table": grad_center, "context_table": grad_context}


def nearest_neighbors(table, query, k):
    rows, dim = table.shape
    if query.shape != (dim,) or not 0 < k <= rows:
        raise ValueError(f"query: shape {query.shape}; k: {k}")
    products = np.einsum("nd,d->n", table, query)
    table, query = (each.astype(np.result_type(each, 1.0)) for each in (table, query))
    lengths = np.hypot.reduce(table, axis=1) * np.hypot.reduce(query)
    similarities = np.where(lengths > 0, products, 0) / np.where(lengths > 0, lengths, 1).astype(table.dtype)
    ids = np.array(heapq.nsmallest(k, range(rows), key=lambda index: (-similarities[index], index)))
    return ids, similarities[ids]
