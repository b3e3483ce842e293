"""Blocks that keep tokens as columns and work in place on their own arrays; what they return are transposed views."""

import math

import numpy as np


def _columns(x, dim, sequences=False):
    """x with its features first and its positions in one row, in an array of our own."""
    x = np.asarray(x)
    if x.ndim == 0 or x.shape[-1] != dim or (sequences and x.ndim != 3):
        raise ValueError(f"shape {x.shape}: expected {'(batch, seq' if sequences else '(...'}, {dim})")
    return np.array(x.reshape(-1, dim).T, dtype=np.result_type(x.dtype, np.float32) if x.dtype.kind == "f" else float)


def _gradient_columns(grad_output, shape):
    if shape is None:
        raise RuntimeError("backward before forward")
    if np.shape(grad_output) != shape:
        raise ValueError(f"shape {np.shape(grad_output)}: expected that of the output, {shape}")
    return _columns(grad_output, shape[-1])


def _sizes(**sizes):
    for name, size in sizes.items():
        if int(size) != size or size <= 0:
            raise ValueError(f"{name}: expected a positive integer, got {size}")


def _matrix(rng, inputs, outputs):
    matrix = rng.standard_normal((outputs, inputs)).T
    matrix /= math.sqrt(inputs)
    return matrix


class _Attention:
    """The middle of both layers: features (3, heads, size, batch, seq) in, (heads, size, batch, seq) out."""

    _shape = None

    def _mix(self, qkv, mask):
        query, key, value = (part.transpose(2, 0, 3, 1) for part in qkv)  # (batch, heads, seq, size)
        weights = np.matmul(query, key.swapaxes(2, 3))
        weights /= math.sqrt(query.shape[3])
        if mask is not None:
            view = weights if self._heads else weights[:, 0]
            hidden = np.broadcast_to(np.logical_not(mask), view.shape)
            view[hidden] = -np.inf
        top = weights.max(axis=3, keepdims=True)
        top[np.isneginf(top)] = 0
        weights -= top
        np.exp(weights, out=weights)
        total = weights.sum(axis=3, keepdims=True)
        total[total == 0] = 1
        weights /= total
        self.attention_weights = weights if self._heads else weights[:, 0]
        return np.matmul(weights, value).transpose(1, 3, 0, 2), weights

    @staticmethod
    def _unmix(grad, qkv, weights):
        """Gradients of the features, written over the features themselves."""
        query, key, value = (part.transpose(2, 0, 3, 1) for part in qkv)
        grad = grad.transpose(2, 0, 3, 1)
        scores = np.matmul(grad, value.swapaxes(2, 3))
        scores *= weights
        scores -= weights * scores.sum(axis=3, keepdims=True)
        scores /= math.sqrt(query.shape[3])
        value[...] = np.matmul(weights.swapaxes(2, 3), grad)
        old_query = query.copy()
        query[...] = np.matmul(scores, key)
        key[...] = np.matmul(scores.swapaxes(2, 3), old_query)
        return qkv


class SelfAttention(_Attention):
    _heads = None

    def __init__(self, dim, rng=None):
        _sizes(dim=dim)
        rng = np.random.default_rng() if rng is None else rng
        self._dim = dim
        self.params = {}
        self.grads = {}
        for name in ("query", "key", "value"):
            self.params[f"{name}_weights"] = _matrix(rng, dim, dim)
            self.params[f"{name}_bias"] = np.zeros(dim)

    def _stacked(self, what):
        return np.concatenate([self.params[f"{name}_{what}"] for name in ("query", "key", "value")], axis=-1)

    def forward(self, x, mask=None):
        shape = np.shape(x)
        self._x = _columns(x, self._dim, sequences=True)
        self._matrix = self._stacked("weights")
        features = np.matmul(self._matrix.T, self._x)
        features += self._stacked("bias")[:, None]
        self._qkv = features.reshape(3, 1, self._dim, *shape[:2])
        mixed, self._weights = self._mix(self._qkv, mask)
        self._shape = shape
        return mixed[0].transpose(1, 2, 0)

    def backward(self, grad_output):
        grad = _gradient_columns(grad_output, self._shape).reshape(1, self._dim, *self._shape[:2])
        features = self._unmix(grad, self._qkv.copy(), self._weights).reshape(3 * self._dim, -1)
        tables = np.split(np.matmul(self._x, features.T), 3, axis=1)
        sums = np.split(features.sum(axis=1), 3)
        self.grads = {}
        for name, table, total in zip(("query", "key", "value"), tables, sums, strict=True):
            self.grads[f"{name}_weights"], self.grads[f"{name}_bias"] = table, total
        return np.matmul(self._matrix, features).T.reshape(self._shape)


