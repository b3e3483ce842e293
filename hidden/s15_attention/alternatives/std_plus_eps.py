"""Attention with masks added to the scores, layer norm divided by std + eps, and one fused projection of Q, K, V."""

import math

import numpy as np


def _array(value):
    value = np.asarray(value)
    return value if value.dtype.kind == "f" else value.astype("float64")


def _expect(name, shape, expected):
    for got, wanted in zip(shape, expected, strict=False):
        if wanted is not None and got != wanted:
            raise ValueError(f"{name} has shape {shape}; wanted {expected}")
    if len(shape) != len(expected):
        raise ValueError(f"{name} has shape {shape}; wanted {expected}")


def _natural(**numbers):
    for name, number in numbers.items():
        if not isinstance(number, (int, np.integer)) or number < 1:
            raise ValueError(f"{name} is {number!r}; wanted a positive integer")


def _generator(rng):
    return rng if rng is not None else np.random.default_rng()


def _rows_of(shape, mask):
    """Where a query may attend to at least one key, as numbers with a last axis of one."""
    return np.broadcast_to(mask, shape).any(axis=-1, keepdims=True)


def compute_attention_scores(Q, K, scale=True):
    Q, K = _array(Q), _array(K)
    _expect("Q", Q.shape[-2:], (None, K.shape[-1] if K.ndim > 1 else None))
    _expect("K", K.shape[-2:], (None, Q.shape[-1]))
    products = (np.expand_dims(Q, -2) * np.expand_dims(K, -3)).sum(axis=-1)
    return products * (1.0 / math.sqrt(Q.shape[-1])) if scale else products


def apply_attention_mask(scores, mask, mask_value=-1e9):
    """Infinity times zero is no number, so the sum is formed only where something is masked."""
    scores = _array(scores)
    mask_value = scores.dtype.type(mask_value)
    blocked = 1 - np.broadcast_to(mask, scores.shape).astype(scores.dtype)
    return scores + blocked * mask_value if np.isfinite(mask_value) else np.where(blocked == 1, mask_value, scores)


def attention_weights(scores, axis=-1):
    scores = _array(scores)
    floor = np.finfo(scores.dtype).min
    shifted = scores - np.maximum(scores.max(axis=axis, keepdims=True, initial=floor), floor)
    powers = np.exp(shifted)
    return powers / np.maximum(powers.sum(axis=axis, keepdims=True), np.finfo(scores.dtype).tiny)


