"""Step by step as the lesson has it, every weight by its name."""

import math
from collections import Counter

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP, Encoder, LayerNorm, MultiheadSelfAttention


def softmax(scores):
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), 0.0, largest).astype(scores.dtype)
    powers = np.exp(scores - largest)
    total = powers.sum(axis=-1, keepdims=True)
    total[total == 0] = 1
    return powers / total


class CrossAttention:
    def __init__(self, dim, num_heads, rng=None):
        if dim < 1 or num_heads < 1:
            raise ValueError(f"dim: {dim}, num_heads: {num_heads}, expected at least 1")
        if dim % num_heads != 0:
            raise ValueError(f"num_heads: {num_heads}, expected a divisor of dim, which is {dim}")
        if rng is None:
            rng = np.random.default_rng()
        self.dim = dim
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.params = {
            "query_weights": rng.standard_normal((dim, dim)) / math.sqrt(dim),
            "key_weights": rng.standard_normal((dim, dim)) / math.sqrt(dim),
            "value_weights": rng.standard_normal((dim, dim)) / math.sqrt(dim),
            "output_weights": rng.standard_normal((dim, dim)) / math.sqrt(dim),
            "query_bias": np.zeros(dim),
            "key_bias": np.zeros(dim),
            "value_bias": np.zeros(dim),
            "output_bias": np.zeros(dim),
        }
        self.grads = {}
        self.x = None

    def split_heads(self, x):
        batch, seq, _ = x.shape
        return x.reshape(batch, seq, self.num_heads, self.head_dim).transpose(0, 2, 1, 3)

    def join_heads(self, x):
        batch, _, seq, _ = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, seq, self.dim)

    def forward(self, x, memory, source_mask=None):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError(f"x: shape {x.shape}, expected (batch, target, {self.dim})")
        if memory.ndim != 3 or memory.shape[2] != self.dim:
            raise ValueError(f"memory: shape {memory.shape}, expected (batch, source, {self.dim})")
        if x.shape[0] != memory.shape[0]:
            raise ValueError(f"batch: {x.shape[0]} of x and {memory.shape[0]} of memory, expected the same")
        p = self.params
        queries = x @ p["query_weights"] + p["query_bias"]
        keys = memory @ p["key_weights"] + p["key_bias"]
        values = memory @ p["value_weights"] + p["value_bias"]
        Q = self.split_heads(queries)
        K = self.split_heads(keys)
        V = self.split_heads(values)
        scores = Q @ K.transpose(0, 1, 3, 2) / math.sqrt(self.head_dim)
        if source_mask is not None:
            source_mask = np.asarray(source_mask).astype(bool)
            if source_mask.shape != memory.shape[:2]:
                raise ValueError(f"source_mask: shape {source_mask.shape}, expected {memory.shape[:2]}")
            scores = np.where(source_mask[:, None, None, :], scores, -np.inf)
        weights = softmax(scores)
        heads = weights @ V
        joined = self.join_heads(heads)
        output = joined @ p["output_weights"] + p["output_bias"]
        self.attention_weights = weights
        self.x, self.memory, self.Q, self.K, self.V, self.joined = x, memory, Q, K, V, joined
        return output

    def backward(self, grad_output):
        if self.x is None:
            raise RuntimeError("forward has to be called before backward")
        if grad_output.shape != self.x.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {self.x.shape}")
        p = self.params
        A = self.attention_weights
        grad_joined = grad_output @ p["output_weights"].T
        dO = self.split_heads(grad_joined)
        dA = dO @ self.V.transpose(0, 1, 3, 2)
        dV = A.transpose(0, 1, 3, 2) @ dO
        dS = A * (dA - (dA * A).sum(axis=-1, keepdims=True))
        dQ = dS @ self.K / math.sqrt(self.head_dim)
        dK = dS.transpose(0, 1, 3, 2) @ self.Q / math.sqrt(self.head_dim)
        grad_queries = self.join_heads(dQ)
        grad_keys = self.join_heads(dK)
        grad_values = self.join_heads(dV)
        self.grads = {
            "query_weights": (self.x.transpose(0, 2, 1) @ grad_queries).sum(axis=0),
            "key_weights": (self.memory.transpose(0, 2, 1) @ grad_keys).sum(axis=0),
            "value_weights": (self.memory.transpose(0, 2, 1) @ grad_values).sum(axis=0),
            "output_weights": (self.joined.transpose(0, 2, 1) @ grad_output).sum(axis=0),
            "query_bias": grad_queries.sum(axis=(0, 1)),
            "key_bias": grad_keys.sum(axis=(0, 1)),
            "value_bias": grad_values.sum(axis=(0, 1)),
            "output_bias": grad_output.sum(axis=(0, 1)),
        }
        grad_x = grad_queries @ p["query_weights"].T
        grad_memory = grad_keys @ p["key_weights"].T + grad_values @ p["value_weights"].T
        return grad_x, grad_memory


