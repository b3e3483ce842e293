"""Blocks in index notation: every projection, score and gradient is one einsum over named axes."""

from math import erf, pi, sqrt

import numpy as np
from numpy import einsum


def _real(value):
    value = np.asarray(value)
    return value if np.issubdtype(value.dtype, np.floating) else value.astype("float64")


def _positive(**sizes):
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"{name} should be a positive integer, is {size!r}")


def _tokens(x, dim, axes=None):
    x = _real(x)
    if x.ndim < 1 or x.shape[-1] != dim or (axes and x.ndim != axes):
        raise ValueError(f"x of shape {x.shape} does not hold tokens of {dim} features")
    return x


def _normal(rng, *shape):
    return rng.standard_normal(shape) / sqrt(shape[0])


def _rows(x):
    return x.reshape(-1, x.shape[-1])


class _Leaf:
    """A layer whose backward gets what forward put into self._last; the first item has the output's shape."""

    _last = None

    def backward(self, grad_output):
        if self._last is None:
            raise RuntimeError("no forward call to go back through")
        grad_output = _real(grad_output)
        if grad_output.shape != self._last[0].shape:
            raise ValueError(f"grad_output should have the shape {self._last[0].shape}, has {grad_output.shape}")
        grad_x, self.grads = self._back(grad_output, *self._last)
        return grad_x


def _softmax(scores, mask):
    """Weights over the last axis; mask is added as 0 or minus infinity."""
    if mask is not None:
        barrier = np.where(mask, 0.0, -np.inf).astype(scores.dtype)
        if np.broadcast_shapes(barrier.shape, scores.shape) != scores.shape:
            raise ValueError(f"a mask of shape {barrier.shape} does not go with {scores.shape}")
        scores = scores + barrier
    floor = np.finfo(scores.dtype).min
    powers = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), floor))
    return powers / np.maximum(powers.sum(-1, keepdims=True), np.finfo(scores.dtype).tiny)


def _through_softmax(grad, weights):
    return weights * grad - einsum("...ij,...ik,...ik->...ij", weights, weights, grad)


class SelfAttention(_Leaf):
    def __init__(self, dim, rng=None):
        _positive(dim=dim)
        rng = rng or np.random.default_rng()
        self.params = {f"{role}_weights": _normal(rng, dim, dim) for role in ("query", "key", "value")}
        self.params.update({f"{role}_bias": np.zeros(dim) for role in ("query", "key", "value")})
        self.grads = {}
        self._dim = dim

    def forward(self, x, mask=None):
        x = _tokens(x, self._dim, 3)
        p = self.params
        q, k, v = (
            einsum("bnd,de->bne", x, p[f"{role}_weights"]) + p[f"{role}_bias"] for role in ("query", "key", "value")
        )
        weights = self.attention_weights = _softmax(einsum("bie,bje->bij", q, k) / sqrt(self._dim), mask)
        self._last = x, p, q, k, v, weights
        return einsum("bij,bje->bie", weights, v)

    def _back(self, grad, x, p, q, k, v, weights):
        grad_scores = _through_softmax(einsum("bie,bje->bij", grad, v), weights) / sqrt(self._dim)
        parts = {
            "query": einsum("bij,bje->bie", grad_scores, k),
            "key": einsum("bij,bie->bje", grad_scores, q),
            "value": einsum("bij,bie->bje", weights, grad),
        }
        grads = {f"{role}_weights": einsum("bnd,bne->de", x, part) for role, part in parts.items()}
        grads.update({f"{role}_bias": einsum("bne->e", part) for role, part in parts.items()})
        return sum(einsum("bne,de->bnd", part, p[f"{role}_weights"]) for role, part in parts.items()), grads


class MultiheadSelfAttention(_Leaf):
    def __init__(self, dim, num_heads, rng=None):
        _positive(dim=dim, num_heads=num_heads)
        if dim % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} should divide dim {dim}")
        rng = rng or np.random.default_rng()
        self.params = {"qkv_weights": _normal(rng, dim, 3 * dim), "output_weights": _normal(rng, dim, dim)}
        self.params.update(qkv_bias=np.zeros(3 * dim), output_bias=np.zeros(dim))
        self.grads = {}
        self._sizes = num_heads, dim // num_heads
        self._dim = dim

    def forward(self, x, mask=None):
        x = _tokens(x, self._dim, 3)
        heads, size = self._sizes
        p = self.params
        table = p["qkv_weights"].reshape(self._dim, 3, heads, size)  # the features' names: role, head, place
        bias = p["qkv_bias"].reshape(3, 1, heads, 1, size)
        out = p["output_weights"].reshape(heads, size, self._dim)
        q, k, v = einsum("bnd,drhs->rbhns", x, table) + bias
        weights = _softmax(einsum("bhis,bhjs->bhij", q, k) / sqrt(size), mask)
        self.attention_weights = weights
        mixed = einsum("bhij,bhjs->bhis", weights, v)
        self._last = x, table, out, q, k, v, weights, mixed
        return einsum("bhis,hsd->bid", mixed, out) + p["output_bias"]

    def _back(self, grad, x, table, out, q, k, v, weights, mixed):
        dim = self._dim
        grad_mixed = einsum("bid,hsd->bhis", grad, out)
        grad_scores = _through_softmax(einsum("bhis,bhjs->bhij", grad_mixed, v), weights) / sqrt(self._sizes[1])
        grad_qkv = np.stack(
            [
                einsum("bhij,bhjs->bhis", grad_scores, k),
                einsum("bhij,bhis->bhjs", grad_scores, q),
                einsum("bhij,bhis->bhjs", weights, grad_mixed),
            ]
        )
        grads = {
            "qkv_weights": einsum("bnd,rbhns->drhs", x, grad_qkv).reshape(dim, 3 * dim),
            "qkv_bias": einsum("rbhns->rhs", grad_qkv).reshape(-1),
            "output_weights": einsum("bhis,bid->hsd", mixed, grad).reshape(dim, dim),
            "output_bias": einsum("bid->d", grad),
        }
        return einsum("rbhns,drhs->bnd", grad_qkv, table), grads


