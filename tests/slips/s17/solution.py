"""Transformer blocks, written from the README and the stubs of their stage alone; what the slips beside it edit."""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def _check_input(x, dim, axes=None):
    x = np.asarray(x)
    if x.ndim == 0 or x.shape[-1] != dim or (axes is not None and x.ndim != axes):
        raise ValueError(f"x: shape {x.shape}, expected {dim} features on the last axis")
    return x


def _check_grad(grad_output, shape):
    grad_output = np.asarray(grad_output)
    if shape is None:
        raise RuntimeError("backward: forward has not been called")
    if grad_output.shape != shape:
        raise ValueError(f"grad_output: shape {grad_output.shape}, expected {shape}")
    return grad_output


def _softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)


def _attend(q, k, v, mask):
    """Return the output and the weights of scaled dot-product attention over the last two axes."""
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask).astype(bool), scores.shape)
        scores = np.where(mask, scores, -np.inf)
    weights = _softmax(scores)
    return weights @ v, weights


def _attend_backward(grad, q, k, v, weights):
    grad_v = np.swapaxes(weights, -1, -2) @ grad
    grad_weights = grad @ np.swapaxes(v, -1, -2)
    inner = np.sum(grad_weights * weights, axis=-1, keepdims=True)
    grad_scores = weights * (grad_weights - inner) / math.sqrt(q.shape[-1])
    grad_q = grad_scores @ k
    grad_k = np.swapaxes(grad_scores, -1, -2) @ q
    return grad_q, grad_k, grad_v


def _linear_grads(x, grad):
    """Return the gradients of W and b of x W + b, summed over all tokens."""
    flat = grad.reshape(-1, grad.shape[-1])
    return x.reshape(-1, x.shape[-1]).T @ flat, flat.sum(axis=0)


class SelfAttention:
    def __init__(self, dim, rng=None):
        rng = rng or np.random.default_rng()
        self.dim = dim
        self.params = {}
        for part in ("query", "key", "value"):
            self.params[part + "_weights"] = rng.normal(0, 1 / math.sqrt(dim), (dim, dim))
            self.params[part + "_bias"] = np.zeros(dim)
        self.grads = {}
        self._shape = None

    def forward(self, x, mask=None):
        x = _check_input(x, self.dim, 3)
        p = self.params
        q = x @ p["query_weights"] + p["query_bias"]
        k = x @ p["key_weights"] + p["key_bias"]
        v = x @ p["value_weights"] + p["value_bias"]
        output, self.attention_weights = _attend(q, k, v, mask)
        self._saved = x, q, k, v, dict(p)
        self._shape = output.shape
        return output

    def backward(self, grad_output):
        grad_output = _check_grad(grad_output, self._shape)
        x, q, k, v, p = self._saved
        grad_q, grad_k, grad_v = _attend_backward(grad_output, q, k, v, self.attention_weights)
        self.grads = {}
        grad_x = np.zeros_like(grad_q)
        for part, grad in (("query", grad_q), ("key", grad_k), ("value", grad_v)):
            self.grads[part + "_weights"], self.grads[part + "_bias"] = _linear_grads(x, grad)
            grad_x = grad_x + grad @ p[part + "_weights"].T
        return grad_x


class MultiheadSelfAttention:
    def __init__(self, dim, num_heads, rng=None):
        if dim < 1 or num_heads < 1 or dim % num_heads != 0:
            raise ValueError(f"dim {dim} and num_heads {num_heads}: expected a positive divisor")
        rng = rng or np.random.default_rng()
        self.dim, self.num_heads, self.head_dim = dim, num_heads, dim // num_heads
        deviation = 1 / math.sqrt(dim)
        self.params = {
            "qkv_weights": rng.normal(0, deviation, (dim, 3 * dim)),
            "qkv_bias": np.zeros(3 * dim),
            "output_weights": rng.normal(0, deviation, (dim, dim)),
            "output_bias": np.zeros(dim),
        }
        self.grads = {}
        self._shape = None

    def forward(self, x, mask=None):
        x = _check_input(x, self.dim, 3)
        batch, seq, dim = x.shape
        p = dict(self.params)
        qkv = x @ p["qkv_weights"] + p["qkv_bias"]
        qkv = qkv.reshape(batch, seq, 3, self.num_heads, self.head_dim).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        heads, self.attention_weights = _attend(q, k, v, mask)
        joined = heads.transpose(0, 2, 1, 3).reshape(batch, seq, dim)
        output = joined @ p["output_weights"] + p["output_bias"]
        self._saved = x, q, k, v, joined, p
        self._shape = output.shape
        return output

    def backward(self, grad_output):
        grad_output = _check_grad(grad_output, self._shape)
        x, q, k, v, joined, p = self._saved
        batch, seq, dim = x.shape
        grad_joined = grad_output @ p["output_weights"].T
        grad_heads = grad_joined.reshape(batch, seq, self.num_heads, self.head_dim).transpose(0, 2, 1, 3)
        grads = _attend_backward(grad_heads, q, k, v, self.attention_weights)
        grad_qkv = np.stack(grads).transpose(1, 3, 0, 2, 4).reshape(batch, seq, 3 * dim)
        self.grads = {}
        self.grads["output_weights"], self.grads["output_bias"] = _linear_grads(joined, grad_output)
        self.grads["qkv_weights"], self.grads["qkv_bias"] = _linear_grads(x, grad_qkv)
        return grad_qkv @ p["qkv_weights"].T


