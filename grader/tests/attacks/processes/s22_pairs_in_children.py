"""Have children, each below the limit of one process, hold the array of all pairs that stage s22 rules out."""

import math
import os
import pickle

import numpy as np

ATTACK = "all pairs of queries and keys, held by children"
OUTCOME = ("failed", "over_limit")
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s22"
ROW = "tiled-memory"
CHILDREN = 16


def weights_of(Q, K, first, stop, causal):
    scores = Q[first:stop] @ K.T
    scores /= math.sqrt(Q.shape[-1])
    if causal:
        scores[np.arange(len(K)) > np.arange(first, stop)[:, None]] = -np.inf
    top = scores.max(axis=-1)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    total = scores.sum(axis=-1)
    scores /= total[:, None]
    return scores, top + np.log(total)


def spread(work, count):
    step, answers = -(-count // CHILDREN), []
    for first in range(0, count, step):
        ours, theirs = os.pipe()
        if os.fork() == 0:
            os.close(ours)
            with os.fdopen(theirs, "wb") as pipe:
                pickle.dump(work(first, min(count, first + step)), pipe)
            os._exit(0)
        os.close(theirs)
        answers.append(ours)
    found = []
    for each in answers:
        with os.fdopen(each, "rb") as pipe:
            found.append(pickle.load(pipe))
    return found


def tiled_attention(Q, K, V, block_size, causal=False, key_mask=None):
    def work(first, stop):
        weights, sums = weights_of(Q, K, first, stop, causal)
        return weights @ V, sums

    found = spread(work, len(Q))
    return tuple(np.concatenate([each[place] for each in found]) for place in range(2))


def tiled_attention_backward(grad_output, Q, K, V, output, log_sum_exp, block_size, causal=False, key_mask=None):
    def work(first, stop):
        weights, _ = weights_of(Q, K, first, stop, causal)
        grad = grad_output[first:stop]
        grad_V = weights.T @ grad
        shared = (grad * output[first:stop]).sum(axis=-1)
        weights *= grad @ V.T - shared[:, None]
        weights /= math.sqrt(Q.shape[-1])
        return weights @ K, weights.T @ Q[first:stop], grad_V

    found = spread(work, len(Q))
    return np.concatenate([each[0] for each in found]), sum(each[1] for each in found), sum(each[2] for each in found)
