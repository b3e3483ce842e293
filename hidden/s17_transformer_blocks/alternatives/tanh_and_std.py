"""Blocks with the other accepted conventions: GELU by tanh, and a layer norm divided by the deviation plus eps."""

import numpy as np

ROOT = (2 / np.pi) ** 0.5


def _drawn(generator, fan_in, fan_out):
    return generator.normal(0.0, fan_in**-0.5, (fan_in, fan_out))


class _Saved(dict):
    """What forward leaves for backward; the shape of the output is under "shape"."""

    def check(self, grad_output):
        if not self:
            raise RuntimeError("backward needs a forward call first")
        grad_output = np.asarray(grad_output)
        if grad_output.shape != self["shape"]:
            raise ValueError(f"gradient of shape {grad_output.shape} for an output of shape {self['shape']}")
        return grad_output


class Linear:
    """x W + b on rows; the layers below share their dicts with it."""

    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias

    def forward(self, rows):
        self.rows = rows
        return np.dot(rows, self.weights) + self.bias

    def backward(self, grad):
        return np.dot(grad, self.weights.T), np.dot(self.rows.T, grad), grad.sum(axis=0)


class _HeadedAttention:
    """Attention over (groups, seq, size), where every sequence and head is one group."""

    def forward(self, q, k, v, mask):
        self.q, self.k, self.v, self.factor = q, k, v, q.shape[-1] ** -0.5
        scores = np.matmul(q * self.factor, k.transpose(0, 2, 1))
        below = scores - scores.max(axis=2, keepdims=True, where=mask, initial=-np.inf)
        powers = np.where(mask, np.exp(np.minimum(below, 0)), np.zeros((), scores.dtype))
        totals = powers.sum(axis=2, keepdims=True)
        self.weights = powers / (totals + (totals == 0))
        return np.matmul(self.weights, v)

    def backward(self, grad):
        score = np.matmul(grad, self.v.transpose(0, 2, 1))
        score = self.weights * (score - np.matmul(score[:, :, None, :], self.weights[..., None])[..., 0])
        score = score * self.factor
        grad_v = np.matmul(self.weights.transpose(0, 2, 1), grad)
        return np.matmul(score, self.k), np.matmul(score.transpose(0, 2, 1), self.q), grad_v


class SelfAttention:
    def __init__(self, dim, rng=None):
        generator = rng if rng is not None else np.random.default_rng()
        self.width = dim
        self.params = {name + "_weights": _drawn(generator, dim, dim) for name in ("query", "key", "value")}
        self.params |= {name + "_bias": np.zeros(dim) for name in ("query", "key", "value")}
        self.grads = {}
        self.saved = _Saved()

    def forward(self, x, mask=None):
        x = np.asarray(x)
        batch, seq = _batch_and_seq(x, self.width)
        mask = np.broadcast_to(True if mask is None else mask, (batch, seq, seq)).astype(bool)
        linears = [Linear(self.params[n + "_weights"], self.params[n + "_bias"]) for n in ("query", "key", "value")]
        core = _HeadedAttention()
        rows = x.reshape(batch * seq, self.width)
        output = core.forward(*(linear.forward(rows).reshape(x.shape) for linear in linears), mask)
        self.attention_weights = core.weights
        self.saved = _Saved(shape=x.shape, linears=linears, core=core)
        return output

    def backward(self, grad_output):
        grad_output = self.saved.check(grad_output)
        total, self.grads = 0.0, {}
        parts = self.saved["core"].backward(grad_output)
        for name, linear, part in zip(("query", "key", "value"), self.saved["linears"], parts, strict=True):
            rows, table, bias = linear.backward(part.reshape(-1, self.width))
            self.grads[name + "_weights"], self.grads[name + "_bias"] = table, bias
            total = total + rows
        return total.reshape(grad_output.shape)


