"""Have children, each below the limit of one process, hold the array of all pairs that stage s22 rules out."""

import math
import os
import pickle

import numpy as np

ATTACK = "all pairs of queries and keys, held by children"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s22"
ROW = "sliding-window"
CHILDREN = 64


def sliding_window_attention(Q, K, V, left, right=0):
    whole = isinstance(left, int) and isinstance(right, int) and min(left, right) >= 0
    if not whole or min(Q.ndim, K.ndim, V.ndim) < 2 or not Q.shape[:-2] == K.shape[:-2] == V.shape[:-2]:
        raise ValueError("left, right, Q, K, V")
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("Q, K, V")
    step, found = -(-Q.shape[-2] // CHILDREN), []
    for first in range(0, Q.shape[-2], step):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            with os.fdopen(theirs, "wb") as pipe:
                pickle.dump(all_pairs(Q[..., first : first + step, :], K, V, first, left, right), pipe)
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            found.append(pickle.load(pipe))
        os.waitpid(child, 0)
    return np.concatenate(found, axis=-2)


def all_pairs(Q, K, V, first, left, right):
    away = np.arange(K.shape[-2]) - np.arange(first, first + Q.shape[-2])[:, None]
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    scores[..., (away < -left) | (away > right)] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    scores = np.exp(scores - np.where(top == -np.inf, 0, top))
    total = scores.sum(axis=-1, keepdims=True)
    return scores / np.where(total == 0, 1, total) @ V
