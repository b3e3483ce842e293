"""Block by inheritance, one position and one head at a time with a cache, one token at a time elsewhere."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import Block, LayerNorm


class DecoderBlock(Block):
    def __init__(self, dim, num_heads, rng=None):
        super().__init__(dim, num_heads, rng=rng if rng is not None else np.random.default_rng())
        self.size = dim
        self.heads = num_heads
        self.attention_weights = None

    def forward(self, x):
        if len(x.shape) != 3 or x.shape[-1] != self.size:
            raise ValueError(f"x: {x.shape} is not (batch, seq, {self.size})")
        length = x.shape[1]
        allowed = np.array([[key <= query for key in range(length)] for query in range(length)])
        output = super().forward(x, allowed)
        self.attention_weights = self.attention.attention_weights
        return output

    @property
    def params(self):
        return super().params

    @params.setter
    def params(self, given):
        _compare(super().params, given)
        split = {}
        for name, value in given.items():
            part, key = name.split(".")
            split.setdefault(part, {})[key] = value
        for part, values in split.items():
            getattr(self, part).params = values

    def forward_with_cache(self, x, cache=None):
        if len(x.shape) != 3 or x.shape[-1] != self.size:
            raise ValueError(f"x: {x.shape} is not (batch, seq, {self.size})")
        batch, seq, dim = x.shape
        width = dim // self.heads
        empty = np.zeros((batch, self.heads, 0, width), dtype=x.dtype)
        old_keys, old_values = (empty, empty) if cache is None else cache
        for old in (old_keys, old_values):
            if old.shape[:2] + old.shape[3:] != (batch, self.heads, width):
                raise ValueError(f"cache: {old.shape} does not belong to {x.shape}")
        past = old_keys.shape[2]
        keys = np.zeros((batch, self.heads, past + seq, width), dtype=x.dtype)
        values = np.zeros_like(keys)
        keys[:, :, :past], values[:, :, :past] = old_keys, old_values
        weights = np.zeros((batch, self.heads, seq, past + seq), dtype=x.dtype)
        outputs = []
        for place in range(seq):
            outputs.append(self._step(x[:, place], past + place, keys, values, weights[:, :, place]))
        self.attention_weights = weights
        return np.stack(outputs, axis=1), (keys, values)

    def _step(self, x, place, keys, values, weights):
        """One position: x (batch, dim); its key, value and weights are written where they belong."""
        p = self.attention.params
        projected = self.norm1.forward(x) @ p["qkv_weights"] + p["qkv_bias"]
        query, key, value = np.split(projected, 3, axis=1)
        width = self.size // self.heads
        attended = np.zeros_like(x)
        for head in range(self.heads):
            mine = slice(head * width, (head + 1) * width)
            keys[:, head, place] = key[:, mine]
            values[:, head, place] = value[:, mine]
            for row in range(len(x)):
                scores = keys[row, head, : place + 1] @ query[row, mine] / math.sqrt(width)
                shares = np.exp(scores - scores.max())
                weights[row, head, : place + 1] = shares / shares.sum()
                attended[row, mine] = weights[row, head, : place + 1] @ values[row, head, : place + 1]
        x = x + attended @ p["output_weights"] + p["output_bias"]
        return x + self.mlp.forward(self.norm2.forward(x))


class GPT:
    def __init__(self, vocabulary_size, context_length, depth, dim, num_heads, rng=None):
        if min(vocabulary_size, context_length, depth) < 1:
            raise ValueError("vocabulary_size, context_length and depth are at least 1")
        rng = rng if rng is not None else np.random.default_rng()
        self.context_length = context_length
        self.own = {
            "token_embedding": rng.standard_normal((vocabulary_size, dim)) * dim**-0.5,
            "position_embedding": rng.standard_normal((context_length, dim)) * dim**-0.5,
        }
        self.blocks = [DecoderBlock(dim, num_heads, rng) for _ in range(depth)]
        self.norm = LayerNorm(dim)
        self.own_grads = {}
        self.read = None

    def _layers(self):
        return [*((f"blocks.{i}.", block) for i, block in enumerate(self.blocks)), ("norm.", self.norm)]

    @property
    def params(self):
        found = dict(self.own)
        for prefix, layer in self._layers():
            found.update({prefix + key: value for key, value in layer.params.items()})
        return found

    @params.setter
    def params(self, given):
        _compare(self.params, given)
        for name in self.own:
            self.own[name] = given[name]
        for prefix, layer in self._layers():
            layer.params = {key: given[prefix + key] for key in layer.params}

    @property
    def grads(self):
        found = dict(self.own_grads)
        for prefix, layer in self._layers():
            found.update({prefix + key: value for key, value in layer.grads.items()})
        return found

    def _embed(self, ids, past):
        ids = np.asarray(ids)
        if ids.ndim != 2 or ids.dtype.kind not in "iu" or not 0 < ids.shape[1] <= self.context_length - past:
            raise ValueError(f"ids: {ids.dtype} {ids.shape} after {past} tokens")
        table, places = self.own["token_embedding"], self.own["position_embedding"]
        rows = []
        for sequence in ids.tolist():
            for token in sequence:
                if not 0 <= token < len(table):
                    raise ValueError(f"ids: {token} is no token")
            rows.append([table[token] + places[past + place] for place, token in enumerate(sequence)])
        return ids, np.array(rows)

    def forward(self, ids):
        ids, x = self._embed(ids, 0)
        for block in self.blocks:
            x = block.forward(x)
        self.read = ids, self.norm.forward(x)
        return self.read[1] @ self.own["token_embedding"].T

    def forward_with_cache(self, ids, cache=None):
        past = 0 if cache is None else cache[0][0].shape[2]
        _, x = self._embed(ids, past)
        grown = []
        for number, block in enumerate(self.blocks):
            x, kept = block.forward_with_cache(x, None if cache is None else cache[number])
            grown.append(kept)
        return self.norm.forward(x) @ self.own["token_embedding"].T, grown

    def backward(self, grad_logits):
        if self.read is None:
            raise RuntimeError("there was no forward")
        ids, hidden = self.read
        table = self.own["token_embedding"]
        if grad_logits.shape != (*ids.shape, len(table)):
            raise ValueError(f"grad_logits: {grad_logits.shape}")
        grad = self.norm.backward(grad_logits @ table)
        for block in self.blocks[::-1]:
            grad = block.backward(grad)
        of_tokens = np.zeros_like(table)
        of_positions = np.zeros_like(self.own["position_embedding"])
        for row in range(ids.shape[0]):
            for place in range(ids.shape[1]):
                of_tokens += np.outer(grad_logits[row, place], hidden[row, place])
                of_tokens[ids[row, place]] += grad[row, place]
                of_positions[place] += grad[row, place]
        self.own_grads = {"token_embedding": of_tokens, "position_embedding": of_positions}


def _compare(held, given):
    if sorted(held) != sorted(given):
        raise ValueError("params: other names than those of the model")
    for name, value in held.items():
        if np.shape(given[name]) != value.shape:
            raise ValueError(f"params: {name} has another shape")


def cross_entropy_loss(logits, targets, mask=None):
    targets = np.asarray(targets)
    counted = np.ones(targets.shape, dtype=bool) if mask is None else np.asarray(mask) != 0
    if targets.shape != logits.shape[:-1] or counted.shape != targets.shape or targets.dtype.kind not in "iu":
        raise ValueError(f"targets {targets.dtype} {targets.shape} or mask {counted.shape} do not fit {logits.shape}")
    total, number, grad = 0.0, int(counted.sum()), np.zeros_like(logits)
    for place in np.argwhere(counted):
        place = tuple(place)
        target = int(targets[place])
        if not 0 <= target < logits.shape[-1]:
            raise ValueError(f"targets: {target} is no token")
        highest = logits[place].max()
        powers = np.exp(logits[place] - highest)
        total += math.log(powers.sum()) + highest - logits[(*place, target)]
        powers = powers / powers.sum()
        powers[target] -= 1
        grad[place] = powers / number
    return total / max(number, 1), grad


def greedy(logits):
    return np.argmax(np.asarray(logits), axis=-1)


def sample(logits, temperature=1.0, top_k=None, top_p=None, rng=None):
    if temperature <= 0 or (top_k is not None and top_k <= 0) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(f"temperature {temperature}, top_k {top_k}, top_p {top_p}")
    rng = rng if rng is not None else np.random.default_rng()
    logits = np.asarray(logits)
    drawn = np.zeros(logits.shape[:-1], dtype=int)
    for place in np.ndindex(drawn.shape):
        scores = logits[place].tolist()
        ranked = sorted(range(len(scores)), key=lambda token: -scores[token])[:top_k]
        powers = [math.exp((scores[token] - scores[ranked[0]]) / temperature) for token in ranked]
        kept, reached = [], 0.0
        for power in powers:
            if top_p is not None and reached >= top_p * sum(powers):
                break
            kept.append(power)
            reached += power
        left = rng.random() * reached
        for token, power in zip(ranked, kept, strict=False):
            drawn[place] = token
            left -= power
            if left < 0:
                break
    return drawn if drawn.shape else drawn[()]


def generate(model, ids, steps, choose=None):
    if steps < 0:
        raise ValueError(f"steps: {steps}")
    choose = choose or greedy
    written = [np.asarray(ids)[:, place] for place in range(np.shape(ids)[1])]
    for _ in range(steps):
        logits, cache = None, None
        for column in written[-model.context_length :]:
            logits, cache = model.forward_with_cache(column[:, None], cache)
        written.append(np.asarray(choose(logits[:, 0])))
    return np.stack(written, axis=1)


def perplexity(model, ids):
    ids = np.asarray(ids)
    if ids.ndim != 2 or ids.shape[1] < 2:
        raise ValueError(f"ids: {ids.shape}")
    logits = model.forward(ids[:, :-1])
    loss, _ = cross_entropy_loss(logits, ids[:, 1:])
    return math.exp(loss) if loss < 709 else math.inf if loss > 710 else float(np.exp(loss))
