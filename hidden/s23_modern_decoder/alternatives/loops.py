"""A modern decoder in loops: one vector, one head and one query at a time, and a cache that is a list of positions."""

import math
import sys
from collections import deque

import numpy as np

from stages.s05_optimization.optimizers import clip_by_global_norm
from stages.s18_decoder_and_generation.decoder import cross_entropy_loss

PROJECTIONS = ("query", "key", "value")


def _count(value, name, least=1):
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}: {value!r} is no whole number from {least} on")
    return value


def rms_norm_forward(x, gamma, eps=1e-6):
    if gamma.shape != (x.shape[-1],):
        raise ValueError(f"gamma: {gamma.shape}, expected ({x.shape[-1]},)")
    output, roots = np.empty_like(x), []
    for place in np.ndindex(x.shape[:-1]):
        root = (np.dot(x[place], x[place]) / len(gamma)) ** 0.5 + x.dtype.type(eps)  # eps outside of the root
        output[place] = gamma * x[place] / root
        roots.append(root)
    return output, (x, gamma, roots, eps)


def rms_norm_backward(grad_output, cache):
    x, gamma, roots, eps = cache
    if grad_output.shape != x.shape:
        raise ValueError(f"grad_output: {grad_output.shape}, expected {x.shape}")
    grad_x, grad_gamma = np.empty_like(x), np.zeros_like(gamma)
    for place, root in zip(np.ndindex(x.shape[:-1]), roots, strict=True):
        g, inner = grad_output[place] * gamma, root - x.dtype.type(eps)
        grad_x[place] = g / root
        if inner > 0:
            grad_x[place] -= x[place] * np.dot(g, x[place]) / (len(gamma) * inner * root**2)
        grad_gamma += grad_output[place] * x[place] / root
    return grad_x, grad_gamma


def rotary_forward(x, positions, base=10000.0):
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"x: {x.shape}, expected an even number of features")
    places = np.broadcast_to(np.asarray(positions, dtype=float), x.shape[:-1])
    turned = np.empty_like(x)
    for i in range(0, x.shape[-1], 2):
        angle = places * base ** (-i / x.shape[-1])
        sine, cosine = np.sin(angle), np.cos(angle)
        turned[..., i] = x[..., i] * cosine - x[..., i + 1] * sine
        turned[..., i + 1] = x[..., i] * sine + x[..., i + 1] * cosine
    return turned


def rotary_backward(grad_output, positions, base=10000.0):
    if grad_output.ndim < 2 or grad_output.shape[-1] % 2:
        raise ValueError(f"grad_output: {grad_output.shape}, expected an even number of features")
    places = np.broadcast_to(np.asarray(positions, dtype=float), grad_output.shape[:-1])
    grad = np.empty_like(grad_output)
    for i in range(0, grad_output.shape[-1], 2):
        angle = places * base ** (-i / grad_output.shape[-1])
        sine, cosine = np.sin(angle), np.cos(angle)
        grad[..., i] = grad_output[..., i] * cosine + grad_output[..., i + 1] * sine
        grad[..., i + 1] = grad_output[..., i + 1] * cosine - grad_output[..., i] * sine
    return grad


def scale_positions(positions, trained_length):
    _count(trained_length, "trained_length")
    length = positions.max() + 1
    if length > trained_length:
        return positions * (trained_length / length)
    return positions.astype(float)


