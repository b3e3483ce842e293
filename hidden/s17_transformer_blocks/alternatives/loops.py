"""Blocks with loops: one sequence, one head, one query and one token after the other."""

import math

import numpy as np


def _floats(value):
    value = np.asarray(value)
    return value if value.dtype.kind == "f" else value.astype(np.float64)


def _check_number(name, number):
    if not isinstance(number, (int, np.integer)) or number <= 0:
        raise ValueError(f"{name} is {number!r}, not a positive integer")


def _check_shape(name, array, shape):
    if array.shape != tuple(shape):
        raise ValueError(f"{name} has the shape {array.shape}, not {tuple(shape)}")


def _check_sequences(x, dim):
    if x.ndim != 3 or x.shape[2] != dim:
        raise ValueError(f"x has the shape {x.shape}, not (batch, seq, {dim})")


def _draw(rng, rows, columns):
    return rng.normal(0, 1 / math.sqrt(rows), size=(rows, columns))


def _allowed(mask, shape):
    if mask is None:
        return np.full(shape, True)
    mask = np.asarray(mask)
    try:
        return np.broadcast_to(mask, shape) != 0
    except ValueError:
        raise ValueError(f"mask has the shape {mask.shape}, which does not go with {shape}") from None


def _attend(queries, keys, values, allowed):
    """Attention of one sequence and one head, query by query, over the keys that are allowed only."""
    output, weights = np.zeros_like(values), np.zeros((len(queries), len(keys)), dtype=values.dtype)
    for i, query in enumerate(queries):
        seen = np.flatnonzero(allowed[i])
        if len(seen):
            scores = keys[seen] @ query / math.sqrt(len(query))
            powers = np.exp(scores - max(scores))
            weights[i, seen] = powers / sum(powers)
            output[i] = weights[i, seen] @ values[seen]
    return output, weights


def _attend_backward(grad, queries, keys, values, weights):
    grad_queries, grad_keys, grad_values = (np.zeros_like(part) for part in (queries, keys, values))
    for i, query in enumerate(queries):
        row = weights[i]
        through = values @ grad[i]
        grad_scores = row * (through - row @ through) / math.sqrt(len(query))
        grad_queries[i] = grad_scores @ keys
        for j in range(len(keys)):
            grad_keys[j] += grad_scores[j] * query
            grad_values[j] += row[j] * grad[i]
    return grad_queries, grad_keys, grad_values


class _Layer:
    def __init__(self):
        self.params, self.grads, self._memory = {}, {}, None

    def _recall(self, grad_output):
        if self._memory is None:
            raise RuntimeError("backward was called before forward")
        grad_output = _floats(grad_output)
        _check_shape("grad_output", grad_output, self._memory[0].shape)
        return grad_output, self._memory


class SelfAttention(_Layer):
    def __init__(self, dim, rng=None):
        super().__init__()
        _check_number("dim", dim)
        rng = np.random.default_rng() if rng is None else rng
        for which in ("query", "key", "value"):
            self.params[f"{which}_weights"] = _draw(rng, dim, dim)
            self.params[f"{which}_bias"] = np.zeros(dim)
        self.dim = dim
        self.attention_weights = None

    def forward(self, x, mask=None):
        x = _floats(x)
        _check_sequences(x, self.dim)
        batch, seq, _ = x.shape
        allowed = _allowed(mask, (batch, seq, seq))
        params = dict(self.params)
        outputs, weights, projected = [], [], []
        for sequence, permitted in zip(x, allowed, strict=True):
            parts = [sequence @ params[f"{w}_weights"] + params[f"{w}_bias"] for w in ("query", "key", "value")]
            output, weight = _attend(*parts, permitted)
            outputs.append(output)
            weights.append(weight)
            projected.append(parts)
        self._memory = x, params, projected, weights
        self.attention_weights = np.array(weights)
        return np.array(outputs)

    def backward(self, grad_output):
        grad_output, (x, params, projected, weights) = self._recall(grad_output)
        grads = {name: np.zeros_like(value) for name, value in params.items()}
        grad_x = np.zeros_like(x)
        for b in range(len(x)):
            parts = _attend_backward(grad_output[b], *projected[b], weights[b])
            for which, grad in zip(("query", "key", "value"), parts, strict=True):
                for token, row in zip(x[b], grad, strict=True):
                    grads[f"{which}_weights"] += np.outer(token, row)
                    grads[f"{which}_bias"] += row
                grad_x[b] += grad @ params[f"{which}_weights"].T
        self.grads = grads
        return grad_x


