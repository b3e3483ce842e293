"""Stage 19 as a student wrote it: einsum throughout, one function for softmax, plain dictionaries of counts."""

import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP, Encoder, LayerNorm, MultiheadSelfAttention


def softmax_rows(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(scores - top)
    s = e.sum(axis=-1, keepdims=True)
    return e / np.where(s == 0, 1, s)


class CrossAttention:
    def __init__(self, dim, num_heads, rng=None):
        if num_heads < 1 or dim < 1 or dim % num_heads:
            raise ValueError(f"num_heads: {num_heads}, expected a divisor of dim {dim}")
        rng = np.random.default_rng() if rng is None else rng
        self.dim, self.num_heads, self.head_dim = dim, num_heads, dim // num_heads
        self.params = {}
        for name in ("query", "key", "value", "output"):
            self.params[name + "_weights"] = rng.normal(0, 1 / math.sqrt(dim), (dim, dim))
            self.params[name + "_bias"] = np.zeros(dim)
        self.grads = {}
        self.saved = None

    def heads_of(self, a):
        b, n, _ = a.shape
        return a.reshape(b, n, self.num_heads, self.head_dim)

    def forward(self, x, memory, source_mask=None):
        if x.ndim != 3 or memory.ndim != 3 or x.shape[2] != self.dim or memory.shape[2] != self.dim:
            raise ValueError(f"x {x.shape}, memory {memory.shape}: expected (batch, seq, {self.dim})")
        if len(x) != len(memory):
            raise ValueError(f"memory: batch {len(memory)}, expected {len(x)}")
        p = self.params
        q = self.heads_of(x @ p["query_weights"] + p["query_bias"])
        k = self.heads_of(memory @ p["key_weights"] + p["key_bias"])
        v = self.heads_of(memory @ p["value_weights"] + p["value_bias"])
        if source_mask is None:
            source_mask = np.ones(memory.shape[:2], dtype=bool)
        visible = np.asarray(source_mask).astype(bool)
        if visible.shape != memory.shape[:2]:
            raise ValueError(f"source_mask: {visible.shape}, expected {memory.shape[:2]}")
        scores = np.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(self.head_dim)
        a = softmax_rows(scores, visible[:, None, None, :])
        joined = np.einsum("bhij,bjhd->bihd", a, v).reshape(x.shape)
        self.attention_weights = a
        self.saved = (x, memory, q, k, v, joined)
        return joined @ p["output_weights"] + p["output_bias"]

    def backward(self, grad_output):
        if self.saved is None:
            raise RuntimeError("forward first")
        x, memory, q, k, v, joined = self.saved
        if grad_output.shape != x.shape:
            raise ValueError(f"grad_output: {grad_output.shape}, expected {x.shape}")
        p, a = self.params, self.attention_weights
        d_o = self.heads_of(grad_output @ p["output_weights"].T)
        d_a = np.einsum("bihd,bjhd->bhij", d_o, v)
        d_v = np.einsum("bhij,bihd->bjhd", a, d_o)
        d_s = a * (d_a - np.sum(d_a * a, axis=-1, keepdims=True))
        d_s = d_s / math.sqrt(self.head_dim)
        d_q = np.einsum("bhij,bjhd->bihd", d_s, k).reshape(x.shape)
        d_k = np.einsum("bhij,bihd->bjhd", d_s, q).reshape(memory.shape)
        d_v = d_v.reshape(memory.shape)
        g = {}
        g["query_weights"] = np.einsum("bni,bnj->ij", x, d_q)
        g["query_bias"] = d_q.sum(axis=(0, 1))
        g["key_weights"] = np.einsum("bni,bnj->ij", memory, d_k)
        g["key_bias"] = d_k.sum(axis=(0, 1))
        g["value_weights"] = np.einsum("bni,bnj->ij", memory, d_v)
        g["value_bias"] = d_v.sum(axis=(0, 1))
        g["output_weights"] = np.einsum("bni,bnj->ij", joined, grad_output)
        g["output_bias"] = grad_output.sum(axis=(0, 1))
        self.grads = g
        grad_x = d_q @ p["query_weights"].T
        grad_memory = d_k @ p["key_weights"].T + d_v @ p["value_weights"].T
        return grad_x, grad_memory


PARTS = ("norm1", "self_attention", "norm2", "cross_attention", "norm3", "mlp")


class DecoderBlock:
    def __init__(self, dim, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.dim = dim
        self.norm1, self.norm2, self.norm3 = LayerNorm(dim), LayerNorm(dim), LayerNorm(dim)
        self.self_attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.cross_attention = CrossAttention(dim, num_heads, rng)
        self.mlp = MLP(dim, int(dim * mlp_ratio), rng=rng)

    def forward(self, x, memory, source_mask=None):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError(f"x: {x.shape}, expected (batch, target, {self.dim})")
        n = x.shape[1]
        causal = np.tri(n, n, dtype=bool)
        h1 = x + self.self_attention.forward(self.norm1.forward(x), causal)
        h2 = h1 + self.cross_attention.forward(self.norm2.forward(h1), memory, source_mask)
        return h2 + self.mlp.forward(self.norm3.forward(h2))

    def backward(self, grad_output):
        d_h2 = grad_output + self.norm3.backward(self.mlp.backward(grad_output))
        d_query, d_memory = self.cross_attention.backward(d_h2)
        d_h1 = d_h2 + self.norm2.backward(d_query)
        d_x = d_h1 + self.norm1.backward(self.self_attention.backward(d_h1))
        return d_x, d_memory

    @property
    def params(self):
        return {f"{name}.{key}": value for name in PARTS for key, value in getattr(self, name).params.items()}

    @property
    def grads(self):
        return {f"{name}.{key}": value for name in PARTS for key, value in getattr(self, name).grads.items()}


class Transformer:
    def __init__(self, source_size, target_size, max_length, depth, dim, num_heads, mlp_ratio=4.0, rng=None):
        for size in (source_size, target_size, max_length, depth):
            if size < 1:
                raise ValueError(f"a size of {size}, expected at least 1")
        rng = np.random.default_rng() if rng is None else rng
        self.max_length = max_length
        self.tables = {
            "source_embedding": rng.normal(size=(source_size, dim)),
            "target_embedding": rng.normal(size=(target_size, dim)),
            "source_positions": rng.normal(size=(max_length, dim)),
            "target_positions": rng.normal(size=(max_length, dim)),
            "readout_weights": rng.normal(0, 1 / math.sqrt(dim), (dim, target_size)),
            "readout_bias": np.zeros(target_size),
        }
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self.decoder_blocks = [DecoderBlock(dim, num_heads, mlp_ratio, rng) for i in range(depth)]
        self.decoder_norm = LayerNorm(dim)
        self.table_grads = None
        self.saved = None

    def embed(self, ids, embedding, positions):
        ids = np.asarray(ids)
        if ids.ndim != 2 or ids.shape[1] > self.max_length:
            raise ValueError(f"ids: {ids.shape}, expected (batch, up to {self.max_length})")
        if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= len(self.tables[embedding]):
            raise ValueError(f"ids: {ids.min()} to {ids.max()}, not all in {embedding}")
        return self.tables[embedding][ids] + self.tables[positions][: ids.shape[1]]

    def encode(self, source, source_mask=None):
        x = self.embed(source, "source_embedding", "source_positions")
        if source_mask is None:
            return self.encoder.forward(x)
        source_mask = np.asarray(source_mask).astype(bool)
        if source_mask.shape != x.shape[:2]:
            raise ValueError(f"source_mask: {source_mask.shape}, expected {x.shape[:2]}")
        return self.encoder.forward(x, source_mask[:, None, None, :])

    def decode(self, target, memory, source_mask=None):
        y = self.embed(target, "target_embedding", "target_positions")
        for block in self.decoder_blocks:
            y = block.forward(y, memory, source_mask)
        self.features = self.decoder_norm.forward(y)
        return self.features @ self.tables["readout_weights"] + self.tables["readout_bias"]

    def forward(self, source, target, source_mask=None):
        logits = self.decode(target, self.encode(source, source_mask), source_mask)
        self.saved = (np.asarray(source), np.asarray(target), logits.shape)
        return logits

    def backward(self, grad_logits):
        if self.saved is None:
            raise RuntimeError("forward first")
        source, target, shape = self.saved
        if grad_logits.shape != shape:
            raise ValueError(f"grad_logits: {grad_logits.shape}, expected {shape}")
        g = {}
        g["readout_weights"] = np.einsum("bnd,bnk->dk", self.features, grad_logits)
        g["readout_bias"] = grad_logits.sum(axis=(0, 1))
        d_y = self.decoder_norm.backward(grad_logits @ self.tables["readout_weights"].T)
        d_memory = np.zeros((len(source), source.shape[1], d_y.shape[2]), dtype=d_y.dtype)
        for block in self.decoder_blocks[::-1]:
            d_y, d_m = block.backward(d_y)
            d_memory += d_m
        d_x = self.encoder.backward(d_memory)
        for side, ids, d in (("source", source, d_x), ("target", target, d_y)):
            embedding = np.zeros_like(self.tables[side + "_embedding"])
            np.add.at(embedding, ids, d)
            positions = np.zeros_like(self.tables[side + "_positions"])
            positions[: ids.shape[1]] = d.sum(axis=0)
            g[side + "_embedding"] = embedding
            g[side + "_positions"] = positions
        self.table_grads = g

    def owners(self):
        owners = {"encoder.norm.": self.encoder.norm, "decoder_norm.": self.decoder_norm}
        for i, block in enumerate(self.encoder.blocks):
            for name in ("norm1", "attention", "norm2", "mlp"):
                owners[f"encoder.blocks.{i}.{name}."] = getattr(block, name)
        for i, block in enumerate(self.decoder_blocks):
            for name in PARTS:
                owners[f"decoder.{i}.{name}."] = getattr(block, name)
        return owners

    @property
    def params(self):
        found = dict(self.tables)
        for prefix, part in self.owners().items():
            found.update({prefix + key: value for key, value in part.params.items()})
        return found

    @property
    def grads(self):
        if self.table_grads is None:
            return {}
        found = dict(self.table_grads)
        for prefix, part in self.owners().items():
            found.update({prefix + key: value for key, value in part.grads.items()})
        return found

    def set_params(self, params):
        old = self.params
        for name in params:
            if name not in old or old[name].shape != np.asarray(params[name]).shape:
                raise ValueError(f"params: {name!r} is unknown or has another shape")
        new = {**old, **params}
        self.tables = {name: new[name] for name in self.tables}
        for prefix, part in self.owners().items():
            part.params = {key: new[prefix + key] for key in part.params}


def shift_right(targets, start_id):
    if np.ndim(targets) != 2:
        raise ValueError("targets: expected (batch, length)")
    out = targets.copy()
    out[:, 1:] = targets[:, :-1]
    out[:, 0] = start_id
    return out


def prepare(logits, targets, smoothing, padding_id):
    if np.ndim(logits) != 3 or np.shape(targets) != np.shape(logits)[:2]:
        raise ValueError(f"logits {np.shape(logits)} and targets {np.shape(targets)} do not fit")
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing: {smoothing}")
    is_real = np.ones(targets.shape, bool) if padding_id is None else (targets != padding_id)
    ids = np.where(is_real, targets, 0)
    if ids.dtype.kind not in "iu" or ids.min() < 0 or ids.max() >= logits.shape[2]:
        raise ValueError("targets: an id outside of the vocabulary")
    k = logits.shape[2]
    q = np.full(logits.shape, smoothing / k, dtype=logits.dtype)
    b, n = np.indices(ids.shape)
    q[b, n, ids] += 1 - smoothing
    return q, is_real


def label_smoothing_loss(logits, targets, smoothing=0.1, padding_id=None):
    q, is_real = prepare(logits, targets, smoothing, padding_id)
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    costs = -(q * log_p).sum(axis=-1)
    number = is_real.sum()
    return float(costs[is_real].sum() / number) if number else 0.0


def label_smoothing_gradient(logits, targets, smoothing=0.1, padding_id=None):
    q, is_real = prepare(logits, targets, smoothing, padding_id)
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    prob = e / e.sum(axis=-1, keepdims=True)
    grad = (prob - q) * is_real[:, :, None]
    number = int(is_real.sum())
    return grad / number if number else grad


def length_penalty(length, alpha=0.6):
    length = np.asarray(length)
    if length.size and length.min() < 0:
        raise ValueError("length: expected 0 or more")
    return ((5 + length) / 6) ** alpha


def beam_search(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1 or max_length < 1:
        raise ValueError("beam_size and max_length: expected at least 1")
    live = {(start_id,): 0.0}
    ended = {}
    for step in range(max_length):
        candidates = {}
        for tokens, total in live.items():
            for token, value in enumerate(next_log_probs(np.array(tokens))):
                if value > -math.inf:
                    candidates[(*tokens, token)] = total + float(value)
        best = sorted(candidates, key=candidates.get, reverse=True)[:beam_size]
        live = {}
        for tokens in best:
            if tokens[-1] == end_id:
                ended[tokens] = candidates[tokens]
            else:
                live[tokens] = candidates[tokens]
        if not live:
            break
    ended.update(live)
    if not ended:
        raise ValueError("no answer is possible")
    scores = {tokens: total / float(length_penalty(len(tokens) - 1, alpha)) for tokens, total in ended.items()}
    winner = max(scores, key=scores.get)
    answer = list(winner[1:])
    if answer[-1] == end_id:
        answer.pop()
    return answer, scores[winner]


def count_ngrams(sentence, n):
    counts = {}
    for i in range(len(sentence) - n + 1):
        gram = tuple(sentence[i : i + n])
        counts[gram] = counts.get(gram, 0) + 1
    return counts


def clipped_matches(candidates, references, n):
    if n < 1 or len(candidates) != len(references):
        raise ValueError("n, references: do not fit")
    matches, total = 0, 0
    for candidate, answers in zip(candidates, references, strict=True):
        if not answers:
            raise ValueError("references: none for a candidate")
        limits = {}
        for answer in answers:
            for gram, count in count_ngrams(answer, n).items():
                limits[gram] = max(limits.get(gram, 0), count)
        for gram, count in count_ngrams(candidate, n).items():
            matches += min(count, limits.get(gram, 0))
            total += count
    return matches, total


def bleu(candidates, references, max_n=4):
    if max_n < 1:
        raise ValueError("max_n: expected at least 1")
    logs = []
    for n in range(1, max_n + 1):
        matches, total = clipped_matches(candidates, references, n)
        if matches == 0:
            return 0.0
        logs.append(math.log(matches / total))
    c = sum(len(candidate) for candidate in candidates)
    r = 0
    for candidate, answers in zip(candidates, references, strict=True):
        lengths = sorted(len(answer) for answer in answers)
        r += min(lengths, key=lambda length: abs(length - len(candidate)))
    brevity = min(1.0, math.exp(1 - r / c))
    return brevity * math.exp(sum(logs) / max_n)
