"""Attention on buffers: each function copies its inputs once, then works in place: out=, +=, *=."""

import numpy as np

KEYS = ["W_Q", "W_K", "W_V", "W_O"]


def _fail(name, value, expected):
    raise ValueError(f"{name}: got {value}, expected {expected}")


def _own(array):
    """A fresh floating point copy that may be overwritten."""
    array = np.array(array)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(float)


def _count(name, value):
    if not isinstance(value, (int, np.integer)) or value <= 0:
        _fail(name, value, "a positive integer")


def _head_size(d_model, num_heads):
    _count("d_model", d_model)
    _count("num_heads", num_heads)
    if d_model // num_heads * num_heads != d_model:
        _fail("num_heads", num_heads, f"a divisor of {d_model}")
    return d_model // num_heads


def compute_attention_scores(Q, K, scale=True):
    Q, K = _own(Q), _own(K)
    if Q.ndim < 2 or K.ndim < 2 or Q.shape[-1] != K.shape[-1]:
        _fail("K", K.shape, f"(..., seq_k, d_k) with the d_k of {Q.shape}")
    if scale:
        Q /= float(np.sqrt(Q.shape[-1]))
    return Q @ np.moveaxis(K, -2, -1)


def apply_attention_mask(scores, mask, mask_value=-1e9):
    scores = _own(scores)
    if np.broadcast(scores, mask).shape != scores.shape:
        _fail("mask", np.shape(mask), f"one that broadcasts to {scores.shape}")
    np.copyto(scores, mask_value, where=np.equal(mask, 0))
    return scores


def attention_weights(scores, axis=-1):
    weights = _own(scores)
    weights -= np.nan_to_num(np.amax(weights, axis=axis, keepdims=True, initial=-np.inf), neginf=0.0)
    np.exp(weights, out=weights)
    total = weights.sum(axis=axis, keepdims=True)
    total += total == 0
    weights /= total
    return weights


