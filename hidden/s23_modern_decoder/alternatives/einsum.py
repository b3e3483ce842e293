"""A modern decoder of einsum: keys and values are repeated for their heads, and a cache is cut from what was joined."""

import sys

import numpy as np

from stages.s05_optimization.optimizers import clip_by_global_norm
from stages.s18_decoder_and_generation.decoder import cross_entropy_loss


def _whole(value, name):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: {value!r}, expected a whole number from 1 on")
    return int(value)


def _same(grad, shape, name="grad_output"):
    if np.shape(grad) != tuple(shape):
        raise ValueError(f"{name}: {np.shape(grad)}, expected {shape}")


def rms_norm_forward(x, gamma, eps=1e-6):
    if gamma.ndim != 1 or x.shape[-1] != gamma.size:
        raise ValueError("gamma: expected one number for each feature of x")
    scale = (np.einsum("...d,...d->...", x, x) / x.shape[-1] + eps) ** -0.5
    scale = scale.astype(x.dtype)[..., None]
    return x * scale * gamma, {"x": x, "scale": scale, "gamma": gamma}


def rms_norm_backward(grad_output, cache):
    x, scale, gamma = cache["x"], cache["scale"], cache["gamma"]
    _same(grad_output, x.shape)
    weighted = grad_output * gamma
    inner = np.einsum("...d,...d->...", weighted, x)[..., None]
    grad_x = weighted * scale - x * scale**3 * inner / x.shape[-1]
    return grad_x, np.einsum("nd,nd->d", grad_output.reshape(-1, gamma.size), (x * scale).reshape(-1, gamma.size))


def rotary_forward(x, positions, base=10000.0):
    if x.ndim < 2 or x.shape[-1] % 2 == 1:
        raise ValueError("x: expected (..., seq, d) with an even d")
    rates = np.power(float(base), -2.0 * np.arange(x.shape[-1] // 2) / x.shape[-1])
    angles = np.broadcast_to(positions, x.shape[:-1])[..., np.newaxis] * rates
    rotation = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], axis=-1)
    rotation = rotation.reshape(*angles.shape, 2, 2).astype(x.dtype)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return np.einsum("...ij,...j->...i", rotation, pairs).reshape(x.shape)


def rotary_backward(grad_output, positions, base=10000.0):
    return rotary_forward(grad_output, np.multiply(positions, -1), base)


def scale_positions(positions, trained_length):
    trained_length = _whole(trained_length, "trained_length")
    needed = int(np.max(positions)) + 1
    if needed <= trained_length:
        return np.asarray(positions, dtype=float)
    return np.asarray(positions) / (needed / trained_length)


def grouped_query_attention_forward(Q, K, V, window=None):
    if min(Q.ndim, K.ndim, V.ndim) < 3 or K.shape[:-1] != V.shape[:-1] or Q.shape[:-3] != K.shape[:-3]:
        raise ValueError("Q, K, V: shapes do not fit")
    if Q.shape[-1] != K.shape[-1] or Q.shape[-3] % K.shape[-3] or Q.shape[-2] > K.shape[-2]:
        raise ValueError("Q, K: features, heads or positions do not fit")
    times = Q.shape[-3] // K.shape[-3]
    many_K, many_V = np.repeat(K, times, axis=-3), np.repeat(V, times, axis=-3)
    scores = np.einsum("...hid,...hjd->...hij", Q, many_K) * Q.shape[-1] ** -0.5
    allowed = np.tri(Q.shape[-2], K.shape[-2], K.shape[-2] - Q.shape[-2], dtype=bool)
    if window is not None:
        allowed &= ~np.tri(Q.shape[-2], K.shape[-2], K.shape[-2] - Q.shape[-2] - _whole(window, "window"), dtype=bool)
    scores[..., ~allowed] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("...hij,...hjd->...hid", weights, many_V), (Q, many_K, many_V, weights, times)