class MultiheadSelfAttention(_Attention):
    def __init__(self, dim, num_heads, rng=None):
        _sizes(dim=dim, num_heads=num_heads)
        if dim // num_heads * num_heads != dim:
            raise ValueError(f"{dim} features: expected a multiple of {num_heads} heads")
        rng = np.random.default_rng() if rng is None else rng
        self._dim, self._heads = dim, num_heads
        self.params = {
            "qkv_weights": _matrix(rng, dim, 3 * dim),
            "qkv_bias": np.zeros(3 * dim),
            "output_weights": _matrix(rng, dim, dim),
            "output_bias": np.zeros(dim),
        }
        self.grads = {}

    def forward(self, x, mask=None):
        shape = np.shape(x)
        self._x = _columns(x, self._dim, sequences=True)
        self._used = self.params
        features = np.matmul(self._used["qkv_weights"].T, self._x)
        features += self._used["qkv_bias"][:, None]
        self._qkv = features.reshape(3, self._heads, -1, *shape[:2])
        mixed, self._weights = self._mix(self._qkv, mask)
        self._joined = mixed.reshape(self._dim, -1)
        output = np.matmul(self._used["output_weights"].T, self._joined)
        output += self._used["output_bias"][:, None]
        self._shape = shape
        return output.T.reshape(shape)

    def backward(self, grad_output):
        grad = _gradient_columns(grad_output, self._shape)
        joined = np.matmul(self._used["output_weights"], grad).reshape(self._heads, -1, *self._shape[:2])
        features = self._unmix(joined, self._qkv.copy(), self._weights).reshape(3 * self._dim, -1)
        self.grads = {
            "qkv_weights": np.matmul(features, self._x.T).T,
            "qkv_bias": features.sum(axis=1),
            "output_weights": np.matmul(grad, self._joined.T).T,
            "output_bias": grad.sum(axis=1),
        }
        return np.matmul(self._used["qkv_weights"], features).T.reshape(self._shape)


class LayerNorm:
    _shape = None

    def __init__(self, dim, eps=1e-5):
        _sizes(dim=dim)
        self._dim, self._eps = dim, eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}
        self.grads = {}

    def forward(self, x):
        shape = np.shape(x)
        x = _columns(x, self._dim)
        x -= x.mean(axis=0)
        self._scale = np.square(x).mean(axis=0)
        self._scale += self._eps
        np.sqrt(self._scale, out=self._scale)
        np.reciprocal(self._scale, out=self._scale)
        x *= self._scale
        self._normal, self._gamma, self._shape = x, self.params["gamma"][:, None], shape
        output = x * self._gamma
        output += self.params["beta"][:, None]
        return output.T.reshape(shape)

    def backward(self, grad_output):
        grad = _gradient_columns(grad_output, self._shape)
        self.grads = {"gamma": (grad * self._normal).sum(axis=1), "beta": grad.sum(axis=1)}
        grad *= self._gamma
        grad -= grad.mean(axis=0)
        grad -= (grad * self._normal).mean(axis=0) * self._normal
        grad *= self._scale
        return grad.T.reshape(self._shape)