class LayerNorm(_Leaf):
    def __init__(self, dim, eps=1e-5):
        _positive(dim=dim)
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}
        self.grads = {}
        self._dim, self._eps = dim, eps

    def forward(self, x):
        x = _tokens(x, self._dim)
        gamma = self.params["gamma"]
        centred = x - einsum("...d->...", x)[..., None] / self._dim
        inverse = 1 / np.sqrt(einsum("...d,...d->...", centred, centred) / self._dim + self._eps)
        normal = einsum("...d,...->...d", centred, inverse)
        self._last = normal, inverse, gamma
        return normal * gamma + self.params["beta"]

    def _back(self, grad, normal, inverse, gamma):
        inner = grad * gamma
        spread = einsum("...d,...e,...e->...d", normal, inner, normal) / self._dim
        shift = einsum("...d->...", inner)[..., None] / self._dim
        rows, normals = _rows(grad), _rows(normal)
        grads = {"gamma": einsum("nd,nd->d", rows, normals), "beta": einsum("nd->d", rows)}
        return einsum("...d,...->...d", inner - shift - spread, inverse), grads


_below = np.frompyfunc(lambda z: 0.5 * (1.0 + erf(z / sqrt(2.0))), 1, 1)


class MLP(_Leaf):
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        _positive(dim=dim, hidden_dim=hidden_dim)
        if dropout < 0 or dropout >= 1:
            raise ValueError(f"dropout should be at least 0 and less than 1, is {dropout}")
        self._rng = rng or np.random.default_rng()
        self.params = {"W1": _normal(self._rng, dim, hidden_dim), "W2": _normal(self._rng, hidden_dim, dim)}
        self.params.update(b1=np.zeros(hidden_dim), b2=np.zeros(dim))
        self.grads = {}
        self._dim, self._rate = dim, dropout

    def forward(self, x, training=False):
        x = _tokens(x, self._dim)
        p = self.params
        rate = self._rate if training else 0.0
        z = einsum("...d,dh->...h", x, p["W1"]) + p["b1"]
        share = np.asarray(_below(z)).astype(z.dtype)
        scales = [1.0, 1.0]
        if rate:
            shapes = z.shape, x.shape
            scales = [self._rng.binomial(1, 1 - rate, size=s).astype(z.dtype) / (1 - rate) for s in shapes]
        hidden = z * share * scales[0]
        self._last = x, p, z, share, scales, hidden
        return (einsum("...h,hd->...d", hidden, p["W2"]) + p["b2"]) * scales[1]

    def _back(self, grad, x, p, z, share, scales, hidden):
        grad = grad * scales[1]
        grad_z = einsum("...d,hd->...h", grad, p["W2"]) * scales[0] * (share + z * np.exp(-z * z / 2) / sqrt(2 * pi))
        grads = {
            "W1": einsum("nd,nh->dh", _rows(x), _rows(grad_z)),
            "b1": einsum("nh->h", _rows(grad_z)),
            "W2": einsum("nh,nd->hd", _rows(hidden), _rows(grad)),
            "b2": einsum("nd->d", _rows(grad)),
        }
        return einsum("...h,dh->...d", grad_z, p["W1"]), grads


class _Whole:
    @property
    def params(self):
        return {f"{name}.{key}": value for name, part in self._members() for key, value in part.params.items()}

    @property
    def grads(self):
        return {f"{name}.{key}": value for name, part in self._members() for key, value in part.grads.items()}


class _AnyBlock(_Whole):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = rng or np.random.default_rng()
        self.norm1, self.norm2 = LayerNorm(dim), LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def _members(self):
        return [("norm1", self.norm1), ("attention", self.attention), ("norm2", self.norm2), ("mlp", self.mlp)]


class Block(_AnyBlock):
    def forward(self, x, mask=None, training=False):
        x = _real(x)
        middle = x + self.attention.forward(self.norm1.forward(x), mask)
        return middle + self.mlp.forward(self.norm2.forward(middle), training)

    def backward(self, grad_output):
        middle = grad_output + self.norm2.backward(self.mlp.backward(grad_output))
        return middle + self.norm1.backward(self.attention.backward(middle))


class PostNormBlock(_AnyBlock):
    def forward(self, x, mask=None, training=False):
        x = _real(x)
        middle = self.norm1.forward(x + self.attention.forward(x, mask))
        return self.norm2.forward(middle + self.mlp.forward(middle, training))

    def backward(self, grad_output):
        grad = self.norm2.backward(grad_output)
        grad = self.norm1.backward(grad + self.mlp.backward(grad))
        return grad + self.attention.backward(grad)


class Encoder(_Whole):
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        _positive(depth=depth)
        rng = rng or np.random.default_rng()
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    def _members(self):
        return [*((f"blocks.{i}", block) for i, block in enumerate(self.blocks)), ("norm", self.norm)]

    def forward(self, x, mask=None, training=False):
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        grad_output = self.norm.backward(grad_output)
        for block in self.blocks[::-1]:
            grad_output = block.backward(grad_output)
        return grad_output