def grouped_query_attention_backward(grad_output, cache):
    Q, many_K, many_V, weights, times = cache
    _same(grad_output, (*Q.shape[:-1], many_V.shape[-1]))
    output = np.einsum("...hij,...hjd->...hid", weights, many_V)
    grad_scores = np.einsum("...hid,...hjd->...hij", grad_output, many_V)
    grad_scores -= np.einsum("...hid,...hid->...hi", grad_output, output)[..., None]
    grad_scores *= weights * Q.shape[-1] ** -0.5
    grad_Q = np.einsum("...hij,...hjd->...hid", grad_scores, many_K)
    grad_K = np.einsum("...hij,...hid->...hjd", grad_scores, Q)
    grad_V = np.einsum("...hij,...hid->...hjd", weights, grad_output)
    gathered = [x.reshape(*x.shape[:-3], -1, times, *x.shape[-2:]).sum(axis=-3) for x in (grad_K, grad_V)]
    return (grad_Q, *gathered)


def _sigmoid(z):
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1, small) / (1 + small)


def swiglu_forward(x, W_gate, W_up, W_down):
    if W_gate.shape != W_up.shape or x.shape[-1] != len(W_gate) or W_gate.shape[1] != len(W_down):
        raise ValueError("W_gate, W_up, W_down: shapes do not fit x")
    gate, up = np.einsum("...d,dh->...h", x, W_gate), np.einsum("...d,dh->...h", x, W_up)
    sigmoid = _sigmoid(gate)
    return np.einsum("...h,ho->...o", gate * sigmoid * up, W_down), (x, W_gate, W_up, W_down, gate, up, sigmoid)


def swiglu_backward(grad_output, cache):
    x, W_gate, W_up, W_down, gate, up, sigmoid = cache
    _same(grad_output, (*x.shape[:-1], W_down.shape[1]))
    silu = gate * sigmoid
    grad_hidden = np.einsum("...o,ho->...h", grad_output, W_down)
    grad_gate, grad_up = grad_hidden * up * (sigmoid + silu * (1 - sigmoid)), grad_hidden * silu
    grad_x = np.einsum("...h,dh->...d", grad_gate, W_gate) + np.einsum("...h,dh->...d", grad_up, W_up)
    pairs = ((x, grad_gate), (x, grad_up), (silu * up, grad_output))
    flat = [[side.reshape(-1, side.shape[-1]) for side in pair] for pair in pairs]
    return grad_x, *(np.einsum("nd,nh->dh", *pair) for pair in flat)


class RollingCache:
    def __init__(self, window=None):
        self.window = window if window is None else _whole(window, "window")
        self.length, self.keys, self.values = 0, None, None

    def append(self, keys, values):
        if keys.ndim != 4 or values.ndim != 4 or keys.shape[:-1] != values.shape[:-1]:
            raise ValueError("keys, values: shapes do not fit")
        if self.length:
            keys = np.concatenate([self.keys, keys], axis=2)
            values = np.concatenate([self.values, values], axis=2)
        self.length += keys.shape[2] - (self.keys.shape[2] if self.length else 0)
        first = 0 if self.window is None else max(0, keys.shape[2] - self.window)
        self.keys, self.values = keys[:, :, first:].copy(), values[:, :, first:].copy()
        return keys, values


def _set(held, given):
    if set(held) != set(given) or any(np.shape(given[name]) != held[name].shape for name in held):
        raise ValueError("params: expected the names and shapes of params")
    return dict(given)