class MultiheadSelfAttention:
    def __init__(self, dim, num_heads, rng=None):
        if min(dim, num_heads) < 1 or dim % num_heads:
            raise ValueError(f"{dim} features and {num_heads} heads do not go together")
        generator = rng if rng is not None else np.random.default_rng()
        self.width, self.heads = dim, num_heads
        self.params = {"qkv_weights": _drawn(generator, dim, 3 * dim), "qkv_bias": np.zeros(3 * dim)}
        self.params |= {"output_weights": _drawn(generator, dim, dim), "output_bias": np.zeros(dim)}
        self.grads = {}
        self.saved = _Saved()

    def _apart(self, features, shape):
        """(batch * heads, seq, size) from the rows of one part."""
        batch, seq, _ = shape
        size = self.width // self.heads
        return features.reshape(batch, seq, self.heads, size).swapaxes(1, 2).reshape(batch * self.heads, seq, size)

    def _together(self, groups, shape):
        batch, seq, _ = shape
        return groups.reshape(batch, self.heads, seq, -1).swapaxes(1, 2).reshape(batch * seq, self.width)

    def forward(self, x, mask=None):
        x = np.asarray(x)
        batch, seq = _batch_and_seq(x, self.width)
        mask = np.broadcast_to(True if mask is None else mask, (batch, self.heads, seq, seq)).astype(bool)
        inner = Linear(self.params["qkv_weights"], self.params["qkv_bias"])
        outer = Linear(self.params["output_weights"], self.params["output_bias"])
        core = _HeadedAttention()
        features = inner.forward(x.reshape(batch * seq, self.width))
        parts = [self._apart(features[:, i * self.width : (i + 1) * self.width], x.shape) for i in range(3)]
        groups = core.forward(*parts, mask.reshape(batch * self.heads, seq, seq))
        self.attention_weights = core.weights.reshape(mask.shape)
        self.saved = _Saved(shape=x.shape, inner=inner, outer=outer, core=core)
        return outer.forward(self._together(groups, x.shape)).reshape(x.shape)

    def backward(self, grad_output):
        grad_output = self.saved.check(grad_output)
        shape, grads = grad_output.shape, {}
        rows, grads["output_weights"], grads["output_bias"] = self.saved["outer"].backward(
            grad_output.reshape(-1, self.width)
        )
        parts = self.saved["core"].backward(self._apart(rows, shape))
        features = np.hstack([self._together(part, shape) for part in parts])
        rows, grads["qkv_weights"], grads["qkv_bias"] = self.saved["inner"].backward(features)
        self.grads = grads
        return rows.reshape(shape)


def _batch_and_seq(x, width):
    if x.ndim != 3 or x.shape[2] != width:
        raise ValueError(f"shape {x.shape} is not batch, seq and {width} features")
    return x.shape[:2]


def _rows_of(x, width):
    x = np.asarray(x)
    if not x.ndim or x.shape[-1] != width:
        raise ValueError(f"shape {x.shape} does not end in {width} features")
    return x.reshape(-1, width)


class LayerNorm:
    def __init__(self, dim, eps=1e-5):
        self.width, self.eps = dim, eps
        self.params = {"gamma": np.ones(dim), "beta": np.zeros(dim)}
        self.grads = {}
        self.saved = _Saved()

    def forward(self, x):
        rows = _rows_of(x, self.width)
        centred = rows - rows.mean(axis=1, keepdims=True)
        deviation = rows.std(axis=1, keepdims=True)
        normal = centred / (deviation + self.eps)
        gamma = self.params["gamma"]
        self.saved = _Saved(shape=np.shape(x), centred=centred, deviation=deviation, normal=normal, gamma=gamma)
        return (gamma * normal + self.params["beta"]).reshape(np.shape(x))

    def backward(self, grad_output):
        rows = self.saved.check(grad_output).reshape(-1, self.width)
        centred, deviation, normal = self.saved["centred"], self.saved["deviation"], self.saved["normal"]
        self.grads = {"gamma": (rows * normal).sum(axis=0), "beta": rows.sum(axis=0)}
        inner = rows * self.saved["gamma"]
        divisor = deviation + self.eps
        safe = np.where(deviation == 0, 1, deviation).astype(deviation.dtype)
        along = (inner * centred).sum(axis=1, keepdims=True) / (self.width * safe * divisor)
        return ((inner - inner.mean(axis=1, keepdims=True) - along * centred) / divisor).reshape(self.saved["shape"])


class Gelu:
    """x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))"""

    def forward(self, x):
        self.x, self.tanh = x, np.tanh(ROOT * (x + 0.044715 * x * x * x))
        return 0.5 * x * (1 + self.tanh)

    def backward(self, grad):
        inner = ROOT * (1 + 3 * 0.044715 * self.x * self.x)
        return grad * 0.5 * (1 + self.tanh + self.x * (1 - self.tanh * self.tanh) * inner)