class MultiheadSelfAttention(_Layer):
    def __init__(self, dim, num_heads, rng=None):
        super().__init__()
        _check_number("dim", dim)
        _check_number("num_heads", num_heads)
        if dim % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {dim} features")
        rng = np.random.default_rng() if rng is None else rng
        self.dim, self.num_heads = dim, num_heads
        self.params = {
            "qkv_weights": _draw(rng, dim, 3 * dim),
            "qkv_bias": np.zeros(3 * dim),
            "output_weights": _draw(rng, dim, dim),
            "output_bias": np.zeros(dim),
        }
        self.attention_weights = None

    def _columns(self, head):
        """Where the queries, the keys and the values of one head stand among the 3 dim features."""
        size = self.dim // self.num_heads
        return [slice(which * self.dim + head * size, which * self.dim + (head + 1) * size) for which in range(3)]

    def forward(self, x, mask=None):
        x = _floats(x)
        _check_sequences(x, self.dim)
        batch, seq, dim = x.shape
        allowed = _allowed(mask, (batch, self.num_heads, seq, seq))
        params = dict(self.params)
        joined = np.zeros_like(x)
        weights = np.zeros(allowed.shape, dtype=x.dtype)
        features = np.zeros((batch, seq, 3 * dim), dtype=x.dtype)
        output = np.zeros_like(x)
        for b in range(batch):
            features[b] = x[b] @ params["qkv_weights"] + params["qkv_bias"]
            for head in range(self.num_heads):
                own = self._columns(head)
                result = _attend(*(features[b][:, part] for part in own), allowed[b, head])
                joined[b][:, own[0]], weights[b, head] = result
            output[b] = joined[b] @ params["output_weights"] + params["output_bias"]
        self._memory = x, params, features, weights, joined
        self.attention_weights = weights.copy()
        return output

    def backward(self, grad_output):
        grad_output, (x, params, features, weights, joined) = self._recall(grad_output)
        grads = {name: np.zeros_like(value) for name, value in params.items()}
        grad_x = np.zeros_like(x)
        for b in range(len(x)):
            grads["output_weights"] += joined[b].T @ grad_output[b]
            grads["output_bias"] += sum(grad_output[b])
            grad_joined = grad_output[b] @ params["output_weights"].T
            for head in range(self.num_heads):
                own = self._columns(head)
                parts = (features[b][:, part] for part in own)
                for part, grad in zip(
                    own, _attend_backward(grad_joined[:, own[0]], *parts, weights[b, head]), strict=True
                ):
                    grads["qkv_weights"][:, part] += x[b].T @ grad
                    grads["qkv_bias"][part] += sum(grad)
                    grad_x[b] += grad @ params["qkv_weights"][:, part].T
        self.grads = grads
        return grad_x


class LayerNorm(_Layer):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        _check_number("dim", dim)
        self.dim, self.eps = dim, eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}

    def forward(self, x):
        x = _floats(x)
        if x.ndim == 0 or x.shape[-1] != self.dim:
            raise ValueError(f"x has the shape {x.shape}, not (..., {self.dim})")
        output, normal, roots = np.zeros_like(x), np.zeros_like(x), {}
        params = dict(self.params)
        for place in np.ndindex(x.shape[:-1]):
            token = x[place] - x[place].sum() / self.dim
            roots[place] = math.sqrt(float(token @ token) / self.dim + self.eps)
            normal[place] = token / roots[place]
            output[place] = params["gamma"] * normal[place] + params["beta"]
        self._memory = x, params, normal, roots
        return output

    def backward(self, grad_output):
        grad_output, (x, params, normal, roots) = self._recall(grad_output)
        grads = {name: np.zeros_like(value) for name, value in params.items()}
        grad_x = np.zeros_like(x)
        for place in np.ndindex(x.shape[:-1]):
            grads["gamma"] += grad_output[place] * normal[place]
            grads["beta"] += grad_output[place]
            inner = grad_output[place] * params["gamma"]
            inner = inner - inner.sum() / self.dim - normal[place] * (inner @ normal[place]) / self.dim
            grad_x[place] = inner / roots[place]
        self.grads = grads
        return grad_x


