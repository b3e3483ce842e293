"""Attention with the sums written out: Python loops over batch, heads, positions and features, number by number."""

import math

import numpy as np


def _real(*arrays):
    kind = np.result_type(*arrays)
    return kind if np.issubdtype(kind, np.floating) else np.dtype(np.float64)


def _require(condition, message):
    if not condition:
        raise ValueError(message)


def _positive(**sizes):
    for name, size in sizes.items():
        whole = isinstance(size, (int, np.integer)) and size > 0
        _require(whole, f"{name} is {size!r}, expected a positive integer")


def _product(A, B):
    """Matrix product of two 2-D arrays, as nested lists."""
    _require(A.shape[1] == B.shape[0], f"shapes {A.shape} and {B.shape} do not multiply")
    rows, columns = A.tolist(), list(zip(*B.tolist(), strict=True))
    return np.array(
        [[math.fsum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows]
    )


def _softmax_list(values):
    highest = max(values, default=-math.inf)
    if highest == -math.inf:
        return [0.0] * len(values)
    powers = [math.exp(value - highest) for value in values]
    total = math.fsum(powers)
    return [power / total for power in powers]


def _each_pair(Q, K, score):
    """score(query, key) for all pairs; leading axes broadcast."""
    _require(Q.ndim >= 2 and K.ndim >= 2, f"Q and K need a sequence and a feature axis, not {Q.shape} and {K.shape}")
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    Q = np.broadcast_to(Q, lead + Q.shape[-2:])
    K = np.broadcast_to(K, lead + K.shape[-2:])
    scores = np.zeros((*lead, Q.shape[-2], K.shape[-2]))
    for *where, i, j in np.ndindex(scores.shape):
        where = tuple(where)
        scores[(*where, i, j)] = score(Q[(*where, i)].tolist(), K[(*where, j)].tolist())
    return scores


def _mix(weights, V):
    """For every query, the sum of the rows of V, each times its weight."""
    lead = np.broadcast_shapes(weights.shape[:-2], V.shape[:-2])
    weights = np.broadcast_to(weights, lead + weights.shape[-2:])
    V = np.broadcast_to(V, lead + V.shape[-2:])
    output = np.zeros((*lead, weights.shape[-2], V.shape[-1]))
    for *where, i, c in np.ndindex(output.shape):
        where = tuple(where)
        terms = (weights[(*where, i, j)] * V[(*where, j, c)] for j in range(V.shape[-2]))
        output[(*where, i, c)] = math.fsum(map(float, terms))
    return output


def _attend(scores, V, mask, kind):
    _require(V.shape[-2] == scores.shape[-1], f"V has {V.shape[-2]} positions, K has {scores.shape[-1]}")
    if mask is not None:
        scores = apply_attention_mask(scores, mask, -math.inf)
    weights = attention_weights(scores)
    return _mix(weights, V).astype(kind), weights.astype(kind)


def compute_attention_scores(Q, K, scale=True):
    Q, K = np.asarray(Q), np.asarray(K)
    _require(Q.shape[-1:] == K.shape[-1:], f"Q has {Q.shape[-1:]} features, K has {K.shape[-1:]}")
    divisor = math.sqrt(Q.shape[-1]) if scale else 1.0

    def score(query, key):
        return math.fsum(q * k for q, k in zip(query, key, strict=True)) / divisor

    return _each_pair(Q, K, score).astype(_real(Q, K))


def apply_attention_mask(scores, mask, mask_value=-1e9):
    scores = np.asarray(scores)
    allowed = np.broadcast_to(np.asarray(mask), scores.shape)
    masked = np.empty(scores.shape, _real(scores))
    for index in np.ndindex(scores.shape):
        masked[index] = scores[index] if allowed[index] else mask_value
    return masked


def attention_weights(scores, axis=-1):
    scores = np.asarray(scores)
    lines = np.moveaxis(scores, axis, -1)
    weights = np.empty(lines.shape, _real(scores))
    for index in np.ndindex(lines.shape[:-1]):
        weights[index] = _softmax_list(lines[index].tolist())
    return np.moveaxis(weights, -1, axis)


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    return _attend(compute_attention_scores(Q, K), V, mask, _real(Q, K, V))


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, V, W_q, W_k, v = (np.asarray(a) for a in (Q, K, V, W_q, W_k, v))
    _require(Q.shape[-1] == W_q.shape[0], f"Q has {Q.shape[-1]} features, W_q expects {W_q.shape[0]}")
    _require(K.shape[-1] == W_k.shape[0], f"K has {K.shape[-1]} features, W_k expects {W_k.shape[0]}")
    _require(W_q.shape[1:] == W_k.shape[1:] == v.shape, "W_q, W_k and v do not agree on d_a")
    parts = [(W_q[:, a].tolist(), W_k[:, a].tolist(), float(v[a])) for a in range(len(v))]

    def score(query, key):
        total = 0.0
        for from_query, from_key, weight in parts:
            inner = sum(q * w for q, w in zip(query, from_query, strict=True))
            inner += sum(k * w for k, w in zip(key, from_key, strict=True))
            total += weight * math.tanh(inner)
        return total

    return _attend(_each_pair(Q, K, score), V, mask, _real(Q, K, V, W_q, W_k, v))


def _head_width(d_model, num_heads):
    _positive(num_heads=num_heads, d_model=d_model)
    _require(d_model % num_heads == 0, f"num_heads {num_heads} does not divide d_model {d_model}")
    return d_model // num_heads


def split_heads(x, num_heads):
    x = np.asarray(x)
    _require(x.ndim == 3, f"x must be (batch, seq, d_model), not {x.shape}")
    batch, seq, d_model = x.shape
    width = _head_width(d_model, num_heads)
    heads = np.empty((batch, num_heads, seq, width), x.dtype)
    for b, h, s, c in np.ndindex(heads.shape):
        heads[b, h, s, c] = x[b, s, h * width + c]
    return heads


def merge_heads(x):
    x = np.asarray(x)
    _require(x.ndim == 4, f"x must be (batch, heads, seq, d_k), not {x.shape}")
    batch, heads, seq, width = x.shape
    merged = np.empty((batch, seq, heads * width), x.dtype)
    for b, h, s, c in np.ndindex(x.shape):
        merged[b, s, h * width + c] = x[b, h, s, c]
    return merged


def _check_multi_head(Q, K, V, weights, num_heads):
    for name, array in (("Q", Q), ("K", K), ("V", V)):
        _require(array.ndim == 3, f"{name} must be (batch, seq, d_model), not {array.shape}")
        _require(array.shape[0] == Q.shape[0], f"{name} has batch {array.shape[0]}, Q has {Q.shape[0]}")
        _require(array.shape[2] == Q.shape[2], f"{name} has {array.shape[2]} features, Q has {Q.shape[2]}")
    _require(K.shape[1] == V.shape[1], f"K has {K.shape[1]} positions, V has {V.shape[1]}")
    for name, weight in weights.items():
        _require(weight.shape == (Q.shape[2],) * 2, f"{name} is {weight.shape}, expected {(Q.shape[2],) * 2}")
    return _head_width(Q.shape[2], num_heads)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    weights = {"W_Q": np.asarray(W_Q), "W_K": np.asarray(W_K), "W_V": np.asarray(W_V), "W_O": np.asarray(W_O)}
    width = _check_multi_head(Q, K, V, weights, num_heads)
    allowed = np.asarray(True if mask is None else mask)
    if allowed.ndim == 3:
        allowed = np.expand_dims(allowed, 1)
    allowed = np.broadcast_to(allowed, (Q.shape[0], num_heads, Q.shape[1], K.shape[1]))
    output, saved = np.zeros(Q.shape, _real(Q, K, V, *weights.values())), []
    for b in range(Q.shape[0]):
        queries, keys, values = (_product(x[b], weights[w]) for x, w in ((Q, "W_Q"), (K, "W_K"), (V, "W_V")))
        joined, by_head = np.zeros(Q.shape[1:]), []
        for h in range(num_heads):
            block = slice(h * width, (h + 1) * width)
            scores = _product(queries[:, block], keys[:, block].T) / math.sqrt(width)
            lines = [
                _softmax_list([s if ok else -math.inf for s, ok in zip(row, permitted, strict=True)])
                for row, permitted in zip(scores.tolist(), allowed[b, h].tolist(), strict=True)
            ]
            joined[:, block] = _product(np.array(lines), values[:, block])
            by_head.append((block, lines))
        output[b] = _product(joined, weights["W_O"])
        saved.append({"queries": queries, "keys": keys, "values": values, "joined": joined, "heads": by_head})
    return output, {"inputs": [Q, K, V], "weights": weights, "saved": saved}


def multi_head_attention_backward(grad_output, cache):
    grad_output = np.asarray(grad_output)
    (Q, K, V), weights = cache["inputs"], cache["weights"]
    _require(grad_output.shape == Q.shape, f"grad_output is {grad_output.shape}, expected {Q.shape}")
    grad_inputs = [np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)]
    grads = {name: np.zeros(weight.shape) for name, weight in weights.items()}
    for b, kept in enumerate(cache["saved"]):
        grads["W_O"] += _product(kept["joined"].T, grad_output[b])
        grad_joined = _product(grad_output[b], weights["W_O"].T)
        inner = [np.zeros(Q.shape[1:]), np.zeros(K.shape[1:]), np.zeros(V.shape[1:])]
        for block, lines in kept["heads"]:
            q, k, v = (kept[name][:, block] for name in ("queries", "keys", "values"))
            grad_q, grad_k, grad_v = (array[:, block] for array in inner)
            for i, line in enumerate(lines):
                grad_line = [float(grad_joined[i, block] @ v[j]) for j in range(len(line))]
                for j, weight in enumerate(line):
                    grad_v[j] += weight * grad_joined[i, block]
                    slope = sum(line[m] * ((j == m) - weight) * grad_line[m] for m in range(len(line)))
                    grad_q[i] += slope * k[j] / math.sqrt(q.shape[1])
                    grad_k[j] += slope * q[i] / math.sqrt(q.shape[1])
        for slot, name in enumerate(("W_Q", "W_K", "W_V")):
            grads[name] += _product(cache["inputs"][slot][b].T, inner[slot])
            grad_inputs[slot][b] = _product(inner[slot], weights[name].T)
    return (*grad_inputs, grads)


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, rng=None):
        _head_width(d_model, num_heads)
        rng = np.random.default_rng() if rng is None else rng
        self.num_heads, self.cache, self.gradients = num_heads, None, None
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            rows = [[rng.normal(0.0, 1.0 / math.sqrt(d_model)) for _ in range(d_model)] for _ in range(d_model)]
            setattr(self, name, np.array(rows))

    def forward(self, Q, K, V, mask=None):
        weights = self.W_Q, self.W_K, self.W_V, self.W_O
        output, self.cache = multi_head_attention_forward(Q, K, V, *weights, self.num_heads, mask)
        return output

    def backward(self, grad_output):
        if self.cache is None:
            raise RuntimeError("backward needs a forward before it")
        *grad_inputs, self.gradients = multi_head_attention_backward(grad_output, self.cache)
        return tuple(grad_inputs)

    def get_params(self):
        return {name: np.array(getattr(self, name)) for name in ("W_Q", "W_K", "W_V", "W_O")}

    def set_params(self, params):
        _require(sorted(params) == ["W_K", "W_O", "W_Q", "W_V"], f"params has the keys {list(params)}")
        for name in params:
            expected, given = getattr(self, name).shape, np.shape(params[name])
            _require(given == expected, f"{name} is {given}, expected {expected}")
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, np.array(params[name]))

    def get_gradients(self):
        if self.gradients is None:
            raise RuntimeError("get_gradients needs a backward before it")
        return self.gradients