class Dropout:
    def __init__(self, rate, generator):
        self.rate, self.generator, self.factors = rate, generator, None

    def forward(self, x, training):
        self.factors = None
        if not training or self.rate == 0:
            return x
        self.factors = (self.generator.random(x.shape) < 1 - self.rate).astype(x.dtype)
        self.factors /= 1 - self.rate
        return x * self.factors

    def backward(self, grad):
        return grad if self.factors is None else grad * self.factors


class MLP:
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        if dropout < 0 or not dropout < 1:
            raise ValueError(f"a dropout of {dropout} is not a rate below 1")
        generator = rng if rng is not None else np.random.default_rng()
        self.width = dim
        self.params = {"W1": _drawn(generator, dim, hidden_dim), "b1": np.zeros(hidden_dim)}
        self.params |= {"W2": _drawn(generator, hidden_dim, dim), "b2": np.zeros(dim)}
        self.grads = {}
        self.gelu = Gelu()
        self.drops = Dropout(dropout, generator), Dropout(dropout, generator)
        self.saved = _Saved()

    def forward(self, x, training=False):
        rows = _rows_of(x, self.width)
        first = Linear(self.params["W1"], self.params["b1"])
        second = Linear(self.params["W2"], self.params["b2"])
        hidden = self.drops[0].forward(self.gelu.forward(first.forward(rows)), training)
        output = self.drops[1].forward(second.forward(hidden), training)
        self.saved = _Saved(shape=np.shape(x), first=first, second=second)
        return output.reshape(np.shape(x))

    def backward(self, grad_output):
        rows = self.drops[1].backward(self.saved.check(grad_output).reshape(-1, self.width))
        rows, grad_W2, grad_b2 = self.saved["second"].backward(rows)
        rows, grad_W1, grad_b1 = self.saved["first"].backward(self.gelu.backward(self.drops[0].backward(rows)))
        self.grads = {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}
        return rows.reshape(np.shape(grad_output))


class _Parts:
    def _collected(self, which):
        table = {}
        for name, part in self._named_parts():
            table.update({f"{name}.{key}": value for key, value in getattr(part, which).items()})
        return table

    @property
    def params(self):
        return self._collected("params")

    @property
    def grads(self):
        return self._collected("grads")


class _FourParts(_Parts):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        generator = rng if rng is not None else np.random.default_rng()
        self.attention = MultiheadSelfAttention(dim, num_heads, generator)
        self.mlp = MLP(dim, int(dim * mlp_ratio), dropout, generator)
        self.norm1 = LayerNorm(dim)
        self.norm2 = LayerNorm(dim)

    def _named_parts(self):
        return [(name, getattr(self, name)) for name in ("norm1", "attention", "norm2", "mlp")]


class Block(_FourParts):
    def forward(self, x, mask=None, training=False):
        attended = self.attention.forward(self.norm1.forward(x), mask)
        processed = self.mlp.forward(self.norm2.forward(x + attended), training)
        return x + attended + processed

    def backward(self, grad_output):
        through_mlp = self.norm2.backward(self.mlp.backward(grad_output))
        through_attention = self.norm1.backward(self.attention.backward(grad_output + through_mlp))
        return grad_output + through_mlp + through_attention


class PostNormBlock(_FourParts):
    def forward(self, x, mask=None, training=False):
        x = self.norm1.forward(np.add(x, self.attention.forward(x, mask)))
        return self.norm2.forward(np.add(x, self.mlp.forward(x, training)))

    def backward(self, grad_output):
        grad = self.norm2.backward(grad_output)
        grad = self.norm1.backward(np.add(grad, self.mlp.backward(grad)))
        return np.add(grad, self.attention.backward(grad))


class Encoder(_Parts):
    def __init__(self, depth, dim, num_heads, mlp_ratio=4.0, dropout=0.0, rng=None):
        if depth < 1:
            raise ValueError(f"an encoder of {depth} blocks")
        generator = rng if rng is not None else np.random.default_rng()
        self.blocks = [Block(dim, num_heads, mlp_ratio, dropout, generator) for _ in range(depth)]
        self.norm = LayerNorm(dim)

    def _named_parts(self):
        return [*((f"blocks.{index}", block) for index, block in enumerate(self.blocks)), ("norm", self.norm)]

    def forward(self, x, mask=None, training=False):
        for block in self.blocks:
            x = block.forward(x, mask, training)
        return self.norm.forward(x)

    def backward(self, grad_output):
        grad = self.norm.backward(grad_output)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        return grad
