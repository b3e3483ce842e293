"""A modern decoder whose caches are functions: each forward pass leaves behind the function that goes back."""

import sys
from functools import reduce
from operator import index

import numpy as np

from stages.s05_optimization.optimizers import clip_by_global_norm
from stages.s18_decoder_and_generation.decoder import cross_entropy_loss

NORMS = "norm1.gamma", "norm2.gamma"
ATTENTION = tuple(f"attention.{name}_weights" for name in ("query", "key", "value", "output"))
MLP = tuple(f"mlp.{name}_weights" for name in ("gate", "up", "down"))


def require(holds, words):
    if not holds:
        raise ValueError(words)


def natural(value, name, least=1):
    try:
        value = index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r} is no integer") from None
    require(value >= least, f"{name}: {value}, expected {least} or more")
    return value


def linear(x, weights):
    def back(grad):
        flat = grad.reshape(-1, grad.shape[-1])
        return grad @ weights.T, x.reshape(len(flat), -1).T @ flat

    return x @ weights, back


def rms_norm_forward(x, gamma, eps=1e-6):
    require(gamma.shape == x.shape[-1:], "gamma: expected the features of x")
    power = np.square(x).mean(axis=-1, keepdims=True) + eps

    def back(grad_output):
        require(grad_output.shape == x.shape, "grad_output: expected the shape of x")
        projected = (grad_output * gamma * x).mean(axis=-1, keepdims=True) / power
        each = grad_output * x / np.sqrt(power)
        return (grad_output * gamma - x * projected) / np.sqrt(power), each.reshape(-1, gamma.size).sum(axis=0)

    return x / np.sqrt(power) * gamma, back


def rms_norm_backward(grad_output, cache):
    return cache(grad_output)


def rotary_forward(x, positions, base=10000.0):
    require(x.ndim > 1 and x.shape[-1] % 2 == 0, "x: expected (..., seq, d) with an even d")
    places = np.broadcast_to(positions, x.shape[:-1])
    rates = np.exp(-np.log(base) * np.arange(0, x.shape[-1], 2) / x.shape[-1])
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * places[..., None] * rates)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape).astype(np.result_type(x, np.float32))


def rotary_backward(grad_output, positions, base=10000.0):
    return rotary_forward(grad_output, np.negative(positions), base)


def scale_positions(positions, trained_length):
    longest = max(natural(trained_length, "trained_length"), int(np.max(positions)) + 1)
    return np.asarray(positions) * trained_length / longest