class MLP:
    _shape = None

    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        _sizes(dim=dim, hidden_dim=hidden_dim)
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout {dropout}: expected 0 <= dropout < 1")
        self._rng = np.random.default_rng() if rng is None else rng
        self._dim, self._rate = dim, dropout
        self.params = {
            "W1": _matrix(self._rng, dim, hidden_dim),
            "b1": np.zeros(hidden_dim),
            "W2": _matrix(self._rng, hidden_dim, dim),
            "b2": np.zeros(dim),
        }
        self.grads = {}

    def _drop(self, x, training):
        """Drop in place; return what was dropped and by how much the rest grew."""
        if not training or not self._rate:
            return np.zeros(x.shape, bool), 1.0
        dropped, growth = self._rng.random(x.shape) < self._rate, 1 / (1 - self._rate)
        x *= growth
        x[dropped] = 0
        return dropped, growth

    def forward(self, x, training=False):
        shape = np.shape(x)
        self._x, p = _columns(x, self._dim), self.params
        z = np.matmul(p["W1"].T, self._x)
        z += p["b1"][:, None]
        share = np.fromiter(map(math.erf, (z.ravel() * math.sqrt(0.5)).tolist()), z.dtype, z.size).reshape(z.shape)
        share += 1
        share *= 0.5
        hidden = z * share
        self._slope = np.exp(z * z * -0.5)
        self._slope *= z
        self._slope /= math.sqrt(2 * math.pi)
        self._slope += share
        inner = self._drop(hidden, training)
        output = np.matmul(p["W2"].T, hidden)
        output += p["b2"][:, None]
        outer = self._drop(output, training)
        self._drops, self._hidden, self._used, self._shape = (inner, outer), hidden, p, shape
        return output.T.reshape(shape)

    def backward(self, grad_output):
        grad = _gradient_columns(grad_output, self._shape)
        (inner, inner_growth), (outer, outer_growth) = self._drops
        grad *= outer_growth
        grad[outer] = 0
        back = np.matmul(self._used["W2"], grad)
        back *= inner_growth
        back[inner] = 0
        back *= self._slope
        self.grads = {
            "W1": np.matmul(back, self._x.T).T,
            "b1": back.sum(axis=1),
            "W2": np.matmul(grad, self._hidden.T).T,
            "b2": grad.sum(axis=1),
        }
        return np.matmul(self._used["W1"], back).T.reshape(self._shape)


class Block:
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.norm1, self.norm2 = LayerNorm(dim), LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def _tables(self, which):
        for name in ("norm1", "attention", "norm2", "mlp"):
            for key, value in getattr(getattr(self, name), which).items():
                yield f"{name}.{key}", value

    params = property(lambda self: dict(self._tables("params")))
    grads = property(lambda self: dict(self._tables("grads")))

    def forward(self, x, mask=None, training=False):
        output = self.attention.forward(self.norm1.forward(x), mask)
        output += x
        change = self.mlp.forward(self.norm2.forward(output), training)
        change += output
        return change

    def backward(self, grad_output):
        grad = self.norm2.backward(self.mlp.backward(grad_output))
        grad += grad_output
        change = self.norm1.backward(self.attention.backward(grad))
        change += grad
        return change


class PostNormBlock(Block):
    def forward(self, x, mask=None, training=False):
        output = self.attention.forward(x, mask)
        output += x
        output = self.norm1.forward(output)
        change = self.mlp.forward(output, training)
        change += output
        return self.norm2.forward(change)

    def backward(self, grad_output):
        grad = self.norm2.backward(grad_output)
        grad += self.mlp.backward(grad)
        grad = self.norm1.backward(grad)
        grad += self.attention.backward(grad)
        return grad


class Encoder:
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        _sizes(depth=depth)
        rng = np.random.default_rng() if rng is None else rng
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    def _tables(self, which):
        for index, block in enumerate(self.blocks):
            for key, value in getattr(block, which).items():
                yield f"blocks.{index}.{key}", value
        for key, value in getattr(self.norm, which).items():
            yield f"norm.{key}", value

    params = property(lambda self: dict(self._tables("params")))
    grads = property(lambda self: dict(self._tables("grads")))

    def forward(self, x, mask=None, training=False):
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        grad = self.norm.backward(grad_output)
        for block in self.blocks[::-1]:
            grad = block.backward(grad)
        return grad