class DecoderBlock:
    def __init__(self, dim, num_heads, mlp_ratio=4.0, rng=None):
        if rng is None:
            rng = np.random.default_rng()
        self.dim = dim
        self.norm1 = LayerNorm(dim)
        self.self_attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.norm2 = LayerNorm(dim)
        self.cross_attention = CrossAttention(dim, num_heads, rng)
        self.norm3 = LayerNorm(dim)
        self.mlp = MLP(dim, int(dim * mlp_ratio), 0.0, rng)

    def forward(self, x, memory, source_mask=None):
        if x.ndim != 3 or x.shape[2] != self.dim:
            raise ValueError(f"x: shape {x.shape}, expected (batch, target, {self.dim})")
        target = x.shape[1]
        causal = np.tril(np.ones((target, target), dtype=bool))
        x = x + self.self_attention.forward(self.norm1.forward(x), causal)
        x = x + self.cross_attention.forward(self.norm2.forward(x), memory, source_mask)
        x = x + self.mlp.forward(self.norm3.forward(x))
        return x

    def backward(self, grad_output):
        grad = grad_output + self.norm3.backward(self.mlp.backward(grad_output))
        grad_cross, grad_memory = self.cross_attention.backward(grad)
        grad = grad + self.norm2.backward(grad_cross)
        grad_x = grad + self.norm1.backward(self.self_attention.backward(grad))
        return grad_x, grad_memory

    def parts(self):
        return {
            "norm1": self.norm1,
            "self_attention": self.self_attention,
            "norm2": self.norm2,
            "cross_attention": self.cross_attention,
            "norm3": self.norm3,
            "mlp": self.mlp,
        }

    @property
    def params(self):
        params = {}
        for name, part in self.parts().items():
            for key, value in part.params.items():
                params[f"{name}.{key}"] = value
        return params

    @property
    def grads(self):
        grads = {}
        for name, part in self.parts().items():
            for key, value in part.grads.items():
                grads[f"{name}.{key}"] = value
        return grads