class ModernBlock:
    def __init__(self, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0):
        for name, value in (("dim", dim), ("num_heads", num_heads), ("num_kv_heads", num_kv_heads), ("hidden", hidden)):
            _whole(value, name)
        if dim % num_heads or dim // num_heads % 2 or num_heads % num_kv_heads:
            raise ValueError("num_heads, num_kv_heads: do not divide")
        if window is not None:
            _whole(window, "window")
        rng = rng or np.random.default_rng()
        size = dim // num_heads
        self.dim, self.size, self.window, self.base = dim, size, window, base
        shapes = {
            "attention.query_weights": (dim, dim),
            "attention.key_weights": (dim, size * num_kv_heads),
            "attention.value_weights": (dim, size * num_kv_heads),
            "attention.output_weights": (dim, dim),
            "mlp.gate_weights": (dim, hidden),
            "mlp.up_weights": (dim, hidden),
            "mlp.down_weights": (hidden, dim),
        }
        self._params = {name: rng.normal(0, shape[0] ** -0.5, shape) for name, shape in shapes.items()}
        self._params |= {"norm1.gamma": np.ones(dim), "norm2.gamma": np.ones(dim)}
        self.grads, self.kept = {}, None

    @property
    def params(self):
        return self._params

    @params.setter
    def params(self, given):
        self._params = _set(self._params, given)

    def _project(self, x, name):
        weights = self._params[f"attention.{name}_weights"]
        return np.einsum("bsd,dhk->bhsk", x, weights.reshape(self.dim, -1, self.size))

    def _pass(self, x, cache):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError(f"x: {x.shape}, expected (batch, seq, {self.dim})")
        places = cache.length + np.arange(x.shape[1])
        normed, first = rms_norm_forward(x, self._params["norm1.gamma"])
        Q = rotary_forward(self._project(normed, "query"), places, self.base)
        K = rotary_forward(self._project(normed, "key"), places, self.base)
        K, V = cache.append(K, self._project(normed, "value"))
        heads, attention = grouped_query_attention_forward(Q, K, V, self.window)
        out = self._params["attention.output_weights"].reshape(-1, self.size, self.dim)
        middle = x + np.einsum("bhsk,hkd->bsd", heads, out)
        again, second = rms_norm_forward(middle, self._params["norm2.gamma"])
        weights = [self._params[f"mlp.{name}_weights"] for name in ("gate", "up", "down")]
        added, mlp = swiglu_forward(again, *weights)
        return middle + added, (normed, first, heads, attention, second, mlp)

    def forward(self, x):
        output, self.kept = self._pass(x, RollingCache(self.window))
        return output

    def forward_with_cache(self, x, cache=None):
        if cache is None:
            cache = RollingCache(self.window)
        return self._pass(x, cache)[0], cache

    def backward(self, grad_output):
        if self.kept is None:
            raise RuntimeError("backward: call forward first")
        normed, first, heads, attention, second, mlp = self.kept
        _same(grad_output, normed.shape)
        p, grads = self._params, {}
        grad, *of_mlp = swiglu_backward(grad_output, mlp)
        grads |= zip((f"mlp.{name}_weights" for name in ("gate", "up", "down")), of_mlp, strict=True)
        grad, grads["norm2.gamma"] = rms_norm_backward(grad, second)
        grad_middle = grad_output + grad
        out = p["attention.output_weights"]
        grads["attention.output_weights"] = np.einsum("bhsk,bsd->hkd", heads, grad_middle).reshape(out.shape)
        grad_heads = np.einsum("bsd,hkd->bhsk", grad_middle, out.reshape(-1, self.size, self.dim))
        places = np.arange(normed.shape[1])
        grad_Q, grad_K, grad_V = grouped_query_attention_backward(grad_heads, attention)
        grad_Q, grad_K = rotary_backward(grad_Q, places, self.base), rotary_backward(grad_K, places, self.base)
        grad_normed = 0
        for name, of_heads in (("query", grad_Q), ("key", grad_K), ("value", grad_V)):
            weights = p[f"attention.{name}_weights"]
            grads[f"attention.{name}_weights"] = np.einsum("bsd,bhsk->dhk", normed, of_heads).reshape(weights.shape)
            cut = weights.reshape(self.dim, -1, self.size)
            grad_normed = grad_normed + np.einsum("bhsk,dhk->bsd", of_heads, cut)
        grad, grads["norm1.gamma"] = rms_norm_backward(grad_normed, first)
        self.grads = grads
        return grad_middle + grad


