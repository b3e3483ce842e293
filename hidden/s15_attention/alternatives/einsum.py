"""Attention in index notation: all contractions are einsums, heads an axis of the weights, Jacobians explicit."""

import numpy as np

_NAMES = "W_Q", "W_K", "W_V", "W_O"


def _floating(*arrays):
    """The arrays, integers made float64."""
    arrays = [np.asarray(array) for array in arrays]
    return [array if array.dtype.kind == "f" else array.astype(np.float64) for array in arrays]


def _sizes(*sizes):
    if any(not isinstance(size, (int, np.integer)) or size < 1 for size in sizes):
        raise ValueError(f"sizes must be positive integers, got {sizes}")


def _scale(width):
    return float(width) ** -0.5


def _normalise(scores, allowed=None, axis=-1):
    """Softmax over the allowed entries; zero where there is none."""
    if allowed is None:
        allowed = scores != -np.inf
    allowed = np.broadcast_to(allowed, scores.shape)
    top = np.max(scores, axis=axis, keepdims=True, where=allowed, initial=np.finfo(scores.dtype).min)
    powers = np.exp(scores - top, where=allowed, out=np.zeros_like(scores))
    total = np.add.reduce(powers, axis=axis, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def compute_attention_scores(Q, K, scale=True):
    Q, K = _floating(Q, K)
    if Q.ndim < 2 or K.ndim < 2 or Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q and K need two axes and the same d_k, not {Q.shape} and {K.shape}")
    factor = _scale(Q.shape[-1]) if scale else 1.0
    return np.einsum("...qd,...kd->...qk", Q * factor, K)


def apply_attention_mask(scores, mask, mask_value=-1e9):
    (scores,) = _floating(scores)
    masked = scores.copy()
    hidden = np.logical_not(np.broadcast_to(mask, scores.shape))
    masked[hidden] = mask_value
    return masked


def attention_weights(scores, axis=-1):
    (scores,) = _floating(scores)
    return _normalise(scores, axis=axis)


def _combine(scores, V, mask):
    if scores.shape[-1] != V.shape[-2]:
        raise ValueError(f"V needs one row for each of the {scores.shape[-1]} keys, not {V.shape[-2]}")
    weights = _normalise(scores, None if mask is None else np.asarray(mask) != 0)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = _floating(Q, K, V)
    return _combine(compute_attention_scores(Q, K), V, mask)


def additive_attention(Q, K, V, W_q, W_k, v, mask=None):
    Q, K, V, W_q, W_k, v = _floating(Q, K, V, W_q, W_k, v)
    if W_q.shape != Q.shape[-1:] + v.shape or W_k.shape != K.shape[-1:] + v.shape or v.ndim != 1:
        raise ValueError(f"W_q {W_q.shape}, W_k {W_k.shape}, v {v.shape} do not fit Q {Q.shape} and K {K.shape}")
    from_queries = np.einsum("...qd,da->...qa", Q, W_q)
    from_keys = np.einsum("...kd,da->...ka", K, W_k)
    hidden = np.tanh(from_queries[..., :, None, :] + from_keys[..., None, :, :])
    return _combine(np.einsum("...qka,a->...qk", hidden, v), V, mask)


def _width(d_model, num_heads):
    _sizes(d_model, num_heads)
    width, rest = divmod(d_model, num_heads)
    if rest:
        raise ValueError(f"num_heads must divide d_model {d_model}, got {num_heads}")
    return width


def split_heads(x, num_heads):
    if np.ndim(x) != 3:
        raise ValueError(f"x must be (batch, seq, d_model), got {np.shape(x)}")
    batch, seq, d_model = np.shape(x)
    return np.einsum("bshd->bhsd", np.reshape(x, (batch, seq, num_heads, _width(d_model, num_heads)))).copy()


def merge_heads(x):
    if np.ndim(x) != 4:
        raise ValueError(f"x must be (batch, heads, seq, d_k), got {np.shape(x)}")
    batch, heads, seq, width = np.shape(x)
    return np.einsum("bhsd->bshd", x).reshape(batch, seq, heads * width)


def multi_head_attention_forward(Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None):
    Q, K, V, W_Q, W_K, W_V, W_O = _floating(Q, K, V, W_Q, W_K, W_V, W_O)
    if not Q.ndim == K.ndim == V.ndim == 3 or Q.shape[0] != K.shape[0] or K.shape != V.shape:
        raise ValueError(f"Q, K, V must be (batch, seq, d_model), got {Q.shape}, {K.shape}, {V.shape}")
    d_model = Q.shape[-1]
    for name, weight in zip(_NAMES, (W_Q, W_K, W_V, W_O), strict=True):
        if weight.shape != (d_model, d_model):
            raise ValueError(f"{name} must be {(d_model, d_model)}, got {weight.shape}")
    inward = d_model, num_heads, _width(d_model, num_heads)
    A_Q, A_K, A_V, A_O = (
        W_Q.reshape(inward),
        W_K.reshape(inward),
        W_V.reshape(inward),
        W_O.reshape(*inward[1:], d_model),
    )
    queries = np.einsum("bqm,mhd->bhqd", Q, A_Q)
    keys = np.einsum("bkm,mhd->bhkd", K, A_K)
    values = np.einsum("bkm,mhd->bhkd", V, A_V)
    scores = np.einsum("bhqd,bhkd->bhqk", queries, keys) * _scale(inward[2])
    if mask is not None:
        mask = np.asarray(mask) != 0
        mask = mask[:, None, :, :] if mask.ndim == 3 else mask
    weights = _normalise(scores, mask)
    output = np.einsum("bhqk,bhkd,hdm->bqm", weights, values, A_O, optimize=True)
    return output, (Q, K, V, A_Q, A_K, A_V, A_O, queries, keys, values, weights)


def multi_head_attention_backward(grad_output, cache):
    Q, K, V, A_Q, A_K, A_V, A_O, queries, keys, values, weights = cache
    (grad_output,) = _floating(grad_output)
    if grad_output.shape != Q.shape:
        raise ValueError(f"grad_output must be {Q.shape}, got {grad_output.shape}")
    flat = Q.shape[-1], Q.shape[-1]
    heads = np.einsum("bhqk,bhkd->bhqd", weights, values)
    grad_heads = np.einsum("bqm,hdm->bhqd", grad_output, A_O)
    identity = np.eye(weights.shape[-1])
    jacobian = np.einsum("bhqk,kj->bhqkj", weights, identity) - np.einsum("bhqk,bhqj->bhqkj", weights, weights)
    slopes = np.einsum("bhqd,bhjd,bhqkj->bhqk", grad_heads, values, jacobian, optimize=True) * _scale(A_Q.shape[-1])
    grad_queries = np.einsum("bhqk,bhkd->bhqd", slopes, keys)
    grad_keys = np.einsum("bhqk,bhqd->bhkd", slopes, queries)
    grad_values = np.einsum("bhqk,bhqd->bhkd", weights, grad_heads)
    grads = {
        "W_Q": np.einsum("bqm,bhqd->mhd", Q, grad_queries).reshape(flat),
        "W_K": np.einsum("bkm,bhkd->mhd", K, grad_keys).reshape(flat),
        "W_V": np.einsum("bkm,bhkd->mhd", V, grad_values).reshape(flat),
        "W_O": np.einsum("bhqd,bqm->hdm", heads, grad_output).reshape(flat),
    }
    back = "bhsd,mhd->bsm"
    inputs = (np.einsum(back, g, A) for g, A in ((grad_queries, A_Q), (grad_keys, A_K), (grad_values, A_V)))
    return (*inputs, grads)


class MultiHeadAttention:
    """The four matrices live in one array of shape (4, d_model, d_model)."""

    def __init__(self, d_model, num_heads, rng=None):
        _width(d_model, num_heads)
        rng = np.random.default_rng() if rng is None else rng
        limit = np.sqrt(3.0 / d_model)
        self.matrices = rng.uniform(-limit, limit, size=(4, d_model, d_model))
        self.gradients = None
        self.num_heads = num_heads
        self.cache = ()

    def forward(self, Q, K, V, mask=None):
        output, self.cache = multi_head_attention_forward(Q, K, V, *self.matrices, self.num_heads, mask)
        return output

    def backward(self, grad_output):
        if not self.cache:
            raise ValueError("there is no forward whose gradient could be taken")
        *inputs, grads = multi_head_attention_backward(grad_output, self.cache)
        self.gradients = np.stack([grads[name] for name in _NAMES])
        return tuple(inputs)

    def get_params(self):
        return dict(zip(_NAMES, self.matrices.copy(), strict=True))

    def set_params(self, params):
        if params.keys() != set(_NAMES):
            raise ValueError(f"params must have the keys {_NAMES}, got {list(params)}")
        shapes = {name: np.shape(params[name]) for name in _NAMES}
        if set(shapes.values()) != {self.matrices.shape[1:]}:
            raise ValueError(f"every weight must be {self.matrices.shape[1:]}, got {shapes}")
        self.matrices = np.stack([params[name] for name in _NAMES])

    def get_gradients(self):
        if self.gradients is None:
            raise ValueError("there is no backward whose gradients could be given")
        return dict(zip(_NAMES, self.gradients.copy(), strict=True))


def sinusoidal_encoding(max_length, d_model):
    _sizes(max_length, d_model)
    pairs = (d_model + 1) // 2
    speeds = np.exp(np.arange(pairs) * (-2.0 * np.log(10000.0) / d_model))
    turns = np.exp(1j * np.einsum("p,i->pi", np.arange(max_length, dtype=float), speeds))
    return np.stack([turns.imag, turns.real], axis=-1).reshape(max_length, 2 * pairs)[:, :d_model].copy()


def add_positional_encoding(x, pe):
    x, pe = _floating(x, pe)
    if x.ndim != 3 or pe.ndim != 2:
        raise ValueError(f"x must be (batch, seq, d_model) and pe (max_length, d_model), got {x.shape} and {pe.shape}")
    if x.shape[1] > pe.shape[0] or x.shape[2] != pe.shape[1]:
        raise ValueError(f"pe {pe.shape} is too short or of another d_model for x {x.shape}")
    return x + np.einsum("b,sd->bsd", np.ones(x.shape[0], pe.dtype), pe[: x.shape[1]])


def learned_positional_encoding(max_length, d_model, rng=None):
    _sizes(max_length, d_model)
    rng = np.random.default_rng() if rng is None else rng
    return np.einsum("sd,->sd", rng.standard_normal((max_length, d_model)), 0.02)


def create_causal_mask(seq_length):
    _sizes(seq_length)
    position = np.arange(seq_length)
    return np.subtract.outer(position, position) >= 0


def create_padding_mask(lengths, max_length):
    _sizes(max_length)
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or (lengths.size and lengths.dtype.kind not in "iu"):
        raise ValueError(f"lengths must be integers of shape (batch,), got {lengths}")
    if np.any((lengths < 0) | (lengths > max_length)):
        raise ValueError(f"lengths must lie in 0 .. {max_length}, got {lengths}")
    return np.greater.outer(lengths, np.arange(max_length))


def _rows(x):
    """All leading axes as one, n."""
    return x.reshape(-1, x.shape[-1])


def _centred(x, eps):
    mean = np.einsum("...d->...", x)[..., None] / x.shape[-1]
    centred = x - mean
    inverse = (np.einsum("...d,...d->...", centred, centred) / x.shape[-1] + eps) ** -0.5
    return centred, inverse


def layer_norm(x, gamma, beta, eps=1e-6):
    x, gamma, beta = _floating(x, gamma, beta)
    if not x.shape[-1:] == gamma.shape == beta.shape:
        raise ValueError(f"gamma and beta must be {x.shape[-1:]}, got {gamma.shape} and {beta.shape}")
    centred, inverse = _centred(x, eps)
    return np.einsum("...d,...,d->...d", centred, inverse, gamma) + beta


def layer_norm_backward(grad_output, x, gamma, eps=1e-6):
    grad_output, x, gamma = _floating(grad_output, x, gamma)
    if grad_output.shape != x.shape or gamma.shape != x.shape[-1:]:
        raise ValueError(f"grad_output must be {x.shape}, got {grad_output.shape}; gamma {gamma.shape}")
    centred, inverse = _centred(x, eps)
    width = x.shape[-1]
    outer = np.einsum("...i,...j->...ij", centred, centred) * (inverse**3 / width)[..., None, None]
    jacobian = (np.eye(width) - 1.0 / width) * inverse[..., None, None] - outer
    grad_x = np.einsum("...i,i,...ij->...j", grad_output, gamma, jacobian)
    slope, normal = _rows(grad_output), _rows(centred * inverse[..., None])
    return grad_x, np.einsum("nd,nd->d", slope, normal), np.einsum("nd->d", slope)


def _hidden(x, W1, b1, W2, b2):
    """The first layer before its ReLU."""
    expected = x.shape[-1:] + b1.shape, b1.shape + x.shape[-1:], x.shape[-1:]
    if (W1.shape, W2.shape, b2.shape) != expected:
        raise ValueError(f"W1, W2 and b2 must be {expected}, got {W1.shape}, {W2.shape} and {b2.shape}")
    return np.einsum("...d,df->...f", x, W1) + b1


def feed_forward(x, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = _floating(x, W1, b1, W2, b2)
    before = _hidden(x, W1, b1, W2, b2)
    return np.einsum("...f,...f,fd->...d", before, (before > 0).astype(before.dtype), W2) + b2


def feed_forward_backward(grad_output, x, W1, b1, W2, b2):
    grad_output, x, W1, b1, W2, b2 = _floating(grad_output, x, W1, b1, W2, b2)
    before = _hidden(x, W1, b1, W2, b2)
    if grad_output.shape != x.shape:
        raise ValueError(f"grad_output must be {x.shape}, got {grad_output.shape}")
    gate = (before > 0).astype(before.dtype)
    slope = np.einsum("...d,fd,...f->...f", grad_output, W2, gate)
    return (
        np.einsum("...f,df->...d", slope, W1),
        np.einsum("nd,nf->df", _rows(x), _rows(slope)),
        np.einsum("nf->f", _rows(slope)),
        np.einsum("nf,nf,nd->fd", _rows(before), _rows(gate), _rows(grad_output)),
        np.einsum("nd->d", _rows(grad_output)),
    )


class TransformerEncoderBlock:
    def __init__(self, d_model, num_heads, d_ff=None, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        d_ff = 4 * d_model if d_ff is None else d_ff
        _sizes(d_model, d_ff)
        self.attention = MultiHeadAttention(d_model, num_heads, rng)
        self.gamma1, self.beta1 = np.ones(d_model), np.zeros(d_model)
        self.W1, self.b1 = rng.normal(size=(d_model, d_ff)) * _scale(d_model), np.zeros(d_ff)
        self.W2, self.b2 = rng.normal(size=(d_ff, d_model)) * _scale(d_ff), np.zeros(d_model)
        self.gamma2, self.beta2 = np.ones(d_model), np.zeros(d_model)
        self.cache = None

    def forward(self, x, mask=None):
        (x,) = _floating(x)
        first = np.einsum("i...->...", np.stack([x, self.attention.forward(x, x, x, mask)]))
        middle = layer_norm(first, self.gamma1, self.beta1)
        second = middle + feed_forward(middle, self.W1, self.b1, self.W2, self.b2)
        self.cache = first, middle, second
        return layer_norm(second, self.gamma2, self.beta2)

    def backward(self, grad_output):
        if self.cache is None:
            raise ValueError("there is no forward whose gradient could be taken")
        first, middle, second = self.cache
        grad, self.grad_gamma2, self.grad_beta2 = layer_norm_backward(grad_output, second, self.gamma2)
        inner = feed_forward_backward(grad, middle, self.W1, self.b1, self.W2, self.b2)
        for name, value in zip(("W1", "b1", "W2", "b2"), inner[1:], strict=True):
            setattr(self, f"grad_{name}", value)
        grad, self.grad_gamma1, self.grad_beta1 = layer_norm_backward(grad + inner[0], first, self.gamma1)
        through_attention = self.attention.backward(grad)
        self.grad_attention = self.attention.get_gradients()
        return np.einsum("i...->...", np.stack([grad, *through_attention]))


def stack_encoder_blocks(x, blocks, mask=None):
    x = _floating(x)[0].copy()
    for block in blocks:
        x = block.forward(x, mask)
    return x
