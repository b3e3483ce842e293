"""With loops: one sequence, one head, one query, one token after the other; a beam on a heap, n-grams struck off."""

import heapq
import math

import numpy as np

from stages.s17_transformer_blocks.blocks import MLP, Encoder, LayerNorm, MultiheadSelfAttention

ROLES = ("query", "key", "value", "output")


def _need(condition, sentence):
    if not condition:
        raise ValueError(sentence)


class CrossAttention:
    def __init__(self, dim, num_heads, rng=None):
        _need(dim > 0 and num_heads > 0 and dim % num_heads == 0, f"{num_heads} heads cannot share {dim} features")
        rng = np.random.default_rng() if rng is None else rng
        self.dim, self.num_heads = dim, num_heads
        self.params, self.grads, self._memory = {}, {}, None
        for role in ROLES:
            self.params[role + "_weights"] = rng.normal(0, dim**-0.5, size=(dim, dim))
            self.params[role + "_bias"] = np.zeros(dim)

    def _heads(self):
        size = self.dim // self.num_heads
        return [slice(size * head, size * (head + 1)) for head in range(self.num_heads)]

    def forward(self, x, memory, source_mask=None):
        x, memory = np.asarray(x), np.asarray(memory)
        for name, array in (("x", x), ("memory", memory)):
            _need(array.ndim == 3 and array.shape[-1] == self.dim, f"{name} has the shape {array.shape}")
        _need(len(x) == len(memory), f"{len(x)} targets, but {len(memory)} sources")
        batch, target, source = len(x), x.shape[1], memory.shape[1]
        seen = np.full((batch, source), True) if source_mask is None else np.asarray(source_mask) != 0
        _need(seen.shape == (batch, source), f"source_mask has the shape {seen.shape}")
        params = dict(self.params)
        weights = np.zeros((batch, self.num_heads, target, source), dtype=x.dtype)
        joined, projected, output = np.zeros_like(x), [], np.zeros_like(x)
        for b in range(batch):
            given = {"query": x[b], "key": memory[b], "value": memory[b]}
            parts = {role: rows @ params[role + "_weights"] + params[role + "_bias"] for role, rows in given.items()}
            real = np.flatnonzero(seen[b])
            for h, own in enumerate(self._heads()):
                for i in range(target):
                    if len(real):
                        scores = parts["key"][real, own] @ parts["query"][i, own] / math.sqrt(own.stop - own.start)
                        powers = np.exp(scores - scores.max())
                        weights[b, h, i, real] = powers / powers.sum()
                        joined[b, i, own] = weights[b, h, i, real] @ parts["value"][real, own]
            output[b] = joined[b] @ params["output_weights"] + params["output_bias"]
            projected.append(parts)
        self.attention_weights = weights.copy()
        self._memory = x, memory, params, projected, weights, joined
        return output

    def backward(self, grad_output):
        if self._memory is None:
            raise RuntimeError("nothing went forward yet")
        x, memory, params, projected, weights, joined = self._memory
        _need(np.shape(grad_output) == x.shape, f"grad_output has the shape {np.shape(grad_output)}")
        grads = {name: np.zeros_like(value) for name, value in params.items()}
        grad_x, grad_memory = np.zeros_like(x), np.zeros_like(memory)
        for b, parts in enumerate(projected):
            back = {role: np.zeros_like(rows) for role, rows in parts.items()}
            back["output"] = grad_output[b]
            grad_joined = grad_output[b] @ params["output_weights"].T
            for h, own in enumerate(self._heads()):
                scale = 1 / math.sqrt(own.stop - own.start)
                for i, row in enumerate(weights[b, h]):
                    grad_row = parts["value"][:, own] @ grad_joined[i, own]
                    grad_scores = row * (grad_row - row @ grad_row) * scale
                    back["query"][i, own] += grad_scores @ parts["key"][:, own]
                    back["key"][:, own] += np.outer(grad_scores, parts["query"][i, own])
                    back["value"][:, own] += np.outer(row, grad_joined[i, own])
            given = {"query": x[b], "key": memory[b], "value": memory[b], "output": joined[b]}
            for role in ROLES:
                grads[role + "_weights"] += given[role].T @ back[role]
                grads[role + "_bias"] += sum(back[role])
            grad_x[b] = back["query"] @ params["query_weights"].T
            for role in ("key", "value"):
                grad_memory[b] += back[role] @ params[role + "_weights"].T
        self.grads = grads
        return grad_x, grad_memory


class _Named:
    """Something made of named parts."""

    def _collect(self, which):
        found = {}
        for name, part in self._parts():
            for key, value in getattr(part, which).items():
                found[f"{name}.{key}"] = value
        return found

    @property
    def params(self):
        return self._collect("params")

    @property
    def grads(self):
        return self._collect("grads")