def sinusoidal_encoding(max_length, d_model):
    _positive(max_length=max_length, d_model=d_model)
    encoding = np.zeros((max_length, d_model))
    for position in range(max_length):
        for column in range(d_model):
            angle = position / 10000.0 ** ((column - column % 2) / d_model)
            encoding[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return encoding


def add_positional_encoding(x, pe):
    x, pe = np.asarray(x), np.asarray(pe)
    _require(x.ndim == 3, f"x must be (batch, seq, d_model), not {x.shape}")
    _require(pe.ndim == 2, f"pe must be (max_length, d_model), not {pe.shape}")
    _require(x.shape[1] <= pe.shape[0], f"x has {x.shape[1]} positions, pe only {pe.shape[0]}")
    _require(x.shape[2] == pe.shape[1], f"x has {x.shape[2]} features, pe has {pe.shape[1]}")
    result = np.empty(x.shape, _real(x))
    for b, s, c in np.ndindex(x.shape):
        result[b, s, c] = x[b, s, c] + pe[s, c]
    return result


def learned_positional_encoding(max_length, d_model, rng=None):
    _positive(max_length=max_length, d_model=d_model)
    rng = np.random.default_rng() if rng is None else rng
    return np.array([[rng.normal(0.0, 0.02) for _ in range(d_model)] for _ in range(max_length)])


def create_causal_mask(seq_length):
    _positive(seq_length=seq_length)
    rows = [[key <= query for key in range(seq_length)] for query in range(seq_length)]
    return np.array(rows, dtype=bool).reshape(seq_length, seq_length)


def create_padding_mask(lengths, max_length):
    _positive(max_length=max_length)
    lengths = np.asarray(lengths).tolist()
    _require(isinstance(lengths, list), "lengths must have one axis")
    for length in lengths:
        _require(isinstance(length, int), f"lengths must be integers, not {length!r}")
        _require(0 <= length <= max_length, f"length {length} is outside 0 .. {max_length}")
    rows = [[position < length for position in range(max_length)] for length in lengths]
    return np.array(rows, dtype=bool).reshape(len(lengths), max_length)


def _mean(values):
    return math.fsum(values) / len(values)


def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = np.asarray(x), np.asarray(gamma), np.asarray(beta)
    _require(gamma.shape == beta.shape == x.shape[-1:], f"gamma {gamma.shape}, beta {beta.shape}, x {x.shape}")
    result = np.empty(x.shape, _real(x, gamma, beta))
    for index in np.ndindex(x.shape[:-1]):
        values = x[index].tolist()
        mean = _mean(values)
        deviation = math.sqrt(_mean([(value - mean) ** 2 for value in values]) + eps)
        for c, value in enumerate(values):
            result[(*index, c)] = gamma[c] * ((value - mean) / deviation) + beta[c]
    return result


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = np.asarray(grad_output), np.asarray(x), np.asarray(gamma)
    _require(gamma.shape == x.shape[-1:], f"gamma is {gamma.shape}, x is {x.shape}")
    _require(grad_output.shape == x.shape, f"grad_output is {grad_output.shape}, expected {x.shape}")
    grad_x, grad_gamma, grad_beta = np.zeros(x.shape), np.zeros(gamma.shape), np.zeros(gamma.shape)
    width = x.shape[-1]
    for index in np.ndindex(x.shape[:-1]):
        values, slopes = x[index].tolist(), grad_output[index].tolist()
        mean = _mean(values)
        variance = _mean([(value - mean) ** 2 for value in values])
        root = math.sqrt(variance + eps)
        grad_variance = grad_mean = 0.0
        for c in range(width):
            grad_gamma[c] += slopes[c] * (values[c] - mean) / root
            grad_beta[c] += slopes[c]
            slope = slopes[c] * float(gamma[c])
            grad_variance += slope * (values[c] - mean) * -0.5 * (variance + eps) ** -1.5
            grad_mean -= slope / root
        for c in range(width):
            direct = slopes[c] * float(gamma[c]) / root
            grad_x[(*index, c)] = direct + grad_variance * 2.0 * (values[c] - mean) / width + grad_mean / width
    return grad_x, grad_gamma, grad_beta


def _check_feed_forward(x, W1, b1, W2, b2):
    _require(x.shape[-1:] == W1.shape[:1], f"x has {x.shape[-1:]} features, W1 expects {W1.shape[:1]}")
    _require(W1.shape[1:] == b1.shape == W2.shape[:1], f"W1 {W1.shape}, b1 {b1.shape} and W2 {W2.shape} do not agree")
    _require(W2.shape[1:] == b2.shape == x.shape[-1:], f"b2 is {b2.shape}, expected {W2.shape[1:]}")


def feed_forward(x, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = (np.asarray(array) for array in (x, W1, b1, W2, b2))
    _check_feed_forward(x, W1, b1, W2, b2)
    result = np.empty((*x.shape[:-1], W2.shape[1]), _real(x, W1, b1, W2, b2))
    for index in np.ndindex(x.shape[:-1]):
        hidden = [max(0.0, math.fsum(map(float, x[index] * W1[:, f])) + float(b1[f])) for f in range(W1.shape[1])]
        for c in range(W2.shape[1]):
            result[(*index, c)] = math.fsum(map(float, hidden * W2[:, c])) + b2[c]
    return result


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    grad_output, x, W1, b1, W2, b2 = (np.asarray(array) for array in (grad_output, x, W1, b1, W2, b2))
    _check_feed_forward(x, W1, b1, W2, b2)
    _require(grad_output.shape == x.shape, f"grad_output is {grad_output.shape}, expected {x.shape}")
    grads = [np.zeros(array.shape) for array in (x, W1, b1, W2, b2)]
    grad_x, grad_W1, grad_b1, grad_W2, grad_b2 = grads
    for index in np.ndindex(x.shape[:-1]):
        for f in range(W1.shape[1]):
            before = float(x[index] @ W1[:, f] + b1[f])
            grad_W2[f] += max(before, 0.0) * grad_output[index]
            if before > 0.0:
                slope = float(grad_output[index] @ W2[f])
                grad_b1[f] += slope
                grad_W1[:, f] += slope * x[index]
                grad_x[index] += slope * W1[:, f]
        grad_b2 += grad_output[index]
    return tuple(grads)


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        d_ff = 4 * d_model if d_ff is None else d_ff
        _positive(d_model=d_model, d_ff=d_ff)
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        self.W1 = rng.normal(0.0, 1.0 / math.sqrt(d_model), (d_model, d_ff))
        self.W2 = rng.normal(0.0, 1.0 / math.sqrt(d_ff), (d_ff, d_model))
        self.b1, self.b2 = np.zeros(d_ff), np.zeros(d_model)
        self.gamma1, self.gamma2 = np.ones(d_model), np.ones(d_model)
        self.beta1, self.beta2 = np.zeros(d_model), np.zeros(d_model)
        self.steps = None

    def forward(self, x, mask=None):
        x = np.asarray(x)
        first = x + self.attention.forward(x, x, x, mask)
        middle = layer_norm(first, self.gamma1, self.beta1)
        second = middle + feed_forward(middle, self.W1, self.b1, self.W2, self.b2)
        self.steps = [first, middle, second]
        return layer_norm(second, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self.steps is None:
            raise RuntimeError("backward needs a forward before it")
        first, middle, second = self.steps
        grad_second, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, second, self.gamma2)
        through, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
            grad_second, middle, self.W1, self.b1, self.W2, self.b2
        )
        grad_first, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad_second + through, first, self.gamma1)
        grad_x = grad_first
        for grad in self.attention.backward(grad_first):
            grad_x = grad_x + grad
        self.grad_attention = self.attention.get_gradients()
        return grad_x


def stack_encoder_blocks(x, blocks, mask=None):
    for block in blocks:
        x = block.forward(x, mask)
    return np.array(x)