class ModernGPT:
    def __init__(
        self, vocabulary_size, depth, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0
    ):
        rng = rng or np.random.default_rng()
        _whole(vocabulary_size, "vocabulary_size")
        sizes = (dim, num_heads, num_kv_heads, hidden)
        self.blocks = [ModernBlock(*sizes, rng, window, base) for _ in range(_whole(depth, "depth"))]
        self.embedding = rng.normal(size=(vocabulary_size, dim)) / np.sqrt(dim)
        self.gamma = np.ones(dim)
        self.context_length = sys.maxsize
        self.kept, self.own_grads = None, {}

    def _all(self, own, which):
        found = dict(own)
        for number, block in enumerate(self.blocks):
            for name, value in getattr(block, which).items():
                found[f"blocks.{number}.{name}"] = value
        return found

    @property
    def params(self):
        return self._all({"token_embedding": self.embedding, "norm.gamma": self.gamma}, "params")

    @params.setter
    def params(self, given):
        given = _set(self.params, given)
        self.embedding, self.gamma = given["token_embedding"], given["norm.gamma"]
        for number, block in enumerate(self.blocks):
            start = f"blocks.{number}."
            block.params = {name.removeprefix(start): value for name, value in given.items() if name.startswith(start)}

    @property
    def grads(self):
        return self._all(self.own_grads, "grads")

    def _look_up(self, ids):
        whole = np.issubdtype(ids.dtype, np.integer)
        if not whole or ids.ndim != 2 or ids.shape[1] == 0 or ids.min() < 0 or ids.max() >= len(self.embedding):
            raise ValueError("ids: expected tokens of shape (batch, seq)")
        return np.take(self.embedding, ids, axis=0)

    def forward(self, ids):
        x = self._look_up(ids)
        for block in self.blocks:
            x = block.forward(x)
        hidden, cache = rms_norm_forward(x, self.gamma)
        self.kept = np.array(ids), hidden, cache
        return np.einsum("bsd,vd->bsv", hidden, self.embedding)

    def forward_with_cache(self, ids, cache=None):
        x, cache = self._look_up(ids), cache or [None] * len(self.blocks)
        caches = []
        for block, held in zip(self.blocks, cache, strict=True):
            x, held = block.forward_with_cache(x, held)
            caches.append(held)
        return np.einsum("bsd,vd->bsv", rms_norm_forward(x, self.gamma)[0], self.embedding), caches

    def backward(self, grad_logits):
        if self.kept is None:
            raise RuntimeError("backward: call forward first")
        ids, hidden, cache = self.kept
        _same(grad_logits, (*ids.shape, len(self.embedding)), "grad_logits")
        table = np.einsum("bsv,bsd->vd", grad_logits, hidden)
        grad, gamma = rms_norm_backward(np.einsum("bsv,vd->bsd", grad_logits, self.embedding), cache)
        for block in self.blocks[::-1]:
            grad = block.backward(grad)
        hits = (ids[..., None] == np.arange(len(table))).astype(grad.dtype)
        self.own_grads = {
            "token_embedding": table + np.einsum("bsv,bsd->vd", hits, grad), "norm.gamma": gamma,
        }  # fmt: skip


def initial_loss(vocabulary_size):
    return float(np.log(_whole(vocabulary_size, "vocabulary_size")))


def scaled_initialisation(model, depth, rng):
    if len(model.blocks) != depth:
        raise ValueError("depth: expected the number of blocks")
    params = model.params
    for name, value in params.items():
        if name == "norm.gamma":
            params[name] = np.ones_like(value) / np.sqrt(value.size)
        elif name.endswith("gamma"):
            params[name] = np.ones_like(value)
        else:
            inputs = value.shape[1] if name == "token_embedding" else value.shape[0]
            writes = name.endswith(("attention.output_weights", "mlp.down_weights"))
            params[name] = rng.normal(0, (inputs * (2 * depth if writes else 1)) ** -0.5, value.shape)
    model.params = params


def train(model, batches, optimizer, schedule, num_steps, accumulate=1, max_norm=1.0):
    _whole(accumulate, "accumulate")
    if not isinstance(num_steps, (int, np.integer)) or num_steps < 0:
        raise ValueError("num_steps: expected a whole number from 0 on")
    if max_norm <= 0:
        raise ValueError("max_norm: expected a number above 0")
    state, losses, norms, source = {}, [], [], iter(batches)
    for step in range(num_steps):
        summed, loss, targets_seen = {}, 0.0, 0
        for _ in range(accumulate):
            try:
                ids, targets = next(source)
            except StopIteration:
                raise ValueError("batches: too few") from None
            mean, grad_logits = cross_entropy_loss(model.forward(ids), targets)
            model.backward(grad_logits * targets.size)
            for name, grad in model.grads.items():
                summed[name] = summed[name] + grad if name in summed else grad
            loss += float(mean) * targets.size
            targets_seen += targets.size
        grads = {name: grad / targets_seen for name, grad in summed.items()}
        grads, norm = clip_by_global_norm(grads, max_norm)
        params, state = optimizer(model.params, grads, state, learning_rate=schedule(step))
        model.params = params
        losses.append(loss / targets_seen)
        norms.append(float(norm))
    return {"loss": losses, "norm": norms}