class Transformer:
    def __init__(self, source_size, target_size, max_length, depth, dim, num_heads, mlp_ratio=4.0, rng=None):
        if min(source_size, target_size, max_length, depth) < 1:
            raise ValueError("source_size, target_size, max_length and depth have to be at least 1")
        if rng is None:
            rng = np.random.default_rng()
        self.max_length = max_length
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, 0.0, rng)
        self.decoder_blocks = []
        for _ in range(depth):
            self.decoder_blocks.append(DecoderBlock(dim, num_heads, mlp_ratio, rng))
        self.decoder_norm = LayerNorm(dim)
        self.tables = {
            "source_embedding": rng.standard_normal((source_size, dim)),
            "target_embedding": rng.standard_normal((target_size, dim)),
            "source_positions": rng.standard_normal((max_length, dim)),
            "target_positions": rng.standard_normal((max_length, dim)),
            "readout_weights": rng.standard_normal((dim, target_size)) / math.sqrt(dim),
            "readout_bias": np.zeros(target_size),
        }
        self.table_grads = {}
        self.source = None

    def check_ids(self, ids, size):
        if ids.ndim != 2 or ids.shape[1] > self.max_length:
            raise ValueError(f"ids: shape {ids.shape}, expected two axes, the second up to {self.max_length}")
        if not np.issubdtype(ids.dtype, np.integer):
            raise ValueError(f"ids: {ids.dtype}, expected integers")
        if (ids < 0).any() or (ids >= size).any():
            raise ValueError(f"ids: {ids.min()} to {ids.max()}, expected 0 to {size - 1}")

    def encode(self, source, source_mask=None):
        self.check_ids(source, len(self.tables["source_embedding"]))
        x = self.tables["source_embedding"][source] + self.tables["source_positions"][: source.shape[1]]
        mask = None
        if source_mask is not None:
            source_mask = np.asarray(source_mask)
            if source_mask.shape != source.shape:
                raise ValueError(f"source_mask: shape {source_mask.shape}, expected {source.shape}")
            mask = source_mask[:, None, None, :].astype(bool)
        return self.encoder.forward(x, mask)

    def decode(self, target, memory, source_mask=None):
        self.check_ids(target, len(self.tables["target_embedding"]))
        x = self.tables["target_embedding"][target] + self.tables["target_positions"][: target.shape[1]]
        for block in self.decoder_blocks:
            x = block.forward(x, memory, source_mask)
        self.features = self.decoder_norm.forward(x)
        return self.features @ self.tables["readout_weights"] + self.tables["readout_bias"]

    def forward(self, source, target, source_mask=None):
        memory = self.encode(source, source_mask)
        logits = self.decode(target, memory, source_mask)
        self.source = source
        self.target = target
        self.logits_shape = logits.shape
        return logits

    def backward(self, grad_logits):
        if self.source is None:
            raise RuntimeError("forward has to be called before backward")
        if grad_logits.shape != self.logits_shape:
            raise ValueError(f"grad_logits: shape {grad_logits.shape}, expected {self.logits_shape}")
        grads = {name: np.zeros_like(table) for name, table in self.tables.items()}
        grads["readout_weights"] = (self.features.transpose(0, 2, 1) @ grad_logits).sum(axis=0)
        grads["readout_bias"] = grad_logits.sum(axis=(0, 1))
        grad_target = self.decoder_norm.backward(grad_logits @ self.tables["readout_weights"].T)
        grad_memory = 0
        for block in reversed(self.decoder_blocks):
            grad_target, grad = block.backward(grad_target)
            grad_memory = grad_memory + grad
        grad_source = self.encoder.backward(grad_memory)
        np.add.at(grads["target_embedding"], self.target, grad_target)
        grads["target_positions"][: self.target.shape[1]] = grad_target.sum(axis=0)
        np.add.at(grads["source_embedding"], self.source, grad_source)
        grads["source_positions"][: self.source.shape[1]] = grad_source.sum(axis=0)
        self.table_grads = grads

    def layers(self):
        layers = {"encoder.norm": self.encoder.norm, "decoder_norm": self.decoder_norm}
        for i, block in enumerate(self.encoder.blocks):
            layers[f"encoder.blocks.{i}.norm1"] = block.norm1
            layers[f"encoder.blocks.{i}.attention"] = block.attention
            layers[f"encoder.blocks.{i}.norm2"] = block.norm2
            layers[f"encoder.blocks.{i}.mlp"] = block.mlp
        for i, block in enumerate(self.decoder_blocks):
            for name, part in block.parts().items():
                layers[f"decoder.{i}.{name}"] = part
        return layers

    @property
    def params(self):
        params = dict(self.tables)
        for name, layer in self.layers().items():
            for key, value in layer.params.items():
                params[f"{name}.{key}"] = value
        return params

    @property
    def grads(self):
        grads = dict(self.table_grads)
        for name, layer in self.layers().items():
            for key, value in layer.grads.items():
                grads[f"{name}.{key}"] = value
        return grads

    def set_params(self, params):
        known = self.params
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"params: there is no {name!r}")
            if np.shape(value) != known[name].shape:
                raise ValueError(f"params: {name!r} of shape {np.shape(value)}, expected {known[name].shape}")
        layers = self.layers()
        for name, value in params.items():
            if name in self.tables:
                self.tables = {**self.tables, name: value}
            else:
                layer, key = name.rsplit(".", 1)
                layers[layer].params = {**layers[layer].params, key: value}


def shift_right(targets, start_id):
    if targets.ndim != 2:
        raise ValueError(f"targets: shape {targets.shape}, expected (batch, length)")
    shifted = np.empty_like(targets)
    shifted[:, 0] = start_id
    shifted[:, 1:] = targets[:, :-1]
    return shifted


