"""One routine for both passes: forward is forward_with_cache of an empty cache; attention's gradient is its own.

Nothing is imported of s17. Parameters stay in one flat dict; GELU is the tanh form; tokens are drawn by Gumbel noise.
"""

import numpy as np

SLOPE = np.sqrt(2 / np.pi).item()


def _norm(x, gamma, beta):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    inverse = 1 / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)
    return gamma * (centred * inverse) + beta, (centred * inverse, inverse)


def _norm_back(grad, gamma, kept):
    unit, inverse = kept
    own = np.einsum("bsd,bsd->d", grad, unit), np.einsum("bsd->d", grad)
    grad = grad * gamma
    grad = grad - np.mean(grad, axis=-1, keepdims=True) - unit * np.mean(grad * unit, axis=-1, keepdims=True)
    return grad * inverse, *own


def _gelu(x):
    bent = np.tanh(SLOPE * (x + 0.044715 * x * x * x))
    slope = 0.5 * (1 + bent) + 0.5 * x * (1 - bent * bent) * SLOPE * (1 + 3 * 0.044715 * x * x)
    return 0.5 * x * (1 + bent), slope


def _set(holder, given):
    if given.keys() != holder.keys() or any(np.shape(given[key]) != value.shape for key, value in holder.items()):
        raise ValueError("params: names and shapes have to stay as they are")
    return dict(given)


class DecoderBlock:
    def __init__(self, dim, num_heads, rng=None):
        if dim < 1 or num_heads < 1 or dim % num_heads != 0:
            raise ValueError(f"dim: {dim}, num_heads: {num_heads}")
        rng = np.random.default_rng() if rng is None else rng
        sizes = {"attention.qkv_": (dim, 3 * dim), "attention.output_": (dim, dim)}
        params = {}
        for name in ("norm1", "norm2"):
            params[f"{name}.gamma"], params[f"{name}.beta"] = np.ones(dim), np.zeros(dim)
        for name, size in sizes.items():
            params[name + "weights"], params[name + "bias"] = rng.normal(size=size) / np.sqrt(dim), np.zeros(size[1])
        params["mlp.W1"], params["mlp.b1"] = rng.normal(size=(dim, 4 * dim)) / np.sqrt(dim), np.zeros(4 * dim)
        params["mlp.W2"], params["mlp.b2"] = rng.normal(size=(4 * dim, dim)) / np.sqrt(4 * dim), np.zeros(dim)
        self._params, self._grads, self._kept = params, {}, None
        self._shape = num_heads, dim // num_heads
        self.attention_weights = None

    params = property(lambda self: dict(self._params), lambda self, given: self._take(given))
    grads = property(lambda self: dict(self._grads))

    def _take(self, given):
        self._params = _set(self._params, given)

    def forward(self, x):
        return self._run(x, None)[0]

    def forward_with_cache(self, x, cache=None):
        output, kept = self._run(x, cache)
        self._kept = None
        return output, kept

    def _run(self, x, cache):
        p, (heads, size) = self._params, self._shape
        if x.ndim != 3 or x.shape[2] != heads * size:
            raise ValueError(f"x: {x.shape}")
        first, kept1 = _norm(x, p["norm1.gamma"], p["norm1.beta"])
        qkv = np.einsum("bsd,de->bse", first, p["attention.qkv_weights"]) + p["attention.qkv_bias"]
        q, k, v = np.moveaxis(qkv.reshape(*x.shape[:2], 3, heads, size), (2, 3), (0, 2))
        if cache is not None:
            for old in cache:
                if old.ndim != 4 or old.shape != (len(x), heads, old.shape[2], size):
                    raise ValueError(f"cache: {old.shape}")
            k, v = (np.append(old, new, axis=2) for old, new in zip(cache, (k, v), strict=True))
        total, seq = k.shape[2], x.shape[1]
        later = np.arange(total) > np.arange(total - seq, total)[:, None]
        scores = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(size).item()
        scores[..., later] = -np.inf
        scores -= scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=-1, keepdims=True)
        joined = np.einsum("bhij,bhjd->bihd", weights, v).reshape(x.shape)
        middle = x + joined @ p["attention.output_weights"] + p["attention.output_bias"]
        second, kept2 = _norm(middle, p["norm2.gamma"], p["norm2.beta"])
        hidden, slope = _gelu(second @ p["mlp.W1"] + p["mlp.b1"])
        self.attention_weights = weights
        self._kept = first, kept1, q, k, v, weights, joined, second, kept2, hidden, slope
        return middle + hidden @ p["mlp.W2"] + p["mlp.b2"], (k, v)

    def backward(self, grad_output):
        if self._kept is None:
            raise RuntimeError("backward: forward comes first")
        first, kept1, q, k, v, weights, joined, second, kept2, hidden, slope = self._kept
        if grad_output.shape != first.shape:
            raise ValueError(f"grad_output: {grad_output.shape}, not {first.shape}")
        p, g = self._params, {}

        def linear(x, grad, weight, bias):
            g[weight], g[bias] = np.einsum("bsi,bso->io", x, grad), grad.sum(axis=(0, 1))
            return grad @ p[weight].T

        grad = linear(hidden, grad_output, "mlp.W2", "mlp.b2") * slope
        grad = linear(second, grad, "mlp.W1", "mlp.b1")
        grad, g["norm2.gamma"], g["norm2.beta"] = _norm_back(grad, p["norm2.gamma"], kept2)
        middle = grad_output + grad
        grad = linear(joined, middle, "attention.output_weights", "attention.output_bias")
        grad = grad.reshape(*grad.shape[:2], *self._shape)
        of_weights = np.einsum("bihd,bhjd->bhij", grad, v)
        of_scores = weights * (of_weights - np.einsum("bhij,bhij->bhi", of_weights, weights)[..., None])
        of_scores = of_scores / np.sqrt(self._shape[1]).item()
        parts = (
            np.einsum("bhij,bhjd->bihd", of_scores, k),
            np.einsum("bhij,bhid->bjhd", of_scores, q),
            np.einsum("bhij,bihd->bjhd", weights, grad),
        )
        grad = np.concatenate([part.reshape(first.shape) for part in parts], axis=-1)
        grad = linear(first, grad, "attention.qkv_weights", "attention.qkv_bias")
        grad, g["norm1.gamma"], g["norm1.beta"] = _norm_back(grad, p["norm1.gamma"], kept1)
        self._grads = g
        return middle + grad