class DecoderBlock(_Named):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.cross_attention = CrossAttention(dim, num_heads, rng)
        self.self_attention = MultiheadSelfAttention(dim, num_heads, rng)
        self.mlp = MLP(dim, int(mlp_ratio * dim), rng=rng)
        self.norm1, self.norm2, self.norm3 = LayerNorm(dim), LayerNorm(dim), LayerNorm(dim)

    def _parts(self):
        names = ("norm1", "self_attention", "norm2", "cross_attention", "norm3", "mlp")
        return [(name, getattr(self, name)) for name in names]

    def forward(self, x, memory, source_mask=None):
        x = np.asarray(x)
        _need(x.ndim == 3, f"x has {x.ndim} axes")
        positions = np.arange(x.shape[1])
        written = x + self.self_attention.forward(self.norm1.forward(x), positions <= positions[:, None])
        found = written + self.cross_attention.forward(self.norm2.forward(written), memory, source_mask)
        return found + self.mlp.forward(self.norm3.forward(found))

    def backward(self, grad_output):
        through_mlp = self.norm3.backward(self.mlp.backward(grad_output))
        asked, grad_memory = self.cross_attention.backward(grad_output + through_mlp)
        grad = grad_output + through_mlp + self.norm2.backward(asked)
        return grad + self.norm1.backward(self.self_attention.backward(grad)), grad_memory


class _Tables:
    def __init__(self, tables):
        self.params, self.grads = tables, {}


class Transformer(_Named):
    def __init__(self, source_size, target_size, max_length, depth, dim, num_heads, mlp_ratio=4.0, rng=None):
        for number in (source_size, target_size, max_length, depth):
            _need(number >= 1, f"{number} is too small a size")
        rng = np.random.default_rng() if rng is None else rng
        self.sizes = {"source": source_size, "target": target_size}
        self.max_length = max_length
        tables = {}
        for side, size in self.sizes.items():
            tables[side + "_embedding"] = rng.normal(size=(size, dim))
            tables[side + "_positions"] = rng.normal(size=(max_length, dim))
        tables["readout_weights"] = rng.normal(0, dim**-0.5, size=(dim, target_size))
        tables["readout_bias"] = np.zeros(target_size)
        self.own = _Tables(tables)
        self.encoder = Encoder(depth, dim, num_heads, mlp_ratio, rng=rng)
        self.decoder_blocks = [DecoderBlock(dim, num_heads, mlp_ratio, rng) for _ in range(depth)]
        self.decoder_norm = LayerNorm(dim)
        self._last = None

    @property
    def tables(self):
        return self.own.params

    def _parts(self):
        found = [("encoder.norm", self.encoder.norm), ("decoder_norm", self.decoder_norm)]
        for i, block in enumerate(self.encoder.blocks):
            found += [
                (f"encoder.blocks.{i}.{name}", getattr(block, name)) for name in ("norm1", "attention", "norm2", "mlp")
            ]
        for i, block in enumerate(self.decoder_blocks):
            found += [(f"decoder.{i}.{name}", part) for name, part in block._parts()]
        return found

    @property
    def params(self):
        return {**self.own.params, **self._collect("params")}

    @property
    def grads(self):
        return {**self.own.grads, **self._collect("grads")}

    def set_params(self, params):
        known, owners = self.params, dict(self._parts())
        for name, value in params.items():
            _need(name in known and known[name].shape == np.shape(value), f"{name!r} is not among params, or its shape")
        for name, value in params.items():
            owner, _, key = name.rpartition(".")
            part = owners.get(owner, self.own)
            part.params = {**part.params, key: value}

    def _look_up(self, side, ids):
        ids = np.asarray(ids)
        _need(ids.ndim == 2 and ids.shape[1] <= self.max_length, f"{side} has the shape {ids.shape}")
        embedding, positions = self.own.params[side + "_embedding"], self.own.params[side + "_positions"]
        rows = []
        for sequence in ids.tolist():
            _need(ids.dtype.kind in "iu", f"{side} has ids of {ids.dtype}")
            _need(all(0 <= token < self.sizes[side] for token in sequence), f"{side} has an unknown id: {sequence}")
            rows.append([embedding[token] + positions[place] for place, token in enumerate(sequence)])
        return np.array(rows).reshape(*ids.shape, -1)

    def encode(self, source, source_mask=None):
        x = self._look_up("source", source)
        if source_mask is None:
            return self.encoder.forward(x)
        _need(np.shape(source_mask) == x.shape[:2], f"source_mask has the shape {np.shape(source_mask)}")
        return self.encoder.forward(x, np.reshape(source_mask, (len(x), 1, 1, -1)) != 0)

    def decode(self, target, memory, source_mask=None):
        x = self._look_up("target", target)
        for block in self.decoder_blocks:
            x = block.forward(x, memory, source_mask)
        self._features = self.decoder_norm.forward(x)
        return self._features @ self.own.params["readout_weights"] + self.own.params["readout_bias"]

    def forward(self, source, target, source_mask=None):
        logits = self.decode(target, self.encode(source, source_mask), source_mask)
        self._last = np.array(source), np.array(target), self._features, logits.shape
        return logits

    def backward(self, grad_logits):
        if self._last is None:
            raise RuntimeError("nothing went forward yet")
        source, target, features, shape = self._last
        _need(np.shape(grad_logits) == shape, f"grad_logits has the shape {np.shape(grad_logits)}")
        grads = {name: np.zeros_like(table) for name, table in self.own.params.items()}
        for sequence, grad_sequence in zip(features, grad_logits, strict=True):
            for token, grad in zip(sequence, grad_sequence, strict=True):
                grads["readout_weights"] += np.outer(token, grad)
                grads["readout_bias"] += grad
        grad = self.decoder_norm.backward(grad_logits @ self.own.params["readout_weights"].T)
        of_memory = []
        for block in self.decoder_blocks[::-1]:
            grad, part = block.backward(grad)
            of_memory.append(part)
        for side, ids, grad_x in (("target", target, grad), ("source", source, self.encoder.backward(sum(of_memory)))):
            for b, place in np.ndindex(ids.shape):
                grads[side + "_embedding"][ids[b, place]] += grad_x[b, place]
                grads[side + "_positions"][place] += grad_x[b, place]
        self.own.grads = grads