def check_loss_inputs(logits, targets, smoothing, padding_id):
    if logits.ndim != 3 or targets.shape != logits.shape[:2]:
        raise ValueError(f"logits: shape {logits.shape}, targets: shape {targets.shape}")
    if smoothing < 0 or smoothing >= 1:
        raise ValueError(f"smoothing: {smoothing}, expected 0 <= smoothing < 1")
    if not np.issubdtype(targets.dtype, np.integer):
        raise ValueError(f"targets: {targets.dtype}, expected integers")
    real = np.ones(targets.shape, dtype=bool) if padding_id is None else targets != padding_id
    if (targets[real] < 0).any() or (targets[real] >= logits.shape[2]).any():
        raise ValueError("targets: an id is outside of the vocabulary")
    return real


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def target_distribution(targets, real, smoothing, K):
    right = np.where(real, targets, 0)
    return smoothing / K + (1 - smoothing) * np.eye(K)[right]


def label_smoothing_loss(logits, targets, smoothing=0.1, padding_id=None):
    real = check_loss_inputs(logits, targets, smoothing, padding_id)
    count = real.sum()
    if count == 0:
        return 0.0
    wanted = target_distribution(targets, real, smoothing, logits.shape[2])
    cost = -(wanted * log_softmax(logits)).sum(axis=-1)
    return float((cost * real).sum() / count)


def label_smoothing_gradient(logits, targets, smoothing=0.1, padding_id=None):
    real = check_loss_inputs(logits, targets, smoothing, padding_id)
    count = real.sum()
    if count == 0:
        return np.zeros_like(logits)
    wanted = target_distribution(targets, real, smoothing, logits.shape[2])
    p = np.exp(log_softmax(logits))
    gradient = (p - wanted) / count
    gradient[~real] = 0
    return gradient.astype(logits.dtype)


def length_penalty(length, alpha=0.6):
    if np.any(np.asarray(length) < 0):
        raise ValueError(f"length: {length}, expected at least 0")
    return ((5 + length) / 6) ** alpha


def beam_search(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    if beam_size < 1:
        raise ValueError(f"beam_size: {beam_size}, expected at least 1")
    if max_length < 1:
        raise ValueError(f"max_length: {max_length}, expected at least 1")
    beam = [([start_id], 0.0)]
    finished = []
    for _ in range(max_length):
        extensions = []
        for prefix, log_prob in beam:
            log_probs = next_log_probs(np.array(prefix))
            for token in range(len(log_probs)):
                if log_probs[token] > -np.inf:
                    extensions.append((prefix + [token], log_prob + float(log_probs[token])))
        extensions.sort(key=lambda extension: extension[1], reverse=True)
        beam = []
        for prefix, log_prob in extensions[:beam_size]:
            if prefix[-1] == end_id:
                finished.append((prefix, log_prob))
            else:
                beam.append((prefix, log_prob))
    finished.extend(beam)
    if not finished:
        raise ValueError("next_log_probs: no token is possible")
    best_tokens, best_score = None, -np.inf
    for prefix, log_prob in finished:
        score = log_prob / length_penalty(len(prefix) - 1, alpha)
        if score > best_score:
            best_tokens, best_score = prefix, score
    tokens = best_tokens[1:]
    if tokens[-1] == end_id:
        tokens = tokens[:-1]
    return tokens, best_score


def ngrams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped_matches(candidates, references, n):
    if n < 1:
        raise ValueError(f"n: {n}, expected at least 1")
    if len(candidates) != len(references):
        raise ValueError(f"references: {len(references)}, expected {len(candidates)}, one list for each candidate")
    matches = 0
    total = 0
    for candidate, answers in zip(candidates, references, strict=True):
        if len(answers) == 0:
            raise ValueError("references: a candidate has none")
        counts = ngrams(candidate, n)
        answer_counts = [ngrams(answer, n) for answer in answers]
        for ngram, count in counts.items():
            most = max(answer_count[ngram] for answer_count in answer_counts)
            matches += min(count, most)
        total += sum(counts.values())
    return matches, total


def bleu(candidates, references, max_n=4):
    if max_n < 1:
        raise ValueError(f"max_n: {max_n}, expected at least 1")
    log_precisions = []
    for n in range(1, max_n + 1):
        matches, total = clipped_matches(candidates, references, n)
        if matches == 0:
            return 0.0
        log_precisions.append(math.log(matches / total))
    c = 0
    r = 0
    for candidate, answers in zip(candidates, references, strict=True):
        c += len(candidate)
        lengths = sorted(len(answer) for answer in answers)
        r += min(lengths, key=lambda length: abs(length - len(candidate)))
    penalty = 1.0 if c >= r else math.exp(1 - r / c)
    return penalty * math.exp(sum(log_precisions) / max_n)
