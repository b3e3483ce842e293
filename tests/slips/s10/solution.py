"""A student's answer to stage s10, written from its README and stub alone; the slips of slips.toml are made in it."""

from collections import Counter
from itertools import pairwise

import numpy as np

UNKNOWN = "<unk>"


def build_vocabulary(tokens, min_count=1):
    if min_count < 1:
        raise ValueError(f"min_count: {min_count}, expected at least 1")
    counts = Counter(tokens)
    counts.pop(UNKNOWN, None)
    frequent = [token for token, count in counts.items() if count >= min_count]
    frequent.sort(key=lambda token: (-counts[token], token))
    vocabulary = {UNKNOWN: 0}
    for number, token in enumerate(frequent, start=1):
        vocabulary[token] = number
    return vocabulary


def encode(tokens, vocabulary):
    ids = []
    for token in tokens:
        if token in vocabulary:
            ids.append(vocabulary[token])
        elif UNKNOWN in vocabulary:
            ids.append(vocabulary[UNKNOWN])
        else:
            raise ValueError(f"tokens: {token!r} is not in the vocabulary, which has no {UNKNOWN} either")
    return np.array(ids, dtype=np.int64)


def decode(ids, vocabulary):
    token_of = {number: token for token, number in vocabulary.items()}
    tokens = []
    for number in np.asarray(ids).tolist():
        if number not in token_of:
            raise ValueError(f"ids: {number}, expected an id of the vocabulary, 0 to {len(vocabulary) - 1}")
        tokens.append(token_of[number])
    return tokens


def replace_pair(ids, pair, new_id):
    result = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            result.append(new_id)
            i += 2
        else:
            result.append(ids[i])
            i += 1
    return result


def byte_pair_merges(text, num_merges):
    if num_merges < 0:
        raise ValueError(f"num_merges: {num_merges}, expected 0 or more")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(num_merges):
        counts = Counter(pairwise(ids))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < 2:
            break
        ids = replace_pair(ids, best, 256 + step)
        merges.append(best)
    return merges


def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = replace_pair(ids, tuple(pair), 256 + i)
    return np.array(ids, dtype=np.int64)


def bpe_decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    data = b""
    for number in np.asarray(ids).tolist():
        if not 0 <= number < len(pieces):
            raise ValueError(f"ids: {number}, expected 0 to {len(pieces) - 1}")
        data += pieces[int(number)]
    return data.decode("utf-8", errors="replace")


def checked_ids(name, ids, num_embeddings):
    ids = np.asarray(ids)
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"{name}: dtype {ids.dtype}, expected integers")
    if ids.size and (ids.min() < 0 or ids.max() >= num_embeddings):
        raise ValueError(f"{name}: from {ids.min()} to {ids.max()}, expected 0 to {num_embeddings - 1}")
    return ids


def embedding_forward(ids, table):
    if table.ndim != 2:
        raise ValueError(f"table: shape {table.shape}, expected (num_embeddings, dim)")
    ids = checked_ids("ids", ids, table.shape[0])
    return table[ids]


def embedding_backward(grad_output, ids, num_embeddings):
    ids = checked_ids("ids", ids, num_embeddings)
    if grad_output.ndim != ids.ndim + 1 or grad_output.shape[:-1] != ids.shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {ids.shape} and one more axis")
    grad = np.zeros((num_embeddings, grad_output.shape[-1]), dtype=grad_output.dtype)
    np.add.at(grad, ids, grad_output)
    return grad


def skip_gram_pairs(ids, window):
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids: shape {ids.shape}, expected (n,)")
    if window < 1:
        raise ValueError(f"window: {window}, expected at least 1")
    pairs = []
    for i in range(len(ids)):
        first = max(0, i - window)
        last = min(len(ids) - 1, i + window)
        for j in range(first, last + 1):
            if j != i:
                pairs.append((ids[i], ids[j]))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def log_sigmoid(s):
    return -np.logaddexp(0, -s)


def sigmoid(s):
    return np.exp(log_sigmoid(s))


def check_pairs(center_table, context_table, centers, contexts, negatives):
    if center_table.ndim != 2:
        raise ValueError(f"center_table: shape {center_table.shape}, expected (num_embeddings, dim)")
    if context_table.shape != center_table.shape:
        raise ValueError(f"context_table: shape {context_table.shape}, expected {center_table.shape}")
    if centers.ndim != 1 or len(centers) == 0:
        raise ValueError(f"centers: shape {centers.shape}, expected (batch,) with at least one pair")
    if contexts.shape != centers.shape:
        raise ValueError(f"contexts: shape {contexts.shape}, expected {centers.shape}")
    if negatives.ndim != 2 or len(negatives) != len(centers):
        raise ValueError(f"negatives: shape {negatives.shape}, expected ({len(centers)}, num_negatives)")


def negative_sampling_loss(center_table, context_table, centers, contexts, negatives):
    check_pairs(center_table, context_table, centers, contexts, negatives)
    centers = checked_ids("centers", centers, len(center_table))
    contexts = checked_ids("contexts", contexts, len(center_table))
    negatives = checked_ids("negatives", negatives, len(center_table))
    batch = len(centers)
    v = center_table[centers]
    u_pos = context_table[contexts]
    u_neg = context_table[negatives]
    pos_scores = np.sum(u_pos * v, axis=1)
    neg_scores = np.sum(u_neg * v[:, None, :], axis=2)
    loss = -(np.sum(log_sigmoid(pos_scores)) + np.sum(log_sigmoid(-neg_scores))) / batch

    pos_slope = -sigmoid(-pos_scores) / batch
    neg_slope = sigmoid(neg_scores) / batch
    grad_v = pos_slope[:, None] * u_pos
    grad_v = grad_v + np.sum(neg_slope[:, :, None] * u_neg, axis=1)
    grad_u_pos = pos_slope[:, None] * v
    grad_u_neg = neg_slope[:, :, None] * v[:, None, :]
    grad_center = np.zeros_like(center_table)
    np.add.at(grad_center, centers, grad_v)
    grad_context = np.zeros_like(context_table)
    np.add.at(grad_context, contexts, grad_u_pos)
    np.add.at(grad_context, negatives, grad_u_neg)
    return loss, {"center_table": grad_center, "context_table": grad_context}


def to_unit_length(vectors):
    largest = np.max(np.abs(vectors), axis=-1, keepdims=True)
    vectors = vectors / np.where(largest > 0, largest, 1)
    lengths = np.sqrt(np.sum(vectors**2, axis=-1, keepdims=True))
    return vectors / np.where(lengths > 0, lengths, 1)


def nearest_neighbors(table, query, k):
    if table.ndim != 2:
        raise ValueError(f"table: shape {table.shape}, expected (num_embeddings, dim)")
    if query.shape != (table.shape[1],):
        raise ValueError(f"query: shape {query.shape}, expected ({table.shape[1]},)")
    if not 1 <= k <= len(table):
        raise ValueError(f"k: {k}, expected 1 to {len(table)}")
    similarities = to_unit_length(table) @ to_unit_length(query)
    order = np.argsort(-similarities, kind="stable")[:k]
    return order, similarities[order]