def shift_right(targets, start_id):
    _need(np.ndim(targets) == 2, f"targets has {np.ndim(targets)} axes")
    shifted = np.roll(targets, 1, axis=1)
    shifted[:, 0] = start_id
    return shifted


def _positions(logits, targets, smoothing, padding_id):
    """(place, row of logits, right token) of every position that counts."""
    logits, targets = np.asarray(logits), np.asarray(targets)
    _need(logits.ndim == 3 and logits.shape[:2] == targets.shape, "logits and targets do not go together")
    _need(0 <= smoothing < 1, f"a smoothing of {smoothing}")
    _need(np.issubdtype(targets.dtype, np.integer), f"ids of {targets.dtype}")
    found = []
    for place in np.ndindex(targets.shape):
        token = int(targets[place])
        if padding_id is None or token != padding_id:
            _need(0 <= token < logits.shape[2], f"{token} is not in the vocabulary")
            found.append((place, logits[place], token))
    return found


def label_smoothing_loss(logits, targets, smoothing=0.1, padding_id=None):
    total, found = 0.0, _positions(logits, targets, smoothing, padding_id)
    for _, row, token in found:
        log_total = row.max() + math.log(np.exp(row - row.max()).sum())
        total += float(log_total - (1 - smoothing) * row[token] - smoothing * row.mean())
    return total / len(found) if found else 0.0


def label_smoothing_gradient(logits, targets, smoothing=0.1, padding_id=None):
    found = _positions(logits, targets, smoothing, padding_id)
    gradient = np.zeros_like(logits)
    for place, row, token in found:
        powers = np.exp(row - row.max())
        gradient[place] = powers / powers.sum() - smoothing / len(row)
        gradient[(*place, token)] -= 1 - smoothing
        gradient[place] /= len(found)
    return gradient


def length_penalty(length, alpha=0.6):
    _need(np.min(length) >= 0, f"a length of {length}")
    return np.power((np.asarray(length) + 5.0) / 6.0, alpha)


def beam_search(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    _need(beam_size >= 1 and max_length >= 1, f"a beam of {beam_size}, answers of {max_length} tokens")
    beam, best = [(0.0, (start_id,))], None

    def finish(total, prefix):
        nonlocal best
        score = total / float(length_penalty(len(prefix) - 1, alpha))
        if best is None or score > best[1]:
            best = [token for token in prefix[1:] if token != end_id], score

    for _ in range(max_length):
        extensions = (
            (total + float(more), (*prefix, token))
            for total, prefix in beam
            for token, more in enumerate(next_log_probs(np.array(prefix)))
            if more != -np.inf
        )
        beam = []
        for total, prefix in heapq.nlargest(beam_size, extensions):
            if prefix[-1] == end_id:
                finish(total, prefix)
            else:
                beam.append((total, prefix))
        if not beam:
            break
    for total, prefix in beam:
        finish(total, prefix)
    _need(best is not None, "no token may come next")
    return best


def _check(candidates, references, n):
    _need(n >= 1, f"n-grams of {n}")
    _need(len(candidates) == len(references), "one list of references for each candidate")
    _need(all(len(answers) > 0 for answers in references), "a candidate without references")


def _grams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(max(0, len(tokens) - n + 1))]


def clipped_matches(candidates, references, n):
    _check(candidates, references, n)
    matches = total = 0
    for candidate, answers in zip(candidates, references, strict=True):
        grams, left = _grams(candidate, n), {}
        for answer in answers:
            found = _grams(answer, n)
            for gram in found:
                left[gram] = max(left.get(gram, 0), found.count(gram))
        for gram in grams:
            if left.get(gram, 0) > 0:
                left[gram] -= 1
                matches += 1
        total += len(grams)
    return matches, total


def bleu(candidates, references, max_n=4):
    _check(candidates, references, max_n)
    product = 1.0
    for n in range(1, max_n + 1):
        matches, total = clipped_matches(candidates, references, n)
        if not matches:
            return 0.0
        product *= matches / total
    lengths, wanted = 0, 0
    for candidate, answers in zip(candidates, references, strict=True):
        lengths += len(candidate)
        wanted += sorted((abs(len(answer) - len(candidate)), len(answer)) for answer in answers)[0][1]
    short = 1.0 if lengths > wanted else math.exp(1 - wanted / lengths)
    return short * product ** (1 / max_n)
