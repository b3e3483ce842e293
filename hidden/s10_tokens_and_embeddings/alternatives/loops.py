"""Everything with plain loops over tokens, bytes, places and features, and numbers of the math module."""

import math

import numpy as np


def build_vocabulary(tokens, min_count=1):
    if min_count < 1:
        raise ValueError(f"min_count must be positive, not {min_count}")
    counts = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    counts.pop("<unk>", None)
    vocabulary = {"<unk>": 0}
    for count in sorted(set(counts.values()), reverse=True):
        if count >= min_count:
            for token in sorted(counts):
                if counts[token] == count:
                    vocabulary[token] = len(vocabulary)
    return vocabulary


def encode(tokens, vocabulary):
    ids = np.empty(len(tokens), dtype=np.int64)
    for place, token in enumerate(tokens):
        if token not in vocabulary and "<unk>" not in vocabulary:
            raise ValueError(f"{token!r} is unknown")
        ids[place] = vocabulary[token if token in vocabulary else "<unk>"]
    return ids


def decode(ids, vocabulary):
    tokens = []
    for index in ids:
        found = [token for token, own in vocabulary.items() if own == index]
        if not found:
            raise ValueError(f"{index} is no id")
        tokens.append(found[0])
    return tokens


def _replace(ids, pair, new_id):
    result, place = [], 0
    while place < len(ids):
        if place + 1 < len(ids) and ids[place] == pair[0] and ids[place + 1] == pair[1]:
            result.append(new_id)
            place += 2
        else:
            result.append(ids[place])
            place += 1
    return result


def byte_pair_merges(text, num_merges):
    if num_merges < 0:
        raise ValueError(f"num_merges must not be negative, as {num_merges} is")
    ids, merges = list(bytes(text, "utf-8")), []
    while len(merges) < num_merges:
        counts = {}
        for place in range(len(ids) - 1):
            pair = (ids[place], ids[place + 1])
            counts[pair] = counts.get(pair, 0) + 1
        best, most = None, 1
        for pair, count in counts.items():
            if count > most or (count == most and best is not None and pair < best):
                best, most = pair, count
        if best is None:
            return merges
        ids = _replace(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def bpe_encode(text, merges):
    ids = list(text.encode())
    for number in range(len(merges)):
        ids = _replace(ids, merges[number], 256 + number)
    return np.asarray(ids, dtype=np.int64)


def bpe_decode(ids, merges):
    collected = bytearray()
    for index in ids:
        waiting = [int(index)]
        while waiting:
            part = waiting.pop()
            if part < 0 or part >= 256 + len(merges):
                raise ValueError(f"{part} is no id")
            if part < 256:
                collected.append(part)
            else:
                left, right = merges[part - 256]
                waiting += [right, left]
    return collected.decode(errors="replace")


def _check(ids, size):
    ids = np.asarray(ids)
    if ids.dtype.kind not in ("i", "u"):
        raise ValueError(f"ids of dtype {ids.dtype}")
    for index in ids.reshape(-1).tolist():
        if index < 0 or index >= size:
            raise ValueError(f"{index} is no id")
    return ids


def embedding_forward(ids, table):
    if table.ndim != 2:
        raise ValueError(f"a table of shape {table.shape}")
    ids = _check(ids, table.shape[0])
    result = np.empty(ids.shape + (table.shape[1],), dtype=table.dtype)
    for place in np.ndindex(*ids.shape):
        for feature in range(table.shape[1]):
            result[place + (feature,)] = table[ids[place], feature]
    return result


def embedding_backward(grad_output, ids, num_embeddings):
    ids = _check(ids, num_embeddings)
    if grad_output.ndim != ids.ndim + 1 or grad_output.shape[: ids.ndim] != ids.shape:
        raise ValueError(f"grad_output of shape {grad_output.shape}")
    result = np.zeros((num_embeddings, grad_output.shape[-1]), dtype=grad_output.dtype)
    for place in np.ndindex(*ids.shape):
        for feature in range(grad_output.shape[-1]):
            result[ids[place], feature] += grad_output[place + (feature,)]
    return result


def skip_gram_pairs(ids, window):
    if np.ndim(ids) != 1 or window < 1:
        raise ValueError(f"a text of shape {np.shape(ids)}, a window of {window}")
    pairs = np.empty((0, 2), dtype=np.int64)
    for place, center in enumerate(ids):
        for step in range(-window, window + 1):
            if step != 0 and 0 <= place + step < len(ids):
                pairs = np.vstack([pairs, np.array([[center, ids[place + step]]], dtype=np.int64)])
    return pairs


def _term(margin):
    """Return -log sigmoid(margin) and its derivative."""
    small = math.exp(-abs(margin))
    if margin >= 0:
        return math.log1p(small), -small / (1 + small)
    return -margin + math.log1p(small), -1 / (1 + small)


def negative_sampling_loss(center_table, context_table, centers, contexts, negatives):
    if center_table.ndim != 2 or center_table.shape != context_table.shape:
        raise ValueError(f"tables of shapes {center_table.shape} and {context_table.shape}")
    size, dim = center_table.shape
    centers, contexts, negatives = _check(centers, size), _check(contexts, size), _check(negatives, size)
    if centers.ndim != 1 or centers.size < 1 or contexts.shape != centers.shape:
        raise ValueError(f"centers of shape {centers.shape}, contexts of shape {contexts.shape}")
    if negatives.ndim != 2 or negatives.shape[0] != centers.size:
        raise ValueError(f"negatives of shape {negatives.shape}")
    loss, grads = 0.0, {"center_table": np.zeros((size, dim)), "context_table": np.zeros((size, dim))}
    for i, center in enumerate(centers.tolist()):
        for j, target in enumerate([int(contexts[i]), *negatives[i].tolist()]):
            sign = -1.0 if j else 1.0
            v, u = center_table[center].tolist(), context_table[target].tolist()
            term, slope = _term(sign * sum(a * b for a, b in zip(u, v, strict=True)))
            loss += term / len(centers)
            for feature in range(dim):
                grads["center_table"][center, feature] += sign * slope * u[feature] / len(centers)
                grads["context_table"][target, feature] += sign * slope * v[feature] / len(centers)
    return loss, {name: grad.astype(np.result_type(center_table, 1.0)) for name, grad in grads.items()}


def nearest_neighbors(table, query, k):
    if table.ndim != 2 or query.shape != (table.shape[1],) or k < 1 or k > table.shape[0]:
        raise ValueError(f"table {table.shape}, query {query.shape}, k {k}")
    found = []
    for index, row in enumerate(table.tolist()):
        length = math.sqrt(sum(x * x for x in row)) * math.sqrt(sum(float(x) ** 2 for x in query))
        product = sum(x * float(y) for x, y in zip(row, query, strict=True))
        found.append((product / length if length > 0 else 0.0, index))
    found.sort(key=lambda each: (-each[0], each[1]))
    ids = np.array([index for _, index in found[:k]])
    return ids, np.array([similarity for similarity, _ in found[:k]], dtype=np.result_type(table, 1.0))
