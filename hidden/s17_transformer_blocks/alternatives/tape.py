"""Blocks without a derivative written for any of them: forward records a graph, backward walks back through it."""

import math

import numpy as np


class _Node:
    """A value and how the gradient of a loss comes from here to each of its parents."""

    def __init__(self, value, *parents):
        self.value = value
        self.parents = parents

    def __add__(self, other):
        return _Node(
            self.value + other.value,
            (self, lambda grad: _fold(grad, self.value.shape)),
            (other, lambda grad: _fold(grad, other.value.shape)),
        )

    def __mul__(self, other):
        if not isinstance(other, _Node):
            return _Node(self.value * other, (self, lambda grad: grad * other))
        return _Node(
            self.value * other.value,
            (self, lambda grad: _fold(grad * other.value, self.value.shape)),
            (other, lambda grad: _fold(grad * self.value, other.value.shape)),
        )

    def __sub__(self, other):
        return self + other * -1.0

    def __matmul__(self, other):
        return _Node(
            self.value @ other.value,
            (self, lambda grad: _fold(grad @ other.value.swapaxes(-1, -2), self.value.shape)),
            (other, lambda grad: _fold(self.value.swapaxes(-1, -2) @ grad, other.value.shape)),
        )

    def __getitem__(self, index):
        def spread(grad):
            whole = np.zeros_like(self.value)
            whole[index] = grad
            return whole

        return _Node(self.value[index], (self, spread))

    def reshape(self, *shape):
        return _Node(self.value.reshape(shape), (self, lambda grad: grad.reshape(self.value.shape)))

    def transpose(self, *axes):
        back = np.argsort(axes)
        return _Node(self.value.transpose(axes), (self, lambda grad: grad.transpose(back)))

    def mean(self):
        size = self.value.shape[-1]
        value = self.value.mean(axis=-1, keepdims=True)
        return _Node(value, (self, lambda grad: np.broadcast_to(grad / size, self.value.shape)))

    def power(self, exponent):
        value = self.value**exponent
        return _Node(value, (self, lambda grad: grad * exponent * self.value ** (exponent - 1)))

    def softmax(self, allowed):
        scores = np.where(allowed, self.value, self.value.dtype.type(-np.inf))
        highest = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isinf(highest), 0, highest).astype(scores.dtype))
        totals = powers.sum(axis=-1, keepdims=True)
        weights = powers / np.where(totals > 0, totals, 1).astype(scores.dtype)
        return _Node(weights, (self, lambda grad: weights * (grad - (grad * weights).sum(axis=-1, keepdims=True))))

    def gelu(self):
        x = self.value
        share = np.array([math.erfc(-number / 2**0.5) / 2 for number in x.ravel()], dtype=x.dtype).reshape(x.shape)
        slope = share + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        return _Node(x * share, (self, lambda grad: grad * slope))