def grouped_query_attention_forward(Q, K, V, window=None):
    fits = Q.ndim == K.ndim == V.ndim > 2 and K.shape[:-1] == V.shape[:-1]
    require(fits and Q.shape[:-3] == K.shape[:-3] and Q.shape[-1] == K.shape[-1], "Q, K, V: shapes do not fit")
    require(Q.shape[-3] % K.shape[-3] == 0, "K: expected heads that divide those of Q")
    require(Q.shape[-2] <= K.shape[-2], "Q: more queries than keys")
    window = K.shape[-2] if window is None else natural(window, "window")
    group, root = Q.shape[-3] // K.shape[-3], Q.dtype.type(Q.shape[-1] ** 0.5)
    places = np.arange(K.shape[-2])
    distance = places[-Q.shape[-2] :, None] - places if Q.shape[-2] else places[:0, None] - places
    hidden = np.where((distance < 0) | (distance >= window), -np.inf, 0).astype(Q.dtype)
    outputs, backs = [], []
    for head in range(Q.shape[-3]):
        q, k, v = Q[..., head, :, :], K[..., head // group, :, :], V[..., head // group, :, :]
        output, back = _head(q, k, v, hidden, root)
        outputs.append(output)
        backs.append(back)
    result = np.stack(outputs, axis=-3)

    def back_of_all(grad_output):
        require(grad_output.shape == result.shape, "grad_output: expected the shape of output")
        grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        for head, back in enumerate(backs):
            grad_Q[..., head, :, :], of_keys, of_values = back(grad_output[..., head, :, :])
            grad_K[..., head // group, :, :] += of_keys
            grad_V[..., head // group, :, :] += of_values
        return grad_Q, grad_K, grad_V

    return result, back_of_all


def _head(q, k, v, hidden, root):
    """One head of queries, and the function that goes back."""
    scores = q @ k.swapaxes(-1, -2) / root + hidden
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    output = shares @ v

    def back(grad):
        inner = shares * (grad @ v.swapaxes(-1, -2) - (grad * output).sum(axis=-1, keepdims=True)) / root
        return inner @ k, inner.swapaxes(-1, -2) @ q, shares.swapaxes(-1, -2) @ grad

    return output, back


def grouped_query_attention_backward(grad_output, cache):
    return cache(grad_output)


def silu(z):
    sigmoid = np.exp(-np.logaddexp(0, -z))

    def back(grad):
        return grad * sigmoid * (1 + z - z * sigmoid)

    return z * sigmoid, back


def swiglu_forward(x, W_gate, W_up, W_down):
    require(x.shape[-1] == W_gate.shape[0] and W_gate.shape == W_up.shape, "W_gate, W_up: shapes do not fit")
    require(W_down.shape[0] == W_up.shape[1], "W_down: expected a row for each hidden unit")
    gate, back_gate = linear(x, W_gate)
    up, back_up = linear(x, W_up)
    open_, back_silu = silu(gate)
    output, back_down = linear(open_ * up, W_down)

    def back(grad_output):
        require(grad_output.shape == output.shape, "grad_output: expected the shape of output")
        grad, grad_down = back_down(grad_output)
        one, grad_gate = back_gate(back_silu(grad * up))
        other, grad_up = back_up(grad * open_)
        return one + other, grad_gate, grad_up, grad_down

    return output, back


def swiglu_backward(grad_output, cache):
    return cache(grad_output)


class RollingCache:
    """Keys and values of the last positions, as arrays that are made anew at each append."""

    def __init__(self, window=None):
        self._window = window if window is None else natural(window, "window")
        self._pieces = None
        self.length = 0

    def append(self, keys, values):
        require(keys.ndim == values.ndim == 4 and keys.shape[:3] == values.shape[:3], "keys, values: do not fit")
        new = [np.array(keys), np.array(values)]
        if self._pieces is not None:
            new = [np.concatenate(pair, axis=2) for pair in zip(self._pieces, new, strict=True)]
        self.length += keys.shape[2]
        self._pieces = [x if self._window is None else x[:, :, -self._window :] for x in new]
        return tuple(new)

    keys = property(lambda self: self._pieces and self._pieces[0])
    values = property(lambda self: self._pieces and self._pieces[1])


def checked(held, given):
    require(given.keys() == held.keys(), "params: expected the names of params")
    wrong = [name for name, value in held.items() if value.shape != np.shape(given[name])]
    require(not wrong, f"params: {wrong} of another shape")
    return {name: given[name] for name in held}


class ModernBlock:
    def __init__(self, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0):
        dim, num_heads = natural(dim, "dim"), natural(num_heads, "num_heads")
        num_kv_heads, hidden = natural(num_kv_heads, "num_kv_heads"), natural(hidden, "hidden")
        require(dim % (2 * num_heads) == 0, "num_heads: expected heads of an even size")
        require(num_heads % num_kv_heads == 0, "num_kv_heads: expected a divisor of num_heads")
        self._window = window if window is None else natural(window, "window")
        self._size, self._base, self._dim = dim // num_heads, base, dim
        narrow, rng = self._size * num_kv_heads, np.random.default_rng() if rng is None else rng
        sizes = [(dim, dim), (dim, narrow), (dim, narrow), (dim, dim), (dim, hidden), (dim, hidden), (hidden, dim)]
        self._params = {name: np.ones(dim) for name in NORMS}
        for name, size in zip(ATTENTION + MLP, sizes, strict=True):
            self._params[name] = rng.standard_normal(size) * size[0] ** -0.5
        self.grads, self._back = {}, None

    @property
    def params(self):
        return {**self._params}

    @params.setter
    def params(self, given):
        self._params = checked(self._params, given)

    def _attention(self, x, cache):
        query, key, value, out = (self._params[name] for name in ATTENTION)
        places, batch = np.arange(cache.length, cache.length + x.shape[1]), len(x)

        def cut(flat):
            return flat.reshape(batch, -1, flat.shape[-1] // self._size, self._size).swapaxes(1, 2)

        def flat(heads):
            return heads.swapaxes(1, 2).reshape(batch, heads.shape[2], -1)

        (q, back_q), (k, back_k), (v, back_v) = linear(x, query), linear(x, key), linear(x, value)
        q, k = (rotary_forward(cut(each), places, self._base) for each in (q, k))
        heads, back_heads = grouped_query_attention_forward(q, *cache.append(k, cut(v)), self._window)
        output, back_out = linear(flat(heads), out)

        def back(grad):
            grad, of_out = back_out(grad)
            grad_q, grad_k, grad_v = back_heads(cut(grad))
            grad_q, grad_k = (rotary_backward(each, places, self._base) for each in (grad_q, grad_k))
            pairs = back_q(flat(grad_q)), back_k(flat(grad_k)), back_v(flat(grad_v))
            return sum(pair[0] for pair in pairs), [*(pair[1] for pair in pairs), of_out]

        return output, back

    def _run(self, x, cache):
        require(x.ndim == 3 and x.shape[2] == self._dim, "x: expected (batch, seq, dim)")
        first, back_first = rms_norm_forward(x, self._params[NORMS[0]])
        attended, back_attention = self._attention(first, cache)
        middle = x + attended
        second, back_second = rms_norm_forward(middle, self._params[NORMS[1]])
        added, back_mlp = swiglu_forward(second, *(self._params[name] for name in MLP))

        def back(grad):
            inner, *of_mlp = back_mlp(grad)
            inner, gamma2 = back_second(inner)
            grad = grad + inner
            inner, of_attention = back_attention(grad)
            inner, gamma1 = back_first(inner)
            return grad + inner, dict(
                zip(NORMS + ATTENTION + MLP, [gamma1, gamma2, *of_attention, *of_mlp], strict=True)
            )

        return middle + added, back

    def forward(self, x):
        output, self._back = self._run(x, RollingCache(self._window))
        self._shape = output.shape
        return output

    def forward_with_cache(self, x, cache=None):
        cache = cache or RollingCache(self._window)
        return self._run(x, cache)[0], cache

    def backward(self, grad_output):
        if self._back is None:
            raise RuntimeError("backward comes after forward")
        require(grad_output.shape == self._shape, "grad_output: expected the shape of the last output")
        grad, self.grads = self._back(grad_output)
        return grad


class ModernGPT:
    context_length = sys.maxsize

    def __init__(
        self, vocabulary_size, depth, dim, num_heads, num_kv_heads, hidden, rng=None, window=None, base=10000.0
    ):
        rng, tokens = np.random.default_rng() if rng is None else rng, natural(vocabulary_size, "vocabulary_size")
        made = range(natural(depth, "depth"))
        self.blocks = [ModernBlock(dim, num_heads, num_kv_heads, hidden, rng, window, base) for _ in made]
        self._own = {"token_embedding": rng.standard_normal((tokens, dim)) * dim**-0.5, "norm.gamma": np.ones(dim)}
        self._own_grads, self._back = {}, None

    def _joined(self, own, parts):
        dicts = [{f"blocks.{i}.{name}": value for name, value in part.items()} for i, part in enumerate(parts)]
        return reduce(lambda one, other: one | other, dicts, dict(own))

    @property
    def params(self):
        return self._joined(self._own, [block.params for block in self.blocks])

    @params.setter
    def params(self, given):
        given = checked(self.params, given)
        self._own = {name: given[name] for name in self._own}
        for i, block in enumerate(self.blocks):
            block.params = {name: given[f"blocks.{i}.{name}"] for name in NORMS + ATTENTION + MLP}

    @property
    def grads(self):
        return self._joined(self._own_grads, [block.grads for block in self.blocks])

    def _embed(self, ids):
        require(ids.dtype.kind in "iu" and ids.ndim == 2 and ids.size > 0, "ids: expected integers (batch, seq)")
        require(ids.min() >= 0 and ids.max() < len(self._own["token_embedding"]), "ids: no such token")
        return self._own["token_embedding"][ids]

    def _score(self, x):
        hidden, back_norm = rms_norm_forward(x, self._own["norm.gamma"])
        logits, back_scores = linear(hidden, self._own["token_embedding"].T)

        def back(grad):
            grad, of_scores = back_scores(grad)
            grad, gamma = back_norm(grad)
            return grad, of_scores.T, gamma

        return logits, back

    def forward(self, ids):
        x = reduce(lambda x, block: block.forward(x), self.blocks, self._embed(ids))
        logits, back = self._score(x)
        self._back = ids.copy(), logits.shape, back
        return logits

    def backward(self, grad_logits):
        if self._back is None:
            raise RuntimeError("backward comes after forward")
        ids, shape, back = self._back
        require(grad_logits.shape == shape, "grad_logits: expected the shape of the last logits")
        grad, table, gamma = back(grad_logits)
        grad = reduce(lambda grad, block: block.backward(grad), reversed(self.blocks), grad)
        table = table.copy()
        np.add.at(table, ids.ravel(), grad.reshape(ids.size, -1))
        self._own_grads = {"token_embedding": table, "norm.gamma": gamma}

    def forward_with_cache(self, ids, cache=None):
        x, caches = self._embed(ids), []
        for i, block in enumerate(self.blocks):
            x, kept = block.forward_with_cache(x, cache[i] if cache else None)
            caches.append(kept)
        return self._score(x)[0], caches


def initial_loss(vocabulary_size):
    scores = np.zeros((1, natural(vocabulary_size, "vocabulary_size")))
    return float(cross_entropy_loss(scores, np.zeros(1, dtype=int))[0])


def scaled_initialisation(model, depth, rng):
    require(depth == len(model.blocks), "depth: expected the number of blocks")
    scales = {"output_weights": (2 * depth) ** -0.5, "down_weights": (2 * depth) ** -0.5}
    params = model.params
    for name, value in sorted(params.items()):
        if value.ndim == 1:
            params[name] = value * 0 + (value.size**-0.5 if name == "norm.gamma" else 1)
        else:
            inputs = value.shape[name == "token_embedding"]
            params[name] = rng.standard_normal(value.shape) * inputs**-0.5 * scales.get(name.rpartition(".")[2], 1)
    model.params = params


def train(model, batches, optimizer, schedule, num_steps, accumulate=1, max_norm=1.0):
    num_steps, accumulate = natural(num_steps, "num_steps", 0), natural(accumulate, "accumulate")
    require(max_norm > 0, "max_norm: expected a number above 0")
    state, source, losses, norms = {}, iter(batches), [], []
    for step in range(num_steps):
        taken = []
        while len(taken) < accumulate:
            batch = next(source, None)
            require(batch is not None, "batches: not enough of them")
            taken.append(batch)
        found = [_gradient(model, *batch) for batch in taken]
        total = sum(targets.size for _, targets in taken)
        shares = [targets.size / total for _, targets in taken]
        grads = {
            name: sum(share * each[1][name] for share, each in zip(shares, found, strict=True)) for name in found[0][1]
        }
        grads, norm = clip_by_global_norm(grads, max_norm)
        params, state = optimizer(model.params, grads, state, learning_rate=schedule(step))
        model.params = params
        losses.append(float(sum(share * each[0] for share, each in zip(shares, found, strict=True))))
        norms.append(float(norm))
    return {"loss": losses, "norm": norms}


def _gradient(model, ids, targets):
    loss, grad_logits = cross_entropy_loss(model.forward(ids), targets)
    model.backward(grad_logits)
    return loss, model.grads