class GPT:
    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None):
        if vocabulary_size < 1 or context_length < 1 or depth < 1:
            raise ValueError(f"{vocabulary_size} tokens, {context_length} positions, {depth} blocks")
        rng = np.random.default_rng() if rng is None else rng
        self.context_length = context_length
        self.blocks = [DecoderBlock(dim, num_heads, rng) for _ in range(depth)]
        tables = rng.normal(size=(vocabulary_size + context_length, dim)) / np.sqrt(dim)
        self._own = {
            "token_embedding": tables[:vocabulary_size],
            "position_embedding": tables[vocabulary_size:],
            "norm.gamma": np.ones(dim),
            "norm.beta": np.zeros(dim),
        }
        self._own_grads, self._kept = {}, None

    @property
    def params(self):
        return self._together(self._own, "params")

    @params.setter
    def params(self, given):
        given = _set(self.params, given)
        for number, block in enumerate(self.blocks):
            start = f"blocks.{number}."
            block.params = {key[len(start) :]: given.pop(key) for key in list(given) if key.startswith(start)}
        self._own = given

    @property
    def grads(self):
        return self._together(self._own_grads, "grads")

    def _together(self, own, which):
        found = {**own}
        for number, block in enumerate(self.blocks):
            found |= {f"blocks.{number}.{key}": value for key, value in getattr(block, which).items()}
        return found

    def forward(self, ids):
        logits, _, self._kept = self._run(ids, [None] * len(self.blocks), 0)
        return logits

    def forward_with_cache(self, ids, cache=None):
        past = cache[0][0].shape[2] if cache else 0
        return self._run(ids, cache or [None] * len(self.blocks), past)[:2]

    def _run(self, ids, caches, past):
        ids, table = np.asarray(ids), self._own["token_embedding"]
        places = self._own["position_embedding"][past : past + ids.shape[-1]] if ids.ndim == 2 else []
        if ids.dtype.kind not in "iu" or not len(places) or len(places) < ids.shape[1]:
            raise ValueError(f"ids: {ids.dtype}, {ids.shape}, {past} before them")
        if ids.min() < 0 or ids.max() >= len(table):
            raise ValueError(f"ids: from {ids.min()} to {ids.max()}, there are {len(table)} tokens")
        x, grown = np.take(table, ids, axis=0) + places, []
        for block, cache in zip(self.blocks, caches, strict=True):
            x, kept = block._run(x, cache)
            grown.append(kept)
        hidden, kept = _norm(x, self._own["norm.gamma"], self._own["norm.beta"])
        return np.einsum("bsd,vd->bsv", hidden, table), grown, (ids, hidden, kept)

    def backward(self, grad_logits):
        if self._kept is None:
            raise RuntimeError("backward: forward comes first")
        ids, hidden, kept = self._kept
        table = self._own["token_embedding"]
        if grad_logits.shape != (*ids.shape, len(table)):
            raise ValueError(f"grad_logits: {grad_logits.shape}")
        grad, gamma, beta = _norm_back(grad_logits @ table, self._own["norm.gamma"], kept)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        chosen = np.eye(len(table), dtype=grad.dtype)[ids]
        of_positions = np.zeros_like(self._own["position_embedding"])
        of_positions[: ids.shape[1]] = np.add.reduce(grad)
        self._own_grads = {
            "token_embedding": np.einsum("bsv,bsd->vd", grad_logits, hidden) + np.einsum("bsv,bsd->vd", chosen, grad),
            "position_embedding": of_positions,
            "norm.gamma": gamma,
            "norm.beta": beta,
        }


