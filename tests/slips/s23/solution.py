"""A modern decoder as a learner might write it: plain statements, one after the other."""

import math
import sys

import numpy as np

from stages.s05_optimization.optimizers import clip_by_global_norm
from stages.s18_decoder_and_generation.decoder import cross_entropy_loss

WEIGHTS = ["query_weights", "key_weights", "value_weights", "output_weights"]
PARTS = ["gate_weights", "up_weights", "down_weights"]


def rms_norm_forward(x, gamma, eps=1e-6):
    if gamma.shape != (x.shape[-1],):
        raise ValueError("gamma must have one number for each feature")
    mean_square = np.mean(x * x, axis=-1, keepdims=True)
    rms = np.sqrt(mean_square + eps)
    cache = (x, gamma, rms)
    return x / rms * gamma, cache


def rms_norm_backward(grad_output, cache):
    x, gamma, rms = cache
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of the output")
    x_hat = x / rms
    grad_gamma = np.sum((grad_output * x_hat).reshape(-1, x.shape[-1]), axis=0)
    grad_hat = grad_output * gamma
    inner = np.mean(grad_hat * x_hat, axis=-1, keepdims=True)
    grad_x = grad_hat / rms - x_hat * inner / rms
    return grad_x, grad_gamma


def angles_of(positions, shape, base):
    d = shape[-1]
    positions = np.broadcast_to(np.asarray(positions), shape[:-1])
    frequencies = 1.0 / base ** (np.arange(0, d, 2) / d)
    return positions[..., np.newaxis] * frequencies


def rotary_forward(x, positions, base=10000.0):
    if x.ndim < 2 or x.shape[-1] % 2 != 0:
        raise ValueError("x must be (..., seq, d) with an even d")
    theta = angles_of(positions, x.shape, base)
    cos, sin = np.cos(theta).astype(x.dtype), np.sin(theta).astype(x.dtype)
    even = x[..., 0::2]
    odd = x[..., 1::2]
    rotated = np.zeros_like(x)
    rotated[..., 0::2] = even * cos - odd * sin
    rotated[..., 1::2] = odd * cos + even * sin
    return rotated


def rotary_backward(grad_output, positions, base=10000.0):
    return rotary_forward(grad_output, -1 * np.asarray(positions), base)


def scale_positions(positions, trained_length):
    if int(trained_length) != trained_length or isinstance(trained_length, float) or trained_length < 1:
        raise ValueError("trained_length must be a positive integer")
    needed = np.max(positions) + 1
    factor = trained_length / needed if needed > trained_length else 1.0
    return positions * factor


def is_count(value):
    return isinstance(value, (int, np.integer)) and value >= 1


def grouped_query_attention_forward(Q, K, V, window=None):
    if Q.ndim < 3 or K.ndim != Q.ndim or V.ndim != Q.ndim:
        raise ValueError("Q, K and V need heads, positions and features")
    if Q.shape[:-3] != K.shape[:-3] or K.shape[:-1] != V.shape[:-1] or Q.shape[-1] != K.shape[-1]:
        raise ValueError("the shapes of Q, K and V do not fit")
    heads, seq_q, d = Q.shape[-3:]
    kv_heads, seq_k = K.shape[-3], K.shape[-2]
    if heads % kv_heads != 0 or seq_q > seq_k:
        raise ValueError("kv_heads must divide the heads, and there must be a key for each query")
    if window is not None and not is_count(window):
        raise ValueError("window must be a positive integer")
    group = heads // kv_heads
    K_all = np.repeat(K, group, axis=-3)
    V_all = np.repeat(V, group, axis=-3)
    scores = np.matmul(Q, np.swapaxes(K_all, -2, -1)) / math.sqrt(d)
    query_position = np.arange(seq_q)[:, np.newaxis] + (seq_k - seq_q)
    key_position = np.arange(seq_k)[np.newaxis, :]
    mask = key_position <= query_position
    if window is not None:
        mask = mask & (key_position > query_position - window)
    scores = np.where(mask, scores, -np.inf)
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    P = np.exp(scores)
    P = P / np.sum(P, axis=-1, keepdims=True)
    output = np.matmul(P, V_all)
    return output, (Q, K_all, V_all, P, group)