def _fold(grad, shape):
    """Add up what broadcasting had repeated."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 and grad.shape[axis] != 1)
    return grad.sum(axis=repeated, keepdims=True)


def _order(root):
    """Every node after all of its parents; without recursion, since a deep encoder is a long graph."""
    done, order, todo = set(), [], [(root, False)]
    while todo:
        node, seen = todo.pop()
        if seen:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            todo.append((node, True))
            todo.extend((parent, False) for parent, _ in node.parents)
    return order


def _gradients(root, grad_output):
    grads = {id(root): grad_output}
    for node in reversed(_order(root)):
        for parent, back in node.parents:
            grad = back(grads[id(node)])
            grads[id(parent)] = grads[id(parent)] + grad if id(parent) in grads else grad
    return grads


def _array(value):
    value = np.asarray(value)
    return value if value.dtype.kind == "f" else value.astype(float)


def _count(name, value):
    if isinstance(value, (int, np.integer)) and value > 0:
        return int(value)
    raise ValueError(f"{name}: {value!r} is not a positive integer")


class _Module:
    """Whatever has forward(x, …): a subclass builds the graph in _graph and may hold other modules."""

    _input = _output = None

    def _run(self, x, **options):
        x = _array(x)
        self._check(x)
        for leaf in self._leaves():
            leaf._nodes = {key: _Node(value) for key, value in leaf.params.items()}
        self._input = _Node(x)
        self._output = self._graph(self._input, **options)
        return self._output.value.copy()

    def backward(self, grad_output):
        if self._output is None:
            raise RuntimeError("backward goes back through a forward call, and there was none")
        grad_output = _array(grad_output)
        if grad_output.shape != self._output.value.shape:
            raise ValueError(f"grad_output: {grad_output.shape} is not the output's shape {self._output.value.shape}")
        grads = _gradients(self._output, grad_output)
        for leaf in self._leaves():
            leaf.grads = {key: np.array(grads[id(node)]) for key, node in leaf._nodes.items()}
        return np.array(grads[id(self._input)])


class _Leaf(_Module):
    def __init__(self, dim, axes=None):
        self._dim, self._axes = _count("dim", dim), axes
        self.params, self.grads, self._nodes = {}, {}, {}

    def _leaves(self):
        return [self]

    def _check(self, x):
        if x.ndim == 0 or x.shape[-1] != self._dim or self._axes not in (None, x.ndim):
            raise ValueError(f"x: shape {x.shape} does not fit a layer of {self._dim} features")

    def _linear(self, x, weights, bias):
        return x @ self._nodes[weights] + self._nodes[bias]

    def _attend(self, q, k, v, mask):
        shape = (*q.value.shape[:-1], k.value.shape[-2])
        try:
            allowed = np.broadcast_to(True if mask is None else np.asarray(mask) == 1, shape)
        except ValueError as error:
            raise ValueError(f"mask: shape {np.shape(mask)} does not fit {shape}") from error
        axes = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
        weights = (q @ k.transpose(*axes) * (1 / math.sqrt(q.value.shape[-1]))).softmax(allowed)
        self.attention_weights = weights.value
        return weights @ v


class SelfAttention(_Leaf):
    def __init__(self, dim, rng=None):
        super().__init__(dim, axes=3)
        rng = np.random.default_rng() if rng is None else rng
        for role in ("query", "key", "value"):
            self.params[role + "_weights"] = rng.normal(scale=dim**-0.5, size=(dim, dim))
            self.params[role + "_bias"] = np.zeros(dim)

    def forward(self, x, mask=None):
        return self._run(x, mask=mask)

    def _graph(self, x, mask):
        parts = [self._linear(x, f"{role}_weights", f"{role}_bias") for role in ("query", "key", "value")]
        return self._attend(*parts, mask)


class MultiheadSelfAttention(_Leaf):
    def __init__(self, dim, num_heads, rng=None):
        super().__init__(dim, axes=3)
        self._heads = _count("num_heads", num_heads)
        if dim % num_heads:
            raise ValueError(f"num_heads: {num_heads} does not divide {dim}")
        rng = np.random.default_rng() if rng is None else rng
        for name, width in (("qkv", 3 * dim), ("output", dim)):
            self.params[name + "_weights"] = rng.normal(scale=dim**-0.5, size=(dim, width))
            self.params[name + "_bias"] = np.zeros(width)

    def forward(self, x, mask=None):
        return self._run(x, mask=mask)

    def _graph(self, x, mask):
        batch, seq, dim = x.value.shape
        qkv = self._linear(x, "qkv_weights", "qkv_bias").reshape(batch, seq, 3, self._heads, -1)
        qkv = qkv.transpose(2, 0, 3, 1, 4)
        heads = self._attend(qkv[0], qkv[1], qkv[2], mask)
        return self._linear(heads.transpose(0, 2, 1, 3).reshape(batch, seq, dim), "output_weights", "output_bias")


class LayerNorm(_Leaf):
    def __init__(self, dim, eps=1e-5):
        super().__init__(dim)
        self._eps = eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}

    def forward(self, x):
        return self._run(x)

    def _graph(self, x):
        centred = x - x.mean()
        variance = centred.power(2).mean()
        eps = _Node(np.asarray(self._eps, dtype=x.value.dtype))
        return centred * (variance + eps).power(-0.5) * self._nodes["gamma"] + self._nodes["beta"]


class MLP(_Leaf):
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        super().__init__(dim)
        if not (0 <= dropout < 1):
            raise ValueError(f"dropout: {dropout} is not in [0, 1)")
        self._dropout = dropout
        self._rng = np.random.default_rng() if rng is None else rng
        _count("hidden_dim", hidden_dim)
        self.params = {
            "W1": self._rng.normal(scale=dim**-0.5, size=(dim, hidden_dim)),
            "b1": np.zeros(hidden_dim),
            "W2": self._rng.normal(scale=hidden_dim**-0.5, size=(hidden_dim, dim)),
            "b2": np.zeros(dim),
        }

    def forward(self, x, training=False):
        return self._run(x, training=training)

    def _graph(self, x, training):
        lead = x.value.shape[:-1]
        rows = x.reshape(-1, self._dim)
        hidden = self._drop(self._linear(rows, "W1", "b1").gelu(), training)
        return self._drop(self._linear(hidden, "W2", "b2"), training).reshape(*lead, self._dim)

    def _drop(self, x, training):
        if not training or self._dropout == 0:
            return x
        kept = self._rng.uniform(size=x.value.shape) > self._dropout
        return x * (kept.astype(x.value.dtype) / (1 - self._dropout))


class _Composite(_Module):
    _parts = ()

    def _named(self):
        return {name: getattr(self, name) for name in self._parts}

    def _leaves(self):
        return [leaf for part in self._named().values() for leaf in part._leaves()]

    def _check(self, x):
        self.norm1._check(x)
        self.attention._check(x)

    @property
    def params(self):
        return {f"{name}.{key}": value for name, part in self._named().items() for key, value in part.params.items()}

    @property
    def grads(self):
        return {f"{name}.{key}": value for name, part in self._named().items() for key, value in part.grads.items()}


class Block(_Composite):
    _parts = ("norm1", "attention", "norm2", "mlp")

    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def forward(self, x, mask=None, training=False):
        return self._run(x, mask=mask, training=training)

    def _graph(self, x, mask, training):
        x = x + self.attention._graph(self.norm1._graph(x), mask)
        return x + self.mlp._graph(self.norm2._graph(x), training)


class PostNormBlock(Block):
    def _graph(self, x, mask, training):
        x = self.norm1._graph(x + self.attention._graph(x, mask))
        return self.norm2._graph(x + self.mlp._graph(x, training))


class Encoder(_Composite):
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, rng) for _ in range(_count("depth", depth))]
        self.norm = LayerNorm(dim)

    def _named(self):
        return {**{f"blocks.{index}": block for index, block in enumerate(self.blocks)}, "norm": self.norm}

    def _check(self, x):
        self.blocks[0]._check(x)

    def forward(self, x, mask=None, training=False):
        return self._run(x, mask=mask, training=training)

    def _graph(self, x, mask, training):
        for block in self.blocks:
            x = block._graph(x, mask, training)
        return self.norm._graph(x)