class MLP(_Layer):
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        super().__init__()
        _check_number("dim", dim)
        _check_number("hidden_dim", hidden_dim)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout is {dropout!r}, not in [0, 1)")
        self._rng = np.random.default_rng() if rng is None else rng
        self.dim, self.dropout = dim, dropout
        self.params = {
            "W1": _draw(self._rng, dim, hidden_dim),
            "b1": np.zeros(hidden_dim),
            "W2": _draw(self._rng, hidden_dim, dim),
            "b2": np.zeros(dim),
        }

    def _keep(self, like, training):
        """What one token's features are multiplied by: 0, or 1 over the rate of those that stay."""
        if not training or self.dropout == 0:
            return np.ones_like(like)
        kept = [0.0 if self._rng.random() < self.dropout else 1 / (1 - self.dropout) for _ in like]
        return np.array(kept, dtype=like.dtype)

    def forward(self, x, training=False):
        x = _floats(x)
        if x.ndim == 0 or x.shape[-1] != self.dim:
            raise ValueError(f"x has the shape {x.shape}, not (..., {self.dim})")
        params, steps, output = dict(self.params), {}, np.zeros_like(x)
        for place in np.ndindex(x.shape[:-1]):
            before = x[place] @ params["W1"] + params["b1"]
            below = np.array([0.5 + math.erf(value / math.sqrt(2)) / 2 for value in before.tolist()], before.dtype)
            inner = self._keep(before, training)
            hidden = before * below * inner
            result = hidden @ params["W2"] + params["b2"]
            outer = self._keep(result, training)
            output[place] = result * outer
            steps[place] = before, below, inner, hidden, outer
        self._memory = x, params, steps
        return output

    def backward(self, grad_output):
        grad_output, (x, params, steps) = self._recall(grad_output)
        grads = {name: np.zeros_like(value) for name, value in params.items()}
        grad_x = np.zeros_like(x)
        for place, (before, below, inner, hidden, outer) in steps.items():
            grad = grad_output[place] * outer
            grads["W2"] += np.outer(hidden, grad)
            grads["b2"] += grad
            density = np.exp(-before * before / 2) / math.sqrt(2 * math.pi)
            grad = params["W2"] @ grad * inner * (below + before * density)
            grads["W1"] += np.outer(x[place], grad)
            grads["b1"] += grad
            grad_x[place] = params["W1"] @ grad
        self.grads = grads
        return grad_x


class _Composite:
    def _named(self, which):
        found = {}
        for name, part in self._parts().items():
            for key, value in getattr(part, which).items():
                found[f"{name}.{key}"] = value
        return found

    @property
    def params(self):
        return self._named("params")

    @property
    def grads(self):
        return self._named("grads")


class Block(_Composite):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.norm1 = LayerNorm(dim)
        self.attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, rng)

    def _parts(self):
        return {name: getattr(self, name) for name in ("norm1", "attention", "norm2", "mlp")}

    def forward(self, x, mask=None, training=False):
        x = _floats(x)
        x = x + self.attention.forward(self.norm1.forward(x), mask)
        return x + self.mlp.forward(self.norm2.forward(x), training)

    def backward(self, grad_output):
        grad = self.mlp.backward(grad_output)
        grad = np.asarray(grad_output) + self.norm2.backward(grad)
        return grad + self.norm1.backward(self.attention.backward(grad))


class PostNormBlock(Block):
    def forward(self, x, mask=None, training=False):
        x = _floats(x)
        x = self.norm1.forward(x + self.attention.forward(x, mask))
        return self.norm2.forward(x + self.mlp.forward(x, training))

    def backward(self, grad_output):
        grad = self.norm2.backward(grad_output)
        grad = self.norm1.backward(grad + self.mlp.backward(grad))
        return grad + self.attention.backward(grad)


class Encoder(_Composite):
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        _check_number("depth", depth)
        rng = np.random.default_rng() if rng is None else rng
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(Block(dim, num_heads, mlp_ratio, dropout, rng))
        self.norm = LayerNorm(dim)

    def _parts(self):
        return {**{f"blocks.{i}": block for i, block in enumerate(self.blocks)}, "norm": self.norm}

    def forward(self, x, mask=None, training=False):
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        grad = self.norm.backward(grad_output)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        return grad