def sum_groups(grad, group):
    shape = grad.shape[:-3] + (grad.shape[-3] // group, group) + grad.shape[-2:]
    return np.sum(grad.reshape(shape), axis=-3)


def grouped_query_attention_backward(grad_output, cache):
    Q, K_all, V_all, P, group = cache
    if grad_output.shape != Q.shape[:-1] + V_all.shape[-1:]:
        raise ValueError("grad_output must have the shape of the output")
    d = Q.shape[-1]
    grad_V = np.matmul(np.swapaxes(P, -2, -1), grad_output)
    grad_P = np.matmul(grad_output, np.swapaxes(V_all, -2, -1))
    row_sum = np.sum(grad_P * P, axis=-1, keepdims=True)
    grad_S = P * (grad_P - row_sum)
    grad_S = grad_S / math.sqrt(d)
    grad_Q = np.matmul(grad_S, K_all)
    grad_K = np.matmul(np.swapaxes(grad_S, -2, -1), Q)
    return grad_Q, sum_groups(grad_K, group), sum_groups(grad_V, group)


def sigmoid(z):
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1 / (1 + e), e / (1 + e))


def swiglu_forward(x, W_gate, W_up, W_down):
    if x.shape[-1] != W_gate.shape[0] or W_gate.shape != W_up.shape or W_up.shape[1] != W_down.shape[0]:
        raise ValueError("the weights do not fit x")
    a = np.matmul(x, W_gate)
    b = np.matmul(x, W_up)
    s = sigmoid(a)
    silu = a * s
    h = silu * b
    return np.matmul(h, W_down), (x, W_gate, W_up, W_down, a, b, s, silu, h)


def outer_sum(left, right):
    return left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])


def swiglu_backward(grad_output, cache):
    x, W_gate, W_up, W_down, a, b, s, silu, h = cache
    if grad_output.shape != x.shape[:-1] + (W_down.shape[1],):
        raise ValueError("grad_output must have the shape of the output")
    grad_h = np.matmul(grad_output, W_down.T)
    grad_b = grad_h * silu
    grad_silu = grad_h * b
    grad_a = grad_silu * (s + a * s * (1 - s))
    grad_x = np.matmul(grad_a, W_gate.T) + np.matmul(grad_b, W_up.T)
    return grad_x, outer_sum(x, grad_a), outer_sum(x, grad_b), outer_sum(h, grad_output)


class RollingCache:
    def __init__(self, window=None):
        if window is not None and not is_count(window):
            raise ValueError("window must be a positive integer")
        self.window = window
        self.length = 0
        self.keys = None
        self.values = None

    def append(self, keys, values):
        if keys.ndim != 4 or values.ndim != 4 or keys.shape[:3] != values.shape[:3]:
            raise ValueError("keys and values must be (batch, kv_heads, new, features)")
        if self.keys is None:
            all_keys, all_values = keys, values
        else:
            all_keys = np.concatenate([self.keys, keys], axis=2)
            all_values = np.concatenate([self.values, values], axis=2)
        if self.window is None:
            self.keys, self.values = all_keys, all_values
        else:
            self.keys = all_keys[:, :, -self.window :]
            self.values = all_values[:, :, -self.window :]
        self.length += keys.shape[2]
        return all_keys, all_values


def same_params(held, given):
    if set(held) != set(given):
        raise ValueError("params have other names")
    for name in held:
        if held[name].shape != np.shape(given[name]):
            raise ValueError(f"{name} has another shape")