def grouped_query_attention_forward(Q, K, V, window=None):
    if not Q.ndim == K.ndim == V.ndim >= 3 or K.shape[:-1] != V.shape[:-1]:
        raise ValueError("Q, K, V: expected (..., heads, seq, features), with as many keys as values")
    if Q.shape[:-3] != K.shape[:-3] or Q.shape[-1] != K.shape[-1] or Q.shape[-3] % K.shape[-3]:
        raise ValueError("Q, K: leading axes, features or heads do not fit")
    if Q.shape[-2] > K.shape[-2]:
        raise ValueError("Q: more queries than keys")
    if window is not None:
        _count(window, "window")
    group, before = Q.shape[-3] // K.shape[-3], K.shape[-2] - Q.shape[-2]
    output = np.empty((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    rows = {}
    for *leading, head, i in np.ndindex(Q.shape[:-1]):
        shared, stop = (*leading, head // group), before + i + 1
        start = 0 if window is None else max(0, stop - window)
        scores = K[shared][start:stop] @ Q[(*leading, head, i)] / Q.dtype.type(math.sqrt(Q.shape[-1]))
        powers = np.exp(scores - scores.max())
        weights = powers / powers.sum()
        output[(*leading, head, i)] = weights @ V[shared][start:stop]
        rows[(*leading, head, i)] = shared, start, stop, weights
    return output, (Q, K, V, rows)


def grouped_query_attention_backward(grad_output, cache):
    Q, K, V, rows = cache
    if grad_output.shape != (*Q.shape[:-1], V.shape[-1]):
        raise ValueError(f"grad_output: {grad_output.shape}, expected {(*Q.shape[:-1], V.shape[-1])}")
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for place, (shared, start, stop, weights) in rows.items():
        grad_V[shared][start:stop] += np.outer(weights, grad_output[place])
        grad_weights = V[shared][start:stop] @ grad_output[place]
        grad_scores = weights * (grad_weights - weights @ grad_weights) / Q.dtype.type(math.sqrt(Q.shape[-1]))
        grad_Q[place] = grad_scores @ K[shared][start:stop]
        grad_K[shared][start:stop] += np.outer(grad_scores, Q[place])
    return grad_Q, grad_K, grad_V


def _logistic(z):
    exponential = np.exp(np.where(z < 0, z, -z))
    return np.where(z < 0, exponential / (1 + exponential), 1 / (1 + exponential))


def swiglu_forward(x, W_gate, W_up, W_down):
    if x.shape[-1:] != W_gate.shape[:1] or W_gate.shape != W_up.shape or W_gate.shape[1] != W_down.shape[0]:
        raise ValueError("x, W_gate, W_up, W_down: shapes do not fit")
    rows = x.reshape(-1, x.shape[-1])
    gate, up = rows @ W_gate, rows @ W_up
    output = (gate * _logistic(gate) * up) @ W_down
    return output.reshape(*x.shape[:-1], -1), (x.shape, rows, W_gate, W_up, W_down, gate, up)


def swiglu_backward(grad_output, cache):
    shape, rows, W_gate, W_up, W_down, gate, up = cache
    if grad_output.shape != (*shape[:-1], W_down.shape[1]):
        raise ValueError(f"grad_output: {grad_output.shape}, expected {(*shape[:-1], W_down.shape[1])}")
    grad = grad_output.reshape(len(rows), -1)
    share = _logistic(gate)
    grad_hidden = grad @ W_down.T
    grad_up, grad_silu = grad_hidden * gate * share, grad_hidden * up
    grad_gate = grad_silu * (share + gate * share * (1 - share))
    grad_x = (grad_gate @ W_gate.T + grad_up @ W_up.T).reshape(shape)
    return grad_x, rows.T @ grad_gate, rows.T @ grad_up, (gate * share * up).T @ grad


class RollingCache:
    def __init__(self, window=None):
        if window is not None:
            _count(window, "window")
        self.kept = deque(maxlen=window)  # of (keys, values) of one position each
        self.length = 0

    @property
    def keys(self):
        return np.stack([key for key, _ in self.kept], axis=2) if self.kept else None

    @property
    def values(self):
        return np.stack([value for _, value in self.kept], axis=2) if self.kept else None

    def append(self, keys, values):
        if keys.ndim != 4 or values.ndim != 4 or keys.shape[:3] != values.shape[:3]:
            raise ValueError("keys, values: expected (batch, heads, new, features), alike but for the features")
        seen = list(self.kept)
        for place in range(keys.shape[2]):
            pair = keys[:, :, place].copy(), values[:, :, place].copy()
            seen.append(pair)
            self.kept.append(pair)
            self.length += 1
        return np.stack([key for key, _ in seen], axis=2), np.stack([value for _, value in seen], axis=2)


def _fits(held, given):
    if sorted(held) != sorted(given):
        raise ValueError("params: expected the names of params")
    for name, value in held.items():
        if np.shape(given[name]) != value.shape:
            raise ValueError(f"params: {name} has another shape")


class ModernBlock:
    def __init__(self, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0):
        for name, value in (("dim", dim), ("num_heads", num_heads), ("num_kv_heads", num_kv_heads), ("hidden", hidden)):
            _count(value, name)
        if dim % num_heads or (dim // num_heads) % 2:
            raise ValueError("num_heads: expected a divisor of dim that leaves an even size")
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads: expected a divisor of num_heads")
        if window is not None:
            _count(window, "window")
        rng = np.random.default_rng() if rng is None else rng
        self.dim, self.heads, self.kv_heads, self.window, self.base = dim, num_heads, num_kv_heads, window, base
        self.size = dim // num_heads

        def weights(rows, columns):
            return rng.normal(size=(rows, columns)) / rows**0.5

        self.own = {"norm1.gamma": np.ones(dim), "norm2.gamma": np.ones(dim)}
        for name, heads in zip(PROJECTIONS, (num_heads, num_kv_heads, num_kv_heads), strict=True):
            self.own[f"attention.{name}_weights"] = weights(dim, heads * self.size)
        self.own["attention.output_weights"] = weights(dim, dim)
        self.own["mlp.gate_weights"], self.own["mlp.up_weights"] = weights(dim, hidden), weights(dim, hidden)
        self.own["mlp.down_weights"] = weights(hidden, dim)
        self.grads, self.last = {}, None

    @property
    def params(self):
        return self.own

    @params.setter
    def params(self, given):
        _fits(self.own, given)
        self.own = {**given}

    def cut(self, x):
        return np.stack([x[..., at : at + self.size] for at in range(0, x.shape[-1], self.size)], axis=1)

    def join(self, x):
        return np.concatenate([x[:, head] for head in range(x.shape[1])], axis=-1)

    def run(self, x, cache):
        if x.ndim != 3 or x.shape[-1] != self.dim:
            raise ValueError(f"x: {x.shape}, expected (batch, seq, {self.dim})")
        start, last = cache.length, {}
        places = list(range(start, start + x.shape[1]))
        normed, last["norm1"] = rms_norm_forward(x, self.own["norm1.gamma"])
        Q, K, V = (self.cut(normed @ self.own[f"attention.{name}_weights"]) for name in PROJECTIONS)
        Q, K = rotary_forward(Q, places, self.base), rotary_forward(K, places, self.base)
        keys, values = cache.append(K, V)
        heads, last["attention"] = grouped_query_attention_forward(Q, keys, values, self.window)
        joined = self.join(heads)
        x = x + joined @ self.own["attention.output_weights"]
        again, last["norm2"] = rms_norm_forward(x, self.own["norm2.gamma"])
        added, last["mlp"] = swiglu_forward(
            again, *(self.own[f"mlp.{name}_weights"] for name in ("gate", "up", "down"))
        )
        return x + added, {**last, "normed": normed, "joined": joined}

    def forward(self, x):
        output, self.last = self.run(x, RollingCache())
        return output

    def forward_with_cache(self, x, cache=None):
        cache = RollingCache(self.window) if cache is None else cache
        return self.run(x, cache)[0], cache

    def backward(self, grad_output):
        if self.last is None:
            raise RuntimeError("backward: forward has not been called")
        normed, joined = self.last["normed"], self.last["joined"]
        if grad_output.shape != normed.shape:
            raise ValueError(f"grad_output: {grad_output.shape}, expected {normed.shape}")
        grads = {}
        grad, *of_mlp = swiglu_backward(grad_output, self.last["mlp"])
        for name, value in zip(("gate", "up", "down"), of_mlp, strict=True):
            grads[f"mlp.{name}_weights"] = value
        grad, grads["norm2.gamma"] = rms_norm_backward(grad, self.last["norm2"])
        grad = grad + grad_output
        grads["attention.output_weights"] = sum(a.T @ b for a, b in zip(joined, grad, strict=True))
        of_heads = self.cut(grad @ self.own["attention.output_weights"].T)
        places = list(range(normed.shape[1]))
        found = list(grouped_query_attention_backward(of_heads, self.last["attention"]))
        for turned in (0, 1):
            found[turned] = rotary_backward(found[turned], places, self.base)
        back = np.zeros_like(normed)
        for name, value in zip(PROJECTIONS, found, strict=True):
            flat = self.join(value)
            grads[f"attention.{name}_weights"] = sum(a.T @ b for a, b in zip(normed, flat, strict=True))
            back += flat @ self.own[f"attention.{name}_weights"].T
        back, grads["norm1.gamma"] = rms_norm_backward(back, self.last["norm1"])
        self.grads = grads
        return grad + back


class ModernGPT:
    def __init__(
        self, vocabulary_size, depth, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0
    ):
        _count(vocabulary_size, "vocabulary_size")
        _count(depth, "depth")
        rng = np.random.default_rng() if rng is None else rng
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(ModernBlock(dim, num_heads, num_kv_heads, hidden, rng, window, base))
        self.table = rng.normal(size=(vocabulary_size, dim)) * dim**-0.5
        self.gamma, self.window, self.last = np.ones(dim), window, None
        self.context_length, self.of_ends = sys.maxsize, {}

    @property
    def params(self):
        found = {"token_embedding": self.table, "norm.gamma": self.gamma}
        for number, block in enumerate(self.blocks):
            found.update((f"blocks.{number}.{name}", value) for name, value in block.params.items())
        return found

    @params.setter
    def params(self, given):
        _fits(self.params, given)
        self.table, self.gamma = given["token_embedding"], given["norm.gamma"]
        for number, block in enumerate(self.blocks):
            block.params = {name: given[f"blocks.{number}.{name}"] for name in block.params}

    @property
    def grads(self):
        found = dict(self.of_ends)
        for number, block in enumerate(self.blocks):
            found.update((f"blocks.{number}.{name}", value) for name, value in block.grads.items())
        return found

    def vectors(self, ids):
        if ids.dtype.kind not in "ui" or ids.ndim != 2 or ids.shape[1] < 1:
            raise ValueError(f"ids: {ids.dtype} {ids.shape}, expected integers (batch, seq)")
        if any(not 0 <= int(each) < len(self.table) for each in ids.ravel()):
            raise ValueError(f"ids: expected tokens from 0 to {len(self.table) - 1}")
        return np.array([[self.table[each] for each in row] for row in ids])

    def forward(self, ids):
        x = self.vectors(ids)
        for block in self.blocks:
            x = block.forward(x)
        hidden, cache = rms_norm_forward(x, self.gamma)
        self.last = ids, hidden, cache
        return hidden @ self.table.T

    def forward_with_cache(self, ids, cache=None):
        x = self.vectors(ids)
        if cache is None:
            cache = [RollingCache(self.window) for _ in self.blocks]
        for block, held in zip(self.blocks, cache, strict=True):
            x, _ = block.forward_with_cache(x, held)
        return rms_norm_forward(x, self.gamma)[0] @ self.table.T, cache

    def backward(self, grad_logits):
        if self.last is None:
            raise RuntimeError("backward: forward has not been called")
        ids, hidden, cache = self.last
        if grad_logits.shape != (*ids.shape, len(self.table)):
            raise ValueError(f"grad_logits: {grad_logits.shape}, expected {(*ids.shape, len(self.table))}")
        table = sum(a.T @ b for a, b in zip(grad_logits, hidden, strict=True))
        grad, gamma = rms_norm_backward(grad_logits @ self.table, cache)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        for place in np.ndindex(ids.shape):
            table[ids[place]] += grad[place]
        self.of_ends = {"token_embedding": table, "norm.gamma": gamma}


def initial_loss(vocabulary_size):
    return -math.log(1 / _count(vocabulary_size, "vocabulary_size"))


def scaled_initialisation(model, depth, rng):
    if depth != len(model.blocks):
        raise ValueError(f"depth: {depth}, expected {len(model.blocks)}")
    drawn = {}
    for name, value in model.params.items():
        part = name.split(".")[-1]
        if part == "token_embedding":
            drawn[name] = rng.normal(size=value.shape) / value.shape[1] ** 0.5
        elif part == "gamma":
            drawn[name] = np.full(value.shape, value.size**-0.5 if name == "norm.gamma" else 1.0)
        else:
            drawn[name] = rng.normal(size=value.shape) / value.shape[0] ** 0.5
            if part in ("output_weights", "down_weights"):
                drawn[name] /= (2 * depth) ** 0.5
    model.params = drawn


def train(model, batches, optimizer, schedule, num_steps, accumulate=1, max_norm=1.0):
    _count(num_steps, "num_steps", 0)
    _count(accumulate, "accumulate")
    if not max_norm > 0:
        raise ValueError(f"max_norm: {max_norm}, expected a number above 0")
    history, state, waiting = {"loss": [], "norm": []}, {}, iter(batches)
    for step in range(num_steps):
        taken = [batch for _, batch in zip(range(accumulate), waiting, strict=False)]
        if len(taken) < accumulate:
            raise ValueError("batches: fewer than num_steps * accumulate")
        total = sum(targets.size for _, targets in taken)
        grads, loss = {}, 0.0
        for ids, targets in taken:
            mean, grad_logits = cross_entropy_loss(model.forward(ids), targets)
            model.backward(grad_logits)
            for name, value in model.grads.items():
                grads[name] = grads.get(name, 0) + value * (targets.size / total)
            loss += float(mean) * targets.size / total
        grads, norm = clip_by_global_norm(grads, max_norm)
        model.params, state = optimizer(model.params, grads, state, learning_rate=schedule(step))
        history["loss"].append(loss)
        history["norm"].append(float(norm))
    return history
