"""Lookups as products with one-hot rows, texts as strings of private characters, comparisons as tables."""

import numpy as np


def build_vocabulary(tokens, min_count=1):
    if not min_count > 0:
        raise ValueError("min_count has to be 1 or more")
    known = sorted({*tokens} - {"<unk>"})
    counts = [sum(token == each for each in tokens) for token in known]
    ranked = [known[i] for i in np.argsort([-count for count in counts], kind="stable") if counts[i] >= min_count]
    return dict(zip(["<unk>"] + ranked, range(len(ranked) + 1), strict=True))


class _WithUnknown(dict):
    def __missing__(self, token):
        if "<unk>" not in self:
            raise ValueError(f"no id for {token!r}")
        return self["<unk>"]


def encode(tokens, vocabulary):
    known = _WithUnknown(vocabulary)
    return np.fromiter((known[token] for token in tokens), dtype=np.int64)


def decode(ids, vocabulary):
    tokens = sorted(vocabulary, key=vocabulary.get)
    if any(index < 0 or index >= len(tokens) for index in ids):
        raise ValueError("an id that belongs to no token")
    return [tokens[int(index)] for index in ids]


def byte_pair_merges(text, num_merges):
    """A text of the characters U+0000 to U+00FF, and one more for each merge; str.replace walks from the left."""
    if num_merges < 0:
        raise ValueError("num_merges has to be 0 or more")
    coded, merges = text.encode("utf-8").decode("latin-1"), []
    while len(merges) < num_merges:
        pairs = [coded[place : place + 2] for place in range(len(coded) - 1)]
        ranked = sorted((-pairs.count(pair), pair) for pair in set(pairs))
        if not ranked or ranked[0][0] > -2:
            break
        pair = ranked[0][1]
        coded = coded.replace(pair, chr(256 + len(merges)))
        merges.append((ord(pair[0]), ord(pair[1])))
    return merges


def bpe_encode(text, merges):
    coded = text.encode("utf-8").decode("latin-1")
    for number, (left, right) in enumerate(merges):
        coded = coded.replace(chr(left) + chr(right), chr(256 + number))
    return np.array([ord(each) for each in coded]).astype(np.int64)


def bpe_decode(ids, merges):
    if not all(0 <= index < 256 + len(merges) for index in ids):
        raise ValueError("an id that is neither a byte nor a merge")
    coded = "".join(chr(index) for index in ids)
    for number in range(len(merges) - 1, -1, -1):
        coded = coded.replace(chr(256 + number), chr(merges[number][0]) + chr(merges[number][1]))
    return coded.encode("latin-1").decode("utf-8", "replace")


def _one_hot(ids, size, dtype=np.float64):
    ids = np.asarray(ids)
    rows = (ids[..., None] == np.arange(size)).astype(dtype)
    if not np.issubdtype(ids.dtype, np.integer) or not rows.any(axis=-1).all():
        raise ValueError(f"ids have to be integers from 0 to {size - 1}")
    return rows


def embedding_forward(ids, table):
    if len(table.shape) != 2:
        raise ValueError("the table needs two axes")
    return _one_hot(ids, table.shape[0], table.dtype) @ table


def embedding_backward(grad_output, ids, num_embeddings):
    rows = _one_hot(ids, num_embeddings, grad_output.dtype)
    if rows.shape[:-1] != grad_output.shape[:-1]:
        raise ValueError("grad_output does not fit the ids")
    return rows.reshape(-1, num_embeddings).T @ grad_output.reshape(-1, grad_output.shape[-1])


def skip_gram_pairs(ids, window):
    ids = np.asarray(ids, dtype=np.int64)
    if ids.shape != (ids.size,) or window <= 0:
        raise ValueError("a text of one axis and a window of at least 1 are needed")
    places = np.arange(ids.size)
    distance = abs(places[:, None] - places)
    left, right = np.nonzero((distance > 0) & (distance <= window))
    return np.stack([ids[left], ids[right]], axis=1)


def negative_sampling_loss(center_table, context_table, centers, contexts, negatives):
    """One table of all scores between the batch and the vocabulary; targets are counted in another."""
    if center_table.ndim != 2 or center_table.shape != context_table.shape:
        raise ValueError("the tables need one shape of two axes")
    size, dtype = center_table.shape[0], np.result_type(center_table, 1.0)
    rows, real, fake = (_one_hot(ids, size, dtype) for ids in (centers, contexts, negatives))
    if rows.ndim != 2 or not len(rows) or real.shape != rows.shape or fake.ndim != 3 or len(fake) != len(rows):
        raise ValueError("centers and contexts (batch,) and negatives (batch, num_negatives) are needed")
    fake = fake.sum(axis=1)
    vectors = rows @ center_table
    scores = vectors @ context_table.T
    small = np.exp(-abs(scores))
    low = np.where(scores >= 0, small, 1) / (1 + small)  # sigmoid(-score)
    high = np.where(scores >= 0, 1, small) / (1 + small)  # sigmoid(score)
    tail = np.log1p(small)
    terms = real * (np.maximum(-scores, 0) + tail) + fake * (np.maximum(scores, 0) + tail)
    slopes = ((fake * high - real * low) / len(rows)).astype(dtype)
    return terms.sum(axis=1).mean(), {
        "center_table": rows.T @ (slopes @ context_table),
        "context_table": slopes.T @ vectors,
    }


def _directions(rows):
    lengths = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros(rows.shape, lengths.dtype), where=lengths > 0)


def nearest_neighbors(table, query, k):
    if table.ndim != 2 or query.ndim != 1 or len(query) != table.shape[1] or k not in range(1, len(table) + 1):
        raise ValueError("table (num_embeddings, dim), query (dim,) and k from 1 to num_embeddings are needed")
    similarities = (_directions(table) * _directions(query)).sum(axis=1)
    ids = np.lexsort([np.arange(len(table)), -similarities])[:k]
    return ids, similarities[ids]