class LayerNorm:
    def __init__(self, dim, eps=1e-5):
        self.dim, self.eps = dim, eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}
        self.grads = {}
        self._shape = None

    def forward(self, x):
        x = _check_input(x, self.dim)
        mu = x.mean(axis=-1, keepdims=True)
        centred = x - mu
        variance = np.mean(centred**2, axis=-1, keepdims=True)
        self._sigma = np.sqrt(variance + self.eps)
        self._z = centred / self._sigma
        self._gamma = self.params["gamma"]
        self._shape = x.shape
        return self._gamma * self._z + self.params["beta"]

    def backward(self, grad_output):
        grad_output = _check_grad(grad_output, self._shape)
        z, sigma = self._z, self._sigma
        self.grads = {
            "gamma": (grad_output * z).reshape(-1, self.dim).sum(axis=0),
            "beta": grad_output.reshape(-1, self.dim).sum(axis=0),
        }
        g = grad_output * self._gamma
        mean_g = g.mean(axis=-1, keepdims=True)
        mean_gz = (g * z).mean(axis=-1, keepdims=True)
        return (g - mean_g - z * mean_gz) / sigma


def _phi(x):
    return (0.5 * (1 + erf(x / math.sqrt(2)))).astype(x.dtype)


def _gelu(x):
    return x * _phi(x)


def _gelu_slope(x):
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return _phi(x) + x * density


class MLP:
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: {dropout}, expected at least 0 and below 1")
        self.rng = rng or np.random.default_rng()
        self.dim, self.dropout = dim, dropout
        self.params = {
            "W1": self.rng.normal(0, 1 / math.sqrt(dim), (dim, hidden_dim)),
            "b1": np.zeros(hidden_dim),
            "W2": self.rng.normal(0, 1 / math.sqrt(hidden_dim), (hidden_dim, dim)),
            "b2": np.zeros(dim),
        }
        self.grads = {}
        self._shape = None

    def _draw(self, like, training):
        if not training or self.dropout == 0:
            return np.ones_like(like)
        kept = self.rng.random(like.shape) >= self.dropout
        return kept.astype(like.dtype) / (1 - self.dropout)

    def forward(self, x, training=False):
        x = _check_input(x, self.dim)
        p = dict(self.params)
        before = x @ p["W1"] + p["b1"]
        hidden = _gelu(before)
        mask1 = self._draw(hidden, training)
        hidden = hidden * mask1
        output = hidden @ p["W2"] + p["b2"]
        mask2 = self._draw(output, training)
        self._saved = x, before, hidden, mask1, mask2, p
        self._shape = output.shape
        return output * mask2

    def backward(self, grad_output):
        grad_output = _check_grad(grad_output, self._shape)
        x, before, hidden, mask1, mask2, p = self._saved
        grad = grad_output * mask2
        self.grads = {}
        self.grads["W2"], self.grads["b2"] = _linear_grads(hidden, grad)
        grad_hidden = grad @ p["W2"].T * mask1
        grad_before = grad_hidden * _gelu_slope(before)
        self.grads["W1"], self.grads["b1"] = _linear_grads(x, grad_before)
        return grad_before @ p["W1"].T


def _collected(owner, names, attribute):
    return {f"{name}.{key}": value for name in names for key, value in getattr(getattr(owner, name), attribute).items()}


PARTS = ("norm1", "attention", "norm2", "mlp")


class Block:
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = rng or np.random.default_rng()
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def forward(self, x, mask=None, training=False):
        h = x + self.attention.forward(self.norm1.forward(x), mask)
        return h + self.mlp.forward(self.norm2.forward(h), training)

    def backward(self, grad_output):
        grad_h = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
        return grad_h + self.norm1.backward(self.attention.backward(grad_h))

    @property
    def params(self):
        return _collected(self, PARTS, "params")

    @property
    def grads(self):
        return _collected(self, PARTS, "grads")


class PostNormBlock:
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = rng or np.random.default_rng()
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def forward(self, x, mask=None, training=False):
        mixed = self.norm1.forward(x + self.attention.forward(x, mask))
        return self.norm2.forward(mixed + self.mlp.forward(mixed, training))

    def backward(self, grad_output):
        grad_sum2 = self.norm2.backward(grad_output)
        grad_mixed = grad_sum2 + self.mlp.backward(grad_sum2)
        grad_sum1 = self.norm1.backward(grad_mixed)
        return grad_sum1 + self.attention.backward(grad_sum1)

    @property
    def params(self):
        return _collected(self, PARTS, "params")

    @property
    def grads(self):
        return _collected(self, PARTS, "grads")


class Encoder:
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        if depth < 1:
            raise ValueError(f"depth: {depth}, expected 1 or more")
        rng = rng or np.random.default_rng()
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    def forward(self, x, mask=None, training=False):
        stream = x
        for block in self.blocks:
            stream = block.forward(stream, mask, training)
        return self.norm.forward(stream)

    def backward(self, grad_output):
        grad = self.norm.backward(grad_output)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        return grad

    def _gather(self, attribute):
        found = {}
        for number, block in enumerate(self.blocks):
            for key, value in getattr(block, attribute).items():
                found[f"blocks.{number}.{key}"] = value
        for key, value in getattr(self.norm, attribute).items():
            found[f"norm.{key}"] = value
        return found

    @property
    def params(self):
        return self._gather("params")

    @property
    def grads(self):
        return self._gather("grads")