def _look_up(scores, V, mask):
    V = _array(V)
    _expect("V", V.shape[-2:], (scores.shape[-1], None))
    if mask is None:
        weights = attention_weights(scores)
    else:
        weights = attention_weights(apply_attention_mask(scores, mask, -np.inf)) * _rows_of(scores.shape, mask)
    return np.matmul(weights, V), weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    return _look_up(compute_attention_scores(Q, K), V, mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    """One matrix for the joined (query, key) pair: [q; k] [W_q; W_k] = q W_q + k W_k."""
    Q, K, v = _array(Q), _array(K), _array(v)
    _expect("v", v.shape, (None,))
    _expect("W_q", np.shape(W_q), (Q.shape[-1], len(v)))
    _expect("W_k", np.shape(W_k), (K.shape[-1], len(v)))
    lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    pairs = *lead, Q.shape[-2], K.shape[-2]
    queries = np.broadcast_to(Q[..., :, None, :], (*pairs, Q.shape[-1]))
    keys = np.broadcast_to(K[..., None, :, :], (*pairs, K.shape[-1]))
    joined = np.concatenate([queries, keys], axis=-1)
    return _look_up(np.tanh(joined @ np.concatenate([W_q, W_k])) @ v, V, mask)


def _per_head(d_model, num_heads):
    _natural(num_heads=num_heads, d_model=d_model)
    if math.gcd(d_model, num_heads) != num_heads:
        raise ValueError(f"num_heads is {num_heads}; wanted a divisor of {d_model}")
    return d_model // num_heads


def split_heads(x, num_heads):
    x = np.asarray(x)
    _expect("x", x.shape, (None, None, None))
    columns = np.arange(x.shape[-1]).reshape(num_heads, _per_head(x.shape[-1], num_heads))
    return np.moveaxis(x[:, :, columns], 2, 1)


def merge_heads(x):
    x = np.asarray(x)
    _expect("x", x.shape, (None, None, None, None))
    return np.concatenate([x[:, head] for head in range(x.shape[1])], axis=2)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """The cache is the backward function itself."""
    Q, K, V, W_O = _array(Q), _array(K), _array(V), _array(W_O)
    _expect("Q", Q.shape, (None, None, None))
    batch, seq_q, d_model = Q.shape
    _expect("K", K.shape, (batch, None, d_model))
    _expect("V", V.shape, K.shape)
    for name, weight in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O)):
        _expect(name, np.shape(weight), (d_model, d_model))
    width, seq_k = _per_head(d_model, num_heads), K.shape[1]
    fused = np.concatenate([W_Q, W_K, W_V], axis=1)
    inputs = np.concatenate([Q, K, V], axis=1)
    parts = np.split(inputs @ fused, [seq_q, seq_q + seq_k], axis=1)
    chosen = [part[:, :, slot * d_model :][:, :, :d_model] for slot, part in enumerate(parts)]
    queries, keys, values = (split_heads(part, num_heads) for part in chosen)
    if mask is not None:
        mask = np.asarray(mask)
        mask = np.stack([mask] * num_heads, axis=1) if mask.ndim == 3 else mask
        np.broadcast_to(mask, (batch, num_heads, seq_q, seq_k))
    heads, weights = scaled_dot_product_attention(queries, keys, values, mask)
    joined = merge_heads(heads)

    def backward(grad_output):
        _expect("grad_output", grad_output.shape, Q.shape)
        grad_heads = split_heads(grad_output @ W_O.T, num_heads)
        row_slope = (grad_heads * heads).sum(axis=-1, keepdims=True)
        slopes = weights * (np.matmul(grad_heads, np.swapaxes(values, -1, -2)) - row_slope) / math.sqrt(width)
        turned = np.swapaxes(slopes, -1, -2)
        by_head = (
            np.matmul(slopes, keys),
            np.matmul(turned, queries),
            np.matmul(np.swapaxes(weights, -1, -2), grad_heads),
        )
        grads = [merge_heads(grad) for grad in by_head]
        results = {
            name: sum(np.matmul(given[b].T, grad[b]) for b in range(batch))
            for name, given, grad in zip(("W_Q", "W_K", "W_V"), (Q, K, V), grads, strict=True)
        }
        results["W_O"] = sum(np.matmul(joined[b].T, grad_output[b]) for b in range(batch))
        blocks = np.split(fused, 3, axis=1)
        return *(grad @ block.T for grad, block in zip(grads, blocks, strict=True)), results

    return joined @ W_O, backward


def multi_head_attention_backward(grad_output, cache):
    return cache(_array(grad_output))


