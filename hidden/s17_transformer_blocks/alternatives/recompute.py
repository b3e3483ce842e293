"""Blocks that remember only their input, with GELU by tanh: backward computes the forward pass once more."""

import math

import numpy as np


def _floating(x):
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.double)


def _insist(condition, complaint):
    if not condition:
        raise ValueError(complaint)


def _whole(number):
    return isinstance(number, (int, np.integer)) and number > 0


def _weights(rng, rows, columns):
    return rng.standard_normal(size=(rows, columns)) * (1 / rows) ** 0.5


def _attention(q, k, v, mask):
    """The weights and their average of the values; the weights of one query over its keys sum to 1, or are all 0."""
    scores = q @ np.moveaxis(k, -1, -2) * (1 / math.sqrt(q.shape[-1]))
    allowed = np.ones(1, dtype=bool) if mask is None else np.asarray(mask).astype(bool)
    _insist(
        allowed.ndim <= scores.ndim
        and all(a in (1, s) for a, s in zip(allowed.shape[::-1], scores.shape[::-1], strict=False)),
        f"mask: {allowed.shape} cannot be broadcast to {scores.shape}",
    )
    tops = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=np.finfo(scores.dtype).min)
    powers = np.exp(np.minimum(scores - tops, 0)) * allowed
    totals = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, totals, out=np.zeros_like(powers), where=totals != 0)
    return weights, weights @ v


def _attention_gradients(grad, q, k, v, weights):
    grad_weights = grad @ np.moveaxis(v, -1, -2)
    grad_scores = weights * (grad_weights - np.sum(weights * grad_weights, axis=-1, keepdims=True))
    grad_scores *= 1 / math.sqrt(q.shape[-1])
    return grad_scores @ k, np.moveaxis(grad_scores, -1, -2) @ q, np.moveaxis(weights, -1, -2) @ grad


def _rows(x):
    return x.reshape(-1, x.shape[-1])


def _affine_gradients(x, grad):
    return _rows(x).T @ _rows(grad), _rows(grad).sum(axis=0)


class _Layer:
    """Keeps the last forward call's arguments and hands them, with the gradient, to self._gradients."""

    def __init__(self, dim):
        _insist(_whole(dim), f"dim: {dim} is not a positive integer")
        self.dim = dim
        self.grads = {}
        self._call = None

    def _arguments(self, grad_output):
        if self._call is None:
            raise RuntimeError("there is no forward call to compute again")
        grad_output = _floating(grad_output)
        x = self._call[0]
        _insist(grad_output.shape == x.shape, f"grad_output: {grad_output.shape} is not the shape {x.shape}")
        return grad_output, *self._call

    def backward(self, grad_output):
        grad_x, self.grads = self._gradients(*self._arguments(grad_output))
        return grad_x

    def _accept(self, x, sequences):
        x = _floating(x)
        fits = x.ndim == 3 if sequences else x.ndim > 0
        _insist(fits and x.shape[-1] == self.dim, f"x: {x.shape} does not fit {self.dim} features")
        return x.copy()


class SelfAttention(_Layer):
    def __init__(self, dim, rng=None):
        super().__init__(dim)
        rng = np.random.default_rng(rng)
        self.params = {}
        for role in ("query", "key", "value"):
            self.params |= {f"{role}_weights": _weights(rng, dim, dim), f"{role}_bias": np.zeros(dim)}

    def forward(self, x, mask=None):
        x, params = self._accept(x, True), dict(self.params)
        self.attention_weights, output = _attention(*self._project(x, params), mask)
        self._call = x, params, mask
        return output

    def _project(self, x, params):
        return [x @ params[f"{role}_weights"] + params[f"{role}_bias"] for role in ("query", "key", "value")]

    def _gradients(self, grad, x, params, mask):
        q, k, v = self._project(x, params)
        weights, _ = _attention(q, k, v, mask)
        grads, grad_x = {}, np.zeros_like(x)
        found = _attention_gradients(grad, q, k, v, weights)
        for role, part in zip(("query", "key", "value"), found, strict=True):
            grads[f"{role}_weights"], grads[f"{role}_bias"] = _affine_gradients(x, part)
            grad_x += part @ params[f"{role}_weights"].T
        return grad_x, grads


class MultiheadSelfAttention(_Layer):
    def __init__(self, dim, num_heads, rng=None):
        super().__init__(dim)
        _insist(_whole(num_heads) and dim % num_heads == 0, f"num_heads: {num_heads} heads do not divide {dim}")
        rng = np.random.default_rng(rng)
        self.num_heads = num_heads
        self.params = {
            "qkv_weights": _weights(rng, dim, 3 * dim),
            "qkv_bias": np.zeros(3 * dim),
            "output_weights": _weights(rng, dim, dim),
            "output_bias": np.zeros(dim),
        }

    def forward(self, x, mask=None):
        x, params = self._accept(x, True), dict(self.params)
        self.attention_weights, heads = _attention(*self._project(x, params), mask)
        self._call = x, params, mask
        return self._join(heads) @ params["output_weights"] + params["output_bias"]

    def _split(self, part):
        return np.stack(np.split(part, self.num_heads, axis=-1), axis=1)

    def _join(self, heads):
        return np.concatenate([heads[:, head] for head in range(self.num_heads)], axis=-1)

    def _project(self, x, params):
        together = x @ params["qkv_weights"] + params["qkv_bias"]
        return [self._split(part) for part in np.split(together, 3, axis=-1)]

    def _gradients(self, grad, x, params, mask):
        q, k, v = self._project(x, params)
        weights, heads = _attention(q, k, v, mask)
        grads = {}
        grads["output_weights"], grads["output_bias"] = _affine_gradients(self._join(heads), grad)
        parts = _attention_gradients(self._split(grad @ params["output_weights"].T), q, k, v, weights)
        together = np.concatenate([self._join(part) for part in parts], axis=-1)
        grads["qkv_weights"], grads["qkv_bias"] = _affine_gradients(x, together)
        return together @ params["qkv_weights"].T, grads