def cross_entropy_loss(logits, targets, mask=None):
    targets = np.asarray(targets)
    weights = np.ones(targets.shape) if mask is None else np.array(mask, dtype=float)
    if not logits.shape[:-1] == targets.shape == weights.shape:
        raise ValueError(f"logits {logits.shape}, targets {targets.shape}, mask {weights.shape}")
    chosen = np.where(weights > 0, targets, 0)
    if targets.dtype.kind not in "iu" or (chosen < 0).any() or (chosen >= logits.shape[-1]).any():
        raise ValueError("targets: every real one is a token's number")
    weights = weights / max(weights.sum(), 1)
    top = logits.max(axis=-1, keepdims=True)
    totals = top + np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    losses = (totals - np.take_along_axis(logits, chosen[..., None], axis=-1))[..., 0]
    grad = np.exp(logits - totals) - np.eye(logits.shape[-1], dtype=logits.dtype)[chosen]
    return (losses * weights).sum(), grad * weights[..., None].astype(logits.dtype)


def greedy(logits):
    return np.asarray(logits).argmax(-1)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    if not (temperature > 0 and (top_k is None or top_k > 0) and (top_p is None or 0 < top_p <= 1)):
        raise ValueError(f"temperature: {temperature}, top_k: {top_k}, top_p: {top_p}")
    scores = np.asarray(logits) / temperature
    ranked = -np.sort(-scores, axis=-1)
    if top_k is not None and top_k < scores.shape[-1]:
        ranked = ranked[..., :top_k]
    if top_p is not None:
        shares = np.exp(ranked - ranked[..., :1])
        sums = np.cumsum(shares / shares.sum(axis=-1, keepdims=True), axis=-1)
        last = np.minimum((sums < top_p).sum(axis=-1, keepdims=True), ranked.shape[-1] - 1)
    else:
        last = np.full((*ranked.shape[:-1], 1), ranked.shape[-1] - 1)
    least = np.take_along_axis(ranked, last, axis=-1)
    rng = np.random.default_rng() if rng is None else rng
    return np.argmax(np.where(scores >= least, scores, -np.inf) + rng.gumbel(size=scores.shape), axis=-1)


def generate(model, ids, steps, choose=None):
    if steps < 0:
        raise ValueError(f"steps: {steps}")
    start, length = np.shape(ids)[1], model.context_length
    tokens = np.concatenate([ids, np.zeros((len(ids), steps), dtype=int)], axis=1)
    cache = None
    for end in range(start, start + steps):
        if end <= length and cache is not None:
            logits, cache = model.forward_with_cache(tokens[:, end - 1 : end], cache)
        else:
            logits, cache = model.forward_with_cache(tokens[:, max(end - length, 0) : end])
        tokens[:, end] = (choose or greedy)(logits[:, -1])
    return tokens


def perplexity(model, ids):
    ids = np.asarray(ids)
    if ids.ndim != 2 or ids.shape[1] == 1:
        raise ValueError(f"ids: {ids.shape}")
    return np.exp(cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:])[0])