def _pool(scores, V, mask):
    V = _own(V)
    if V.ndim < 2 or V.shape[-2] != scores.shape[-1]:
        _fail("V", V.shape, f"(..., {scores.shape[-1]}, d_v)")
    if mask is not None:
        scores = apply_attention_mask(scores, mask, -np.inf)
    weights = attention_weights(scores)
    return weights @ V, weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    return _pool(compute_attention_scores(Q, K), V, mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, W_q, W_k, v = _own(Q), _own(K), _own(W_q), _own(W_k), _own(v)
    if v.ndim != 1 or W_q.shape != (Q.shape[-1], len(v)) or W_k.shape != (K.shape[-1], len(v)):
        _fail("W_q, W_k, v", (W_q.shape, W_k.shape, v.shape), f"what fits Q {Q.shape} and K {K.shape}")
    hidden = np.expand_dims(Q @ W_q, -2) + np.expand_dims(K @ W_k, -3)
    np.tanh(hidden, out=hidden)
    hidden *= v
    return _pool(hidden.sum(axis=-1), V, mask)


def split_heads(x, num_heads):
    if np.ndim(x) != 3:
        _fail("x", np.shape(x), "(batch, seq, d_model)")
    batch, seq, d_model = np.shape(x)
    size = _head_size(d_model, num_heads)
    heads = np.empty((batch, num_heads, seq, size), np.asarray(x).dtype)
    for head in range(num_heads):
        heads[:, head] = np.asarray(x)[:, :, head * size : (head + 1) * size]
    return heads


def merge_heads(x):
    if np.ndim(x) != 4:
        _fail("x", np.shape(x), "(batch, heads, seq, d_k)")
    batch, heads, seq, size = np.shape(x)
    merged = np.empty((batch, seq, heads, size), np.asarray(x).dtype)
    merged[...] = np.swapaxes(x, 1, 2)
    return merged.reshape(batch, seq, heads * size)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    """The cache is a list whose arrays backward may use but not overwrite, so that it can be called twice."""
    inputs, weights = [_own(Q), _own(K), _own(V)], [_own(W_Q), _own(W_K), _own(W_V), _own(W_O)]
    shape_Q, shape_K, shape_V = (array.shape for array in inputs)
    if len(shape_Q) != 3 or len(shape_K) != 3 or shape_K != shape_V or shape_Q[::2] != shape_K[::2]:
        _fail("Q, K, V", (shape_Q, shape_K, shape_V), "(batch, seq, d_model), K and V alike")
    for name, weight in zip(KEYS, weights, strict=True):
        if weight.shape != (shape_Q[2], shape_Q[2]):
            _fail(name, weight.shape, (shape_Q[2], shape_Q[2]))
    size = _head_size(shape_Q[2], num_heads)
    heads = [split_heads(x @ W, num_heads) for x, W in zip(inputs, weights[:3], strict=True)]
    heads[0] /= float(np.sqrt(size))
    scores = heads[0] @ heads[1].swapaxes(2, 3)
    if mask is not None:
        mask = np.array(mask)
        if mask.ndim == 3:
            mask = np.expand_dims(mask, 1)
        scores = apply_attention_mask(scores, mask, -np.inf)
    attention = attention_weights(scores)
    joined = merge_heads(attention @ heads[2])
    return joined @ weights[3], [inputs, weights, heads, attention, joined, num_heads]


def _flat(array):
    return array.reshape(-1, array.shape[-1])


def multi_head_attention_backward(grad_output, cache):
    inputs, weights, heads, attention, joined, num_heads = cache
    grad_output = _own(grad_output)
    if grad_output.shape != joined.shape:
        _fail("grad_output", grad_output.shape, joined.shape)
    grad_heads = split_heads(grad_output @ weights[3].T, num_heads)
    slopes = grad_heads @ heads[2].swapaxes(2, 3)
    slopes *= attention
    slopes -= attention * slopes.sum(axis=-1, keepdims=True)
    grad_queries = slopes @ heads[1]
    grad_queries /= float(np.sqrt(heads[0].shape[-1]))
    projected = [grad_queries, slopes.swapaxes(2, 3) @ heads[0], attention.swapaxes(2, 3) @ grad_heads]
    grad_inputs, grad_weights = [], dict.fromkeys(KEYS)
    for name, given, weight, grad in zip(KEYS[:3], inputs, weights[:3], projected, strict=True):
        grad = merge_heads(grad)
        grad_weights[name] = np.zeros_like(weight)
        for example, slope in zip(given, grad, strict=True):
            grad_weights[name] += example.T @ slope
        grad_inputs.append(np.matmul(grad, weight.T, out=np.empty(given.shape, grad.dtype)))
    grad_weights["W_O"] = _flat(joined).T @ _flat(grad_output)
    return *grad_inputs, grad_weights


class MultiHeadAttention:
    """Parameters and gradients are buffers allotted once; set_params and backward overwrite them."""

    def __init__(self, d_model, num_heads, rng=None):
        _head_size(d_model, num_heads)
        rng = np.random.default_rng() if rng is None else rng
        self.num_heads = num_heads
        self.params = {name: np.empty((d_model, d_model)) for name in KEYS}
        self.grads = {name: np.zeros((d_model, d_model)) for name in KEYS}
        for buffer in self.params.values():
            rng.standard_normal(out=buffer)
            buffer *= d_model**-0.5
        self.cache = []
        self.ready = False

    def forward(self, Q, K, V, mask=None):
        output, self.cache[:] = multi_head_attention_forward(
            Q, K, V, *(self.params[name] for name in KEYS), self.num_heads, mask
        )
        return output

    def backward(self, grad_output):
        if not self.cache:
            raise RuntimeError("backward: got no forward before it, expected one")
        *grad_inputs, grads = multi_head_attention_backward(grad_output, self.cache)
        for name in KEYS:
            self.grads[name][...] = grads[name]
        self.ready = True
        return tuple(grad_inputs)

    def get_params(self):
        return {name: _own(self.params[name]) for name in KEYS}

    def set_params(self, params):
        if sorted(params) != sorted(KEYS):
            _fail("params", sorted(params), sorted(KEYS))
        for name in KEYS:
            if np.shape(params[name]) != self.params[name].shape:
                _fail(name, np.shape(params[name]), self.params[name].shape)
        for name in KEYS:
            self.params[name][...] = params[name]

    def get_gradients(self):
        if not self.ready:
            raise RuntimeError("get_gradients: got no backward before it, expected one")
        return {name: _own(self.grads[name]) for name in KEYS}


def sinusoidal_encoding(max_length, d_model):
    _count("max_length", max_length)
    _count("d_model", d_model)
    encoding = np.empty((max_length, d_model))
    encoding[...] = np.arange(max_length)[:, np.newaxis]
    frequency = 1.0
    for column in range(0, d_model, 2):
        pair = encoding[:, column : column + 2]
        pair *= frequency
        np.sin(pair[:, :1], out=pair[:, :1])
        np.cos(pair[:, 1:], out=pair[:, 1:])
        frequency = 10000.0 ** (-(column + 2) / d_model)
    return encoding


def add_positional_encoding(x, pe):
    x, pe = _own(x), np.asarray(pe)
    if x.ndim != 3 or pe.ndim != 2 or len(pe) < x.shape[1] or pe.shape[1] != x.shape[2]:
        _fail("pe", pe.shape, f"at least the last two axes of {x.shape}")
    x += pe[: x.shape[1]]
    return x


def learned_positional_encoding(max_length, d_model, rng=None):
    _count("max_length", max_length)
    _count("d_model", d_model)
    table = np.empty((max_length, d_model))
    (np.random.default_rng() if rng is None else rng).standard_normal(out=table)
    table *= 0.02
    return table


def create_causal_mask(seq_length):
    _count("seq_length", seq_length)
    mask = np.ones((seq_length, seq_length), dtype=bool)
    mask[np.triu_indices(seq_length, k=1)] = False
    return mask


def create_padding_mask(lengths, max_length):
    _count("max_length", max_length)
    lengths = np.array(lengths)
    if lengths.ndim != 1 or (lengths.size and not np.issubdtype(lengths.dtype, np.integer)):
        _fail("lengths", lengths, "integers, one for each sequence")
    mask = np.ones((len(lengths), max_length), dtype=bool)
    for row, length in enumerate(lengths):
        if length not in range(max_length + 1):
            _fail("lengths", length, f"0 to {max_length}")
        mask[row, length:] = False
    return mask


def _standardize(x, eps):
    """Overwrites x with (x - mean) / deviation; returns the deviation."""
    x -= x.mean(axis=-1, keepdims=True)
    deviation = np.square(x).mean(axis=-1, keepdims=True)
    deviation += eps
    np.sqrt(deviation, out=deviation)
    x /= deviation
    return deviation


def layer_norm(x, gamma, beta, eps=1e-6):
    x = _own(x)
    if not np.shape(gamma) == np.shape(beta) == x.shape[-1:]:
        _fail("gamma and beta", (np.shape(gamma), np.shape(beta)), x.shape[-1:])
    _standardize(x, eps)
    x *= gamma
    x += beta
    return x


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    """Take away from the slope what lies along the constant direction and along the normalised input."""
    x, grad = _own(x), _own(grad_output)
    if grad.shape != x.shape or np.shape(gamma) != x.shape[-1:]:
        _fail("grad_output and gamma", (grad.shape, np.shape(gamma)), (x.shape, x.shape[-1:]))
    deviation = _standardize(x, eps)
    grad_gamma, grad_beta = _flat(grad * x).sum(axis=0), _flat(grad).sum(axis=0)
    grad *= gamma
    along = np.mean(grad * x, axis=-1, keepdims=True)
    grad -= grad.mean(axis=-1, keepdims=True)
    x *= along
    grad -= x
    grad /= deviation
    return grad, grad_gamma, grad_beta


def _hidden(x, W1, b1, W2, b2):
    x, W1, b1 = np.asarray(x), np.asarray(W1), np.asarray(b1)
    fits = W1.shape == x.shape[-1:] + b1.shape and np.shape(W2) == b1.shape + x.shape[-1:]
    if not fits or np.shape(b2) != x.shape[-1:]:
        shapes = W1.shape, b1.shape, np.shape(W2), np.shape(b2)
        _fail("W1, b1, W2, b2", shapes, f"what fits x {x.shape}")
    hidden = x @ W1
    hidden += b1
    np.maximum(hidden, 0, out=hidden)
    return hidden


def feed_forward(x, W1, b1, W2, b2):
    output = _hidden(x, W1, b1, W2, b2) @ W2
    output += b2
    return output


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    hidden = _hidden(x, W1, b1, W2, b2)
    if np.shape(grad_output) != np.shape(x):
        _fail("grad_output", np.shape(grad_output), np.shape(x))
    grad_output = _own(grad_output)
    grad_W2 = _flat(hidden).T @ _flat(grad_output)
    slope = grad_output @ np.transpose(W2)
    slope *= np.sign(hidden)
    grads = slope @ np.transpose(W1), _flat(_own(x)).T @ _flat(slope), _flat(slope).sum(axis=0)
    return *grads, grad_W2, _flat(grad_output).sum(axis=0)


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        if d_ff is None:
            d_ff = 4 * d_model
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        _count("d_ff", d_ff)
        self.W1, self.W2 = rng.standard_normal((d_model, d_ff)), rng.standard_normal((d_ff, d_model))
        self.W1 *= d_model**-0.5
        self.W2 *= d_ff**-0.5
        self.gamma1, self.beta1, self.b1 = np.ones(d_model), np.zeros(d_model), np.zeros(d_ff)
        self.gamma2, self.beta2, self.b2 = np.ones(d_model), np.zeros(d_model), np.zeros(d_model)
        self.tape = []

    def forward(self, x, mask=None):
        stream = _own(x)
        stream += self.attention.forward(x, x, x, mask)
        before_first = stream.copy()
        stream[...] = layer_norm(stream, self.gamma1, self.beta1)
        middle = stream.copy()
        stream += feed_forward(stream, self.W1, self.b1, self.W2, self.b2)
        self.tape = [before_first, middle, stream]
        return layer_norm(stream, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if not self.tape:
            raise RuntimeError("backward: got no forward before it, expected one")
        before_first, middle, before_second = self.tape
        grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, before_second, self.gamma2)
        inner, self.grad_W1, self.grad_b1, self.grad_W2, self.grad_b2 = feed_forward_backward(
            grad, middle, self.W1, self.b1, self.W2, self.b2
        )
        grad += inner
        grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad, before_first, self.gamma1)
        for part in self.attention.backward(grad.copy()):
            grad += part
        self.grad_attention = self.attention.get_gradients()
        return grad


def stack_encoder_blocks(x, blocks, mask=None):
    stream = _own(x)
    for block in blocks:
        stream[...] = block.forward(stream, mask)
    return stream