class LayerNorm(_Layer):
    def __init__(self, dim, eps=1e-5):
        super().__init__(dim)
        self.eps = eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}

    def _normal(self, x):
        deviation = np.sqrt(np.var(x, axis=-1, keepdims=True) + self.eps)
        return (x - np.mean(x, axis=-1, keepdims=True)) / deviation, deviation

    def forward(self, x):
        x = self._accept(x, False)
        self._call = x, self.params["gamma"]
        return self.params["gamma"] * self._normal(x)[0] + self.params["beta"]

    def _gradients(self, grad, x, gamma):
        normal, deviation = self._normal(x)
        inner = gamma * grad
        away = inner.mean(-1, keepdims=True) + normal * (inner * normal).mean(-1, keepdims=True)
        return (inner - away) / deviation, {"gamma": _rows(grad * normal).sum(0), "beta": _rows(grad).sum(0)}


class MLP(_Layer):
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        super().__init__(dim)
        _insist(_whole(hidden_dim), f"hidden_dim: {hidden_dim} is not a positive integer")
        _insist(0 <= dropout < 1, f"dropout: {dropout} is not at least 0 and below 1")
        self.dropout = dropout
        self._rng = np.random.default_rng(rng)
        self.params = {"W1": _weights(self._rng, dim, hidden_dim), "b1": np.zeros(hidden_dim)}
        self.params |= {"W2": _weights(self._rng, hidden_dim, dim), "b2": np.zeros(dim)}

    def forward(self, x, training=False):
        x, params = self._accept(x, False), dict(self.params)
        rate = self.dropout if training else 0.0
        seed = int(self._rng.integers(2**62)) if rate else 0  # all that is kept of the masks
        self._call = x, params, rate, seed
        hidden, _, (_, outer) = self._hidden(x, params, rate, seed)
        return (hidden @ params["W2"] + params["b2"]) * outer

    def _hidden(self, x, params, rate, seed):
        before = x @ params["W1"] + params["b1"]
        masks = 1.0, 1.0
        if rate > 0:
            own = np.random.default_rng(seed)
            draws = own.random(before.shape), own.random(x.shape)
            masks = tuple(np.where(draw < rate, 0, 1 / (1 - rate)).astype(x.dtype) for draw in draws)
        root = math.sqrt(2 / math.pi)
        bend = np.tanh(root * (before + 0.044715 * before**3))
        share = (1 + bend) / 2
        slope = share + before * (1 - bend**2) / 2 * root * (1 + 3 * 0.044715 * before**2)
        return before * share * masks[0], slope * masks[0], masks

    def _gradients(self, grad, x, params, rate, seed):
        hidden, slope, (_, outer) = self._hidden(x, params, rate, seed)
        grads, grad = {}, grad * outer
        grads["W2"], grads["b2"] = _affine_gradients(hidden, grad)
        grad = (grad @ params["W2"].T) * slope
        grads["W1"], grads["b1"] = _affine_gradients(x, grad)
        return grad @ params["W1"].T, grads


class Block:
    """Between forward and backward the layers inside hold their inputs, and nothing that follows from them."""

    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = np.random.default_rng(rng)
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    @property
    def params(self):
        return _dotted({name: getattr(self, name).params for name in ("norm1", "attention", "norm2", "mlp")})

    @property
    def grads(self):
        return _dotted({name: getattr(self, name).grads for name in ("norm1", "attention", "norm2", "mlp")})

    def forward(self, x, mask=None, training=False):
        for update in (
            lambda x: self.attention.forward(self.norm1.forward(x), mask),
            lambda x: self.mlp.forward(self.norm2.forward(x), training),
        ):
            x = x + update(x)
        return x

    def backward(self, grad_output):
        for norm, inner in ((self.norm2, self.mlp), (self.norm1, self.attention)):
            grad_output = grad_output + norm.backward(inner.backward(grad_output))
        return grad_output


class PostNormBlock(Block):
    def forward(self, x, mask=None, training=False):
        x = self.norm1.forward(x + self.attention.forward(x, mask))
        return self.norm2.forward(x + self.mlp.forward(x, training))

    def backward(self, grad_output):
        for norm, inner in ((self.norm2, self.mlp), (self.norm1, self.attention)):
            grad = norm.backward(grad_output)
            grad_output = grad + inner.backward(grad)
        return grad_output


class Encoder:
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        _insist(_whole(depth), f"depth: {depth} is not a positive integer")
        rng = np.random.default_rng(rng)
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    @property
    def params(self):
        return _dotted({**{f"blocks.{i}": b.params for i, b in enumerate(self.blocks)}, "norm": self.norm.params})

    @property
    def grads(self):
        return _dotted({**{f"blocks.{i}": b.grads for i, b in enumerate(self.blocks)}, "norm": self.norm.grads})

    def forward(self, x, mask=None, training=False):
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        grad = self.norm.backward(grad_output)
        for i in range(1, len(self.blocks) + 1):
            grad = self.blocks[-i].backward(grad)
        return grad


def _dotted(tables):
    return {f"{name}.{key}": value for name, table in tables.items() for key, value in table.items()}