class MultiHeadAttention:
    """Keeps W_Q, W_K and W_V side by side in one (d_model, 3 d_model) matrix."""

    def __init__(self, d_model, num_heads, rng=None):
        _per_head(d_model, num_heads)
        rng = _generator(rng)
        self.d_model, self.num_heads = d_model, num_heads
        self.inward = rng.normal(scale=d_model**-0.5, size=(d_model, 3 * d_model))
        self.outward = rng.normal(scale=d_model**-0.5, size=(d_model, d_model))
        self.tape = self.gradients = None

    def _views(self):
        return dict(zip(("W_Q", "W_K", "W_V"), np.split(self.inward, 3, axis=1), strict=True), W_O=self.outward)

    def forward(self, Q, K, V, mask=None):
        output, self.tape = multi_head_attention_forward(Q, K, V, num_heads=self.num_heads, mask=mask, **self._views())
        return output

    def backward(self, grad_output):
        if self.tape is None:
            raise ValueError("backward was called before forward")
        grad_Q, grad_K, grad_V, self.gradients = self.tape(_array(grad_output))
        return grad_Q, grad_K, grad_V

    def get_params(self):
        return {name: np.array(value) for name, value in self._views().items()}

    def set_params(self, params):
        if set(params) ^ {"W_Q", "W_K", "W_V", "W_O"}:
            raise ValueError(f"params has the keys {sorted(params)}; wanted W_K, W_O, W_Q, W_V")
        for name, value in params.items():
            _expect(name, np.shape(value), (self.d_model, self.d_model))
        self.inward = np.hstack([params["W_Q"], params["W_K"], params["W_V"]])
        self.outward = np.array(params["W_O"])

    def get_gradients(self):
        if self.gradients is None:
            raise ValueError("get_gradients was called before backward")
        return self.gradients


def sinusoidal_encoding(max_length, d_model):
    """Rows follow from each other by turning every (sin, cos) pair by its own angle."""
    _natural(max_length=max_length, d_model=d_model)
    angles = 1.0 / np.power(10000.0, np.arange(0, d_model, 2) / d_model)
    turn = np.cos(angles), np.sin(angles)
    sine, cosine = np.zeros_like(angles), np.ones_like(angles)
    rows = []
    for _ in range(max_length):
        rows.append(np.ravel(np.column_stack([sine, cosine]))[:d_model])
        sine, cosine = sine * turn[0] + cosine * turn[1], cosine * turn[0] - sine * turn[1]
    return np.array(rows)


def add_positional_encoding(x, pe):
    x, pe = _array(x), _array(pe)
    _expect("x", x.shape, (None, None, None))
    _expect("pe", pe.shape, (None, x.shape[2]))
    if len(pe) < x.shape[1]:
        raise ValueError(f"pe has {len(pe)} rows; wanted at least {x.shape[1]}")
    return np.array([sequence + pe[: len(sequence)] for sequence in x]).reshape(x.shape)


def learned_positional_encoding(max_length, d_model, rng=None):
    _natural(max_length=max_length, d_model=d_model)
    return _generator(rng).normal(0.0, 0.02, size=(max_length, d_model))


def create_causal_mask(seq_length):
    _natural(seq_length=seq_length)
    return np.cumsum(np.eye(seq_length, dtype=int), axis=0).astype(bool)


def create_padding_mask(lengths, max_length):
    _natural(max_length=max_length)
    lengths = np.asarray(lengths)
    _expect("lengths", lengths.shape, (None,))
    if lengths.size and (lengths.dtype.kind not in "iu" or lengths.min() < 0 or lengths.max() > max_length):
        raise ValueError(f"lengths are {lengths.tolist()}; wanted integers from 0 to {max_length}")
    real = np.tri(max_length + 1, max_length, k=-1, dtype=bool)
    return real[lengths.astype(int)]


def layer_norm(x, gamma, beta, eps=1e-6):
    x = _array(x)
    _expect("gamma", np.shape(gamma), x.shape[-1:])
    _expect("beta", np.shape(beta), x.shape[-1:])
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (x.std(axis=-1, keepdims=True) + eps) + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    """y = c / (s + eps) with c = x - mean, s = |c| / sqrt(n): the slope of s is c / (n s), none for a constant row."""
    grad_output, x = _array(grad_output), _array(x)
    _expect("grad_output", grad_output.shape, x.shape)
    _expect("gamma", np.shape(gamma), x.shape[-1:])
    centred = x - x.mean(axis=-1, keepdims=True)
    std = x.std(axis=-1, keepdims=True)
    divisor = std + eps
    slope = grad_output * gamma
    grad_std = -(slope * centred).sum(axis=-1, keepdims=True) / divisor**2
    direction = np.divide(centred, std * x.shape[-1], out=np.zeros_like(centred), where=std > 0)
    grad_centred = slope / divisor + grad_std * direction
    grad_x = grad_centred - grad_centred.mean(axis=-1, keepdims=True)
    positions = tuple(range(x.ndim - 1))
    return grad_x, np.sum(grad_output * centred / divisor, axis=positions), np.sum(grad_output, axis=positions)