class ModernBlock:
    def __init__(self, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0):
        if not (is_count(dim) and is_count(num_heads) and is_count(num_kv_heads) and is_count(hidden)):
            raise ValueError("sizes must be positive integers")
        if dim % num_heads != 0 or (dim // num_heads) % 2 != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("the heads do not divide")
        if window is not None and not is_count(window):
            raise ValueError("window must be a positive integer")
        if rng is None:
            rng = np.random.default_rng()
        self.dim = dim
        self.head_dim = dim // num_heads
        self.window = window
        self.base = base
        narrow = num_kv_heads * self.head_dim
        p = {}
        for name, width in zip(WEIGHTS, (dim, narrow, narrow, dim), strict=True):
            p["attention." + name] = rng.normal(size=(dim, width)) / math.sqrt(dim)
        p["mlp.gate_weights"] = rng.normal(size=(dim, hidden)) / math.sqrt(dim)
        p["mlp.up_weights"] = rng.normal(size=(dim, hidden)) / math.sqrt(dim)
        p["mlp.down_weights"] = rng.normal(size=(hidden, dim)) / math.sqrt(hidden)
        p["norm1.gamma"] = np.ones(dim)
        p["norm2.gamma"] = np.ones(dim)
        self.p = p
        self.grads = {}
        self.cache = None

    @property
    def params(self):
        return dict(self.p)

    @params.setter
    def params(self, given):
        same_params(self.p, given)
        self.p = dict(given)

    def split(self, x):
        batch, seq, width = x.shape
        x = x.reshape(batch, seq, width // self.head_dim, self.head_dim)
        return x.transpose(0, 2, 1, 3)

    def merge(self, x):
        batch, heads, seq, size = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, seq, heads * size)

    def steps(self, x, rolling):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError("x must be (batch, seq, dim)")
        p = self.p
        start = rolling.length
        positions = np.arange(start, start + x.shape[1])
        n1, cache1 = rms_norm_forward(x, p["norm1.gamma"])
        q = self.split(n1 @ p["attention.query_weights"])
        k = self.split(n1 @ p["attention.key_weights"])
        v = self.split(n1 @ p["attention.value_weights"])
        q = rotary_forward(q, positions, self.base)
        k = rotary_forward(k, positions, self.base)
        keys, values = rolling.append(k, v)
        out, cache_a = grouped_query_attention_forward(q, keys, values, self.window)
        joined = self.merge(out)
        x1 = x + joined @ p["attention.output_weights"]
        n2, cache2 = rms_norm_forward(x1, p["norm2.gamma"])
        m, cache_m = swiglu_forward(n2, p["mlp.gate_weights"], p["mlp.up_weights"], p["mlp.down_weights"])
        return x1 + m, (cache1, n1, cache_a, joined, cache2, cache_m)

    def forward(self, x):
        y, self.cache = self.steps(x, RollingCache(self.window))
        return y

    def forward_with_cache(self, x, cache=None):
        if cache is None:
            cache = RollingCache(self.window)
        y, _ = self.steps(x, cache)
        return y, cache

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("call forward before backward")
        cache1, n1, cache_a, joined, cache2, cache_m = self.cache
        if grad_output.shape != n1.shape:
            raise ValueError("grad_output must have the shape of the output")
        p = self.p
        g = {}
        grad_n2, g["mlp.gate_weights"], g["mlp.up_weights"], g["mlp.down_weights"] = swiglu_backward(
            grad_output, cache_m
        )
        grad_x1, g["norm2.gamma"] = rms_norm_backward(grad_n2, cache2)
        grad_x1 = grad_x1 + grad_output
        g["attention.output_weights"] = outer_sum(joined, grad_x1)
        grad_out = self.split(grad_x1 @ p["attention.output_weights"].T)
        grad_q, grad_k, grad_v = grouped_query_attention_backward(grad_out, cache_a)
        positions = np.arange(n1.shape[1])
        grad_q = self.merge(rotary_backward(grad_q, positions, self.base))
        grad_k = self.merge(rotary_backward(grad_k, positions, self.base))
        grad_v = self.merge(grad_v)
        g["attention.query_weights"] = outer_sum(n1, grad_q)
        g["attention.key_weights"] = outer_sum(n1, grad_k)
        g["attention.value_weights"] = outer_sum(n1, grad_v)
        grad_n1 = grad_q @ p["attention.query_weights"].T
        grad_n1 = grad_n1 + grad_k @ p["attention.key_weights"].T
        grad_n1 = grad_n1 + grad_v @ p["attention.value_weights"].T
        grad_x, g["norm1.gamma"] = rms_norm_backward(grad_n1, cache1)
        self.grads = g
        return grad_x + grad_x1


class ModernGPT:
    def __init__(
        self, vocabulary_size, depth, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0
    ):
        if not is_count(vocabulary_size) or not is_count(depth):
            raise ValueError("vocabulary_size and depth must be positive integers")
        if rng is None:
            rng = np.random.default_rng()
        self.context_length = sys.maxsize
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(ModernBlock(dim, num_heads, num_kv_heads, hidden, rng, window, base))
        self.embedding = rng.normal(size=(vocabulary_size, dim)) / math.sqrt(dim)
        self.gamma = np.ones(dim)
        self.my_grads = {}
        self.cache = None

    @property
    def params(self):
        p = {"token_embedding": self.embedding, "norm.gamma": self.gamma}
        for i, block in enumerate(self.blocks):
            for name, value in block.params.items():
                p[f"blocks.{i}.{name}"] = value
        return p

    @params.setter
    def params(self, given):
        same_params(self.params, given)
        self.embedding = given["token_embedding"]
        self.gamma = given["norm.gamma"]
        for i, block in enumerate(self.blocks):
            block.params = {name: given[f"blocks.{i}.{name}"] for name in block.params}

    @property
    def grads(self):
        g = dict(self.my_grads)
        for i, block in enumerate(self.blocks):
            for name, value in block.grads.items():
                g[f"blocks.{i}.{name}"] = value
        return g

    def check(self, ids):
        if ids.ndim != 2 or ids.shape[1] == 0 or not np.issubdtype(ids.dtype, np.integer):
            raise ValueError("ids must be integers of shape (batch, seq)")
        if np.any(ids < 0) or np.any(ids >= self.embedding.shape[0]):
            raise ValueError("an id is no token")

    def forward(self, ids):
        self.check(ids)
        x = self.embedding[ids]
        for block in self.blocks:
            x = block.forward(x)
        h, cache = rms_norm_forward(x, self.gamma)
        self.cache = (ids.copy(), h, cache)
        return h @ self.embedding.T

    def backward(self, grad_logits):
        if self.cache is None:
            raise RuntimeError("call forward before backward")
        ids, h, cache = self.cache
        if grad_logits.shape != (*ids.shape, self.embedding.shape[0]):
            raise ValueError("grad_logits must have the shape of the logits")
        grad_embedding = outer_sum(grad_logits, h)
        grad_h = grad_logits @ self.embedding
        grad_x, grad_gamma = rms_norm_backward(grad_h, cache)
        for block in self.blocks[::-1]:
            grad_x = block.backward(grad_x)
        np.add.at(grad_embedding, ids, grad_x)
        self.my_grads = {"token_embedding": grad_embedding, "norm.gamma": grad_gamma}

    def forward_with_cache(self, ids, cache=None):
        self.check(ids)
        if cache is None:
            cache = [RollingCache(block.window) for block in self.blocks]
        x = self.embedding[ids]
        for block, rolling in zip(self.blocks, cache, strict=True):
            x, _ = block.forward_with_cache(x, rolling)
        h, _ = rms_norm_forward(x, self.gamma)
        return h @ self.embedding.T, cache


def initial_loss(vocabulary_size):
    if not is_count(vocabulary_size):
        raise ValueError("vocabulary_size must be a positive integer")
    return math.log(vocabulary_size)


def scaled_initialisation(model, depth, rng):
    if depth != len(model.blocks):
        raise ValueError("depth must be that of the model")
    new = {}
    for name, value in model.params.items():
        if name == "norm.gamma":
            new[name] = np.full(value.shape, 1 / math.sqrt(value.shape[0]))
        elif value.ndim == 1:
            new[name] = np.ones(value.shape)
        elif name == "token_embedding":
            new[name] = rng.normal(size=value.shape) / math.sqrt(value.shape[1])
        else:
            std = 1 / math.sqrt(value.shape[0])
            if "output_weights" in name or "down_weights" in name:
                std = std / math.sqrt(2 * depth)
            new[name] = rng.normal(size=value.shape) * std
    model.params = new


def train(model, batches, optimizer, schedule, num_steps, accumulate=1, max_norm=1.0):
    if not isinstance(num_steps, (int, np.integer)) or num_steps < 0 or not is_count(accumulate):
        raise ValueError("num_steps and accumulate must be counts")
    if not max_norm > 0:
        raise ValueError("max_norm must be above 0")
    iterator = iter(batches)
    state = {}
    history = {"loss": [], "norm": []}
    for step in range(num_steps):
        micro = []
        for _ in range(accumulate):
            try:
                micro.append(next(iterator))
            except StopIteration:
                raise ValueError("there are too few batches") from None
        count = sum(targets.size for _, targets in micro)
        total = {}
        loss = 0.0
        for ids, targets in micro:
            weight = targets.size / count
            part, grad_logits = cross_entropy_loss(model.forward(ids), targets)
            model.backward(grad_logits)
            loss += weight * float(part)
            for name, value in model.grads.items():
                if name in total:
                    total[name] = total[name] + weight * value
                else:
                    total[name] = weight * value
        clipped, norm = clip_by_global_norm(total, max_norm)
        rate = schedule(step)
        params, state = optimizer(model.params, clipped, state, learning_rate=rate)
        model.params = params
        history["loss"].append(loss)
        history["norm"].append(float(norm))
    return history