def _check_dense(x, W1, b1, W2, b2):
    _expect("b1", np.shape(b1), (None,))
    _expect("W1", np.shape(W1), (*x.shape[-1:], len(b1)))
    _expect("W2", np.shape(W2), (len(b1), *x.shape[-1:]))
    _expect("b2", np.shape(b2), (x.shape[-1],))


def feed_forward(x, W1, b1, W2, b2):
    x = _array(x)
    _check_dense(x, W1, b1, W2, b2)
    before = np.matmul(x, W1) + b1
    return np.matmul((before + np.abs(before)) / 2, W2) + b2


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    """A bias is the weight of an input that is always one."""
    grad_output, x = _array(grad_output), _array(x)
    _check_dense(x, W1, b1, W2, b2)
    _expect("grad_output", grad_output.shape, x.shape)
    tokens, slopes = x.reshape(-1, x.shape[-1]), grad_output.reshape(-1, x.shape[-1])
    ones = np.ones((len(tokens), 1))
    extended = np.hstack([tokens, ones])
    before = extended @ np.vstack([W1, b1])
    hidden = np.hstack([np.where(before > 0, before, 0.0), ones])
    second = hidden.T @ slopes
    back = np.heaviside(before, 0.0) * (slopes @ np.transpose(W2))
    first = extended.T @ back
    return (back @ np.transpose(W1)).reshape(x.shape), first[:-1], first[-1], second[:-1], second[-1]


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = _generator(rng)
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        d_ff = d_model * 4 if d_ff is None else d_ff
        _natural(d_ff=d_ff)
        self.W1, self.b1 = rng.normal(scale=d_model**-0.5, size=(d_model, d_ff)), np.zeros(d_ff)
        self.W2, self.b2 = rng.normal(scale=d_ff**-0.5, size=(d_ff, d_model)), np.zeros(d_model)
        self.gamma1 = np.full(d_model, 1.0)
        self.gamma2 = np.full(d_model, 1.0)
        self.beta1 = np.full(d_model, 0.0)
        self.beta2 = np.full(d_model, 0.0)
        self.undo = None

    def forward(self, x, mask=None):
        x = _array(x)
        first = self.attention.forward(x, x, x, mask) + x
        middle = layer_norm(first, self.gamma1, self.beta1)
        second = feed_forward(middle, self.W1, self.b1, self.W2, self.b2) + middle

        def undo(grad_output):
            norm2 = layer_norm_backward(grad_output, second, self.gamma2)
            inner = feed_forward_backward(norm2[0], middle, self.W1, self.b1, self.W2, self.b2)
            norm1 = layer_norm_backward(inner[0] + norm2[0], first, self.gamma1)
            grad_x = norm1[0] + np.sum(self.attention.backward(norm1[0]), axis=0)
            return grad_x, self.attention.get_gradients(), *norm1[1:], *inner[1:], *norm2[1:]

        self.undo = undo
        return layer_norm(second, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self.undo is None:
            raise ValueError("backward was called before forward")
        names = ("attention", "gamma1", "beta1", "W1", "b1", "W2", "b2", "gamma2", "beta2")
        grad_x, *grads = self.undo(_array(grad_output))
        for name, grad in zip(names, grads, strict=True):
            setattr(self, f"grad_{name}", grad)
        return grad_x


def stack_encoder_blocks(x, blocks, mask=None):
    if not blocks:
        return np.array(_array(x))
    first, *others = blocks
    return stack_encoder_blocks(first.forward(x, mask), others, mask)
