"""Not one derivative of a layer: forward records a graph, backward walks back through it. GELU by tanh, eps outside.

Nothing is imported from stage s17: attention, norm, MLP and encoder are built of the same few operations.
"""

import math

import numpy as np


class _Node:
    """A value and how the gradient of a loss comes from here to each of its parents."""

    def __init__(self, value, *parents):
        self.value = value
        self.parents = parents

    def __add__(self, other):
        return _Node(
            self.value + other.value,
            (self, lambda grad: _fold(grad, self.value.shape)),
            (other, lambda grad: _fold(grad, other.value.shape)),
        )

    def __mul__(self, other):
        if not isinstance(other, _Node):
            return _Node(self.value * other, (self, lambda grad: grad * other))
        return _Node(
            self.value * other.value,
            (self, lambda grad: _fold(grad * other.value, self.value.shape)),
            (other, lambda grad: _fold(grad * self.value, other.value.shape)),
        )

    def __sub__(self, other):
        return self + other * -1.0

    def __matmul__(self, other):
        return _Node(
            self.value @ other.value,
            (self, lambda grad: _fold(grad @ other.value.swapaxes(-1, -2), self.value.shape)),
            (other, lambda grad: _fold(self.value.swapaxes(-1, -2) @ grad, other.value.shape)),
        )

    def __getitem__(self, index):
        def spread(grad):
            whole = np.zeros_like(self.value)
            whole[index] = grad
            return whole

        return _Node(self.value[index], (self, spread))

    def reshape(self, *shape):
        return _Node(self.value.reshape(shape), (self, lambda grad: grad.reshape(self.value.shape)))

    def transpose(self, *axes):
        back = np.argsort(axes)
        return _Node(self.value.transpose(axes), (self, lambda grad: grad.transpose(back)))

    def mean(self):
        size = self.value.shape[-1]
        value = self.value.mean(axis=-1, keepdims=True)
        return _Node(value, (self, lambda grad: np.broadcast_to(grad / size, self.value.shape)))

    def power(self, exponent):
        value = self.value**exponent
        return _Node(value, (self, lambda grad: grad * exponent * self.value ** (exponent - 1)))

    def softmax(self, allowed):
        scores = np.where(allowed, self.value, self.value.dtype.type(-np.inf))
        highest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        powers = np.exp(scores - np.where(np.isinf(highest), 0, highest).astype(scores.dtype))
        totals = powers.sum(axis=-1, keepdims=True)
        weights = powers / np.where(totals > 0, totals, 1).astype(scores.dtype)
        return _Node(weights, (self, lambda grad: weights * (grad - (grad * weights).sum(axis=-1, keepdims=True))))

    def gelu(self):
        x, root = self.value, math.sqrt(2 / math.pi)
        bent = np.tanh(root * (x + 0.044715 * x**3))
        slope = 0.5 * (1 + bent) + 0.5 * x * (1 - bent**2) * root * (1 + 0.134145 * x**2)
        return _Node(0.5 * x * (1 + bent), (self, lambda grad: grad * slope))

    def rows(self, ids):
        def spread(grad):
            whole = np.zeros_like(self.value)
            np.add.at(whole, ids, grad)
            return whole

        return _Node(self.value[ids], (self, spread))


def _fold(grad, shape):
    """Add up what broadcasting had repeated."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(axis for axis, size in enumerate(shape) if size == 1 and grad.shape[axis] != 1)
    return grad.sum(axis=repeated, keepdims=True)


def _order(root):
    """Every node after all of its parents; without recursion, since a deep encoder is a long graph."""
    done, order, todo = set(), [], [(root, False)]
    while todo:
        node, seen = todo.pop()
        if seen:
            order.append(node)
        elif id(node) not in done:
            done.add(id(node))
            todo.append((node, True))
            todo.extend((parent, False) for parent, _ in node.parents)
    return order


def _gradients(root, grad_output):
    grads = {id(root): grad_output}
    for node in reversed(_order(root)):
        for parent, back in node.parents:
            grad = back(grads[id(node)])
            grads[id(parent)] = grads[id(parent)] + grad if id(parent) in grads else grad
    return grads


def _array(value):
    value = np.asarray(value)
    return value if value.dtype.kind == "f" else value.astype(float)


def _check(condition, what):
    if not condition:
        raise ValueError(what)


class _Part:
    """Holds parameters; `nodes` are those of the last graph."""

    def __init__(self, **params):
        self.params, self.grads, self.nodes = params, {}, {}

    def leaves(self):
        return {"": self}

    def open(self):
        self.nodes = {key: _Node(value) for key, value in self.params.items()}

    def close(self, grads):
        self.grads = {key: np.array(grads.get(id(node), np.zeros_like(node.value))) for key, node in self.nodes.items()}

    def linear(self, x, name):
        return x @ self.nodes[name + "_weights"] + self.nodes[name + "_bias"]


def _normal(rng, rows, columns):
    return rng.normal(size=(rows, columns)) / math.sqrt(rows)


class _Norm(_Part):
    def __init__(self, dim):
        super().__init__(gamma=np.ones(dim), beta=np.zeros(dim))

    def graph(self, x):
        centred = x - x.mean()
        eps = _Node(np.asarray(1e-5, dtype=x.value.dtype))
        deviation = (centred.power(2).mean() + _Node(np.asarray(1e-30, dtype=x.value.dtype))).power(0.5)
        return centred * (deviation + eps).power(-1) * self.nodes["gamma"] + self.nodes["beta"]


class _MLP(_Part):
    def __init__(self, dim, hidden, rng):
        super().__init__(
            W1=_normal(rng, dim, hidden), b1=np.zeros(hidden), W2=_normal(rng, hidden, dim), b2=np.zeros(dim)
        )

    def graph(self, x):
        return (x @ self.nodes["W1"] + self.nodes["b1"]).gelu() @ self.nodes["W2"] + self.nodes["b2"]


def _attend(q, k, v, num_heads, allowed):
    """(joined heads, weights): q of (batch, target, dim), k and v of (batch, source, dim)."""
    batch, _, dim = q.value.shape
    q, k, v = (part.reshape(batch, -1, num_heads, dim // num_heads).transpose(0, 2, 1, 3) for part in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * (1 / math.sqrt(dim // num_heads))
    weights = scores.softmax(np.broadcast_to(allowed, scores.value.shape))
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, -1, dim), weights.value


class _SelfAttention(_Part):
    def __init__(self, dim, num_heads, rng):
        _check(dim > 0 and num_heads > 0 and dim % num_heads == 0, f"{num_heads} heads of {dim} features")
        super().__init__(
            qkv_weights=_normal(rng, dim, 3 * dim),
            qkv_bias=np.zeros(3 * dim),
            output_weights=_normal(rng, dim, dim),
            output_bias=np.zeros(dim),
        )
        self.dim, self.num_heads = dim, num_heads

    def graph(self, x, allowed):
        qkv = self.linear(x, "qkv")
        parts = (qkv[..., i * self.dim : (i + 1) * self.dim] for i in range(3))
        return self.linear(_attend(*parts, self.num_heads, allowed)[0], "output")


class _Recorder:
    """What has a graph of its own: opens its leaves before, and closes them after the way back."""

    last = None

    def record(self, build):
        for leaf in self.leaves().values():
            leaf.open()
        root, inputs = build()
        self.last = root, inputs
        return root.value.copy()

    def replay(self, grad_output):
        if self.last is None:
            raise RuntimeError("there is no forward call to go back through")
        root, inputs = self.last
        grad_output = _array(grad_output)
        _check(grad_output.shape == root.value.shape, f"{grad_output.shape} for an output of {root.value.shape}")
        grads = _gradients(root, grad_output)
        for leaf in self.leaves().values():
            leaf.close(grads)
        return tuple(np.array(grads[id(node)]) for node in inputs)

    def named(self, which):
        return {
            f"{name}.{key}" if name else key: value
            for name, leaf in self.leaves().items()
            for key, value in getattr(leaf, which).items()
        }


class CrossAttention(_Recorder, _Part):
    def __init__(self, dim, num_heads, rng=None):
        _check(dim > 0 and num_heads > 0 and dim % num_heads == 0, f"{num_heads} heads of {dim} features")
        rng = np.random.default_rng() if rng is None else rng
        roles = ("query", "key", "value", "output")
        params = {f"{role}_weights": _normal(rng, dim, dim) for role in roles}
        _Part.__init__(self, **params, **{f"{role}_bias": np.zeros(dim) for role in roles})
        self.dim, self.num_heads = dim, num_heads

    def graph(self, x, memory, source_mask):
        for value in (x.value, memory.value):
            _check(value.ndim == 3 and value.shape[2] == self.dim, f"{value.shape} is not (batch, seq, {self.dim})")
        _check(len(x.value) == len(memory.value), "as many sources as targets")
        mask = np.full(memory.value.shape[:2], True) if source_mask is None else np.asarray(source_mask) > 0
        _check(mask.shape == memory.value.shape[:2], f"source_mask: {mask.shape}")
        q, k, v = self.linear(x, "query"), self.linear(memory, "key"), self.linear(memory, "value")
        joined, self.attention_weights = _attend(q, k, v, self.num_heads, mask[:, np.newaxis, np.newaxis])
        return self.linear(joined, "output")

    def forward(self, x, memory, source_mask=None):
        inputs = _Node(_array(x)), _Node(_array(memory))
        return self.record(lambda: (self.graph(*inputs, source_mask), inputs))

    def backward(self, grad_output):
        return self.replay(grad_output)


class DecoderBlock(_Recorder):
    def __init__(self, dim, num_heads, mlp_ratio=4.0, rng=None):
        rng = np.random.default_rng() if rng is None else rng
        self.norm1, self.norm2, self.norm3 = (_Norm(dim) for _ in range(3))
        self.self_attention = _SelfAttention(dim, num_heads, rng)
        self.cross_attention = CrossAttention(dim, num_heads, rng)
        self.mlp = _MLP(dim, int(dim * mlp_ratio), rng)

    def leaves(self):
        names = ("norm1", "self_attention", "norm2", "cross_attention", "norm3", "mlp")
        return {name: getattr(self, name) for name in names}

    def graph(self, x, memory, source_mask):
        _check(x.value.ndim == 3 and x.value.shape[2] == len(self.norm1.params["beta"]), f"x: {x.value.shape}")
        x = x + self.self_attention.graph(self.norm1.graph(x), np.tri(x.value.shape[1]) > 0)
        x = x + self.cross_attention.graph(self.norm2.graph(x), memory, source_mask)
        return x + self.mlp.graph(self.norm3.graph(x))

    def forward(self, x, memory, source_mask=None):
        inputs = _Node(_array(x)), _Node(_array(memory))
        return self.record(lambda: (self.graph(*inputs, source_mask), inputs))

    def backward(self, grad_output):
        return self.replay(grad_output)

    @property
    def params(self):
        return self.named("params")

    @property
    def grads(self):
        return self.named("grads")


class Transformer(_Recorder):
    def __init__(self, source_size, target_size, max_length, depth, dim, num_heads, mlp_ratio=4.0, rng=None):
        _check(min(source_size, target_size, max_length, depth) > 0, "every size is at least 1")
        rng = np.random.default_rng() if rng is None else rng
        self.own = _Part(
            source_embedding=rng.normal(size=(source_size, dim)),
            target_embedding=rng.normal(size=(target_size, dim)),
            source_positions=rng.normal(size=(max_length, dim)),
            target_positions=rng.normal(size=(max_length, dim)),
            readout_weights=_normal(rng, dim, target_size),
            readout_bias=np.zeros(target_size),
        )
        hidden = int(dim * mlp_ratio)
        self.encoder_blocks = [
            (_Norm(dim), _SelfAttention(dim, num_heads, rng), _Norm(dim), _MLP(dim, hidden, rng)) for _ in range(depth)
        ]
        self.encoder_norm, self.decoder_norm = _Norm(dim), _Norm(dim)
        self.decoder_blocks = [DecoderBlock(dim, num_heads, mlp_ratio, rng) for _ in range(depth)]

    def leaves(self):
        found = {"": self.own, "encoder.norm": self.encoder_norm, "decoder_norm": self.decoder_norm}
        for i, parts in enumerate(self.encoder_blocks):
            names = ("norm1", "attention", "norm2", "mlp")
            found.update({f"encoder.blocks.{i}.{name}": part for name, part in zip(names, parts, strict=True)})
        for i, block in enumerate(self.decoder_blocks):
            found.update({f"decoder.{i}.{name}": part for name, part in block.leaves().items()})
        return found

    def embed(self, side, ids):
        ids = np.asarray(ids)
        embedding, positions = self.own.nodes[side + "_embedding"], self.own.nodes[side + "_positions"]
        _check(ids.ndim == 2 and ids.shape[1] <= len(positions.value), f"{side}: {ids.shape}")
        _check(ids.dtype.kind in "iu", f"{side}: {ids.dtype}")
        _check(np.all((ids >= 0) & (ids < len(embedding.value))), f"{side}: an unknown id")
        return embedding.rows(ids) + positions[: ids.shape[1]]

    def encoded(self, source, source_mask):
        x = self.embed("source", source)
        mask = np.full(x.value.shape[:2], True) if source_mask is None else np.asarray(source_mask) > 0
        _check(mask.shape == x.value.shape[:2], f"source_mask: {mask.shape}")
        for norm1, attention, norm2, mlp in self.encoder_blocks:
            x = x + attention.graph(norm1.graph(x), mask[:, np.newaxis, np.newaxis])
            x = x + mlp.graph(norm2.graph(x))
        return self.encoder_norm.graph(x)

    def decoded(self, target, memory, source_mask):
        x = self.embed("target", target)
        for block in self.decoder_blocks:
            x = block.graph(x, memory, source_mask)
        return self.own.linear(self.decoder_norm.graph(x), "readout")

    def encode(self, source, source_mask=None):
        return self.record(lambda: (self.encoded(source, source_mask), ()))

    def decode(self, target, memory, source_mask=None):
        return self.record(lambda: (self.decoded(target, _Node(_array(memory)), source_mask), ()))

    def forward(self, source, target, source_mask=None):
        return self.record(lambda: (self.decoded(target, self.encoded(source, source_mask), source_mask), ()))

    def backward(self, grad_logits):
        self.replay(grad_logits)

    def set_params(self, params):
        known = self.params
        for name, value in params.items():
            _check(name in known and np.shape(value) == known[name].shape, f"{name}: not a parameter of this shape")
        for name, leaf in self.leaves().items():
            prefix = name + "." if name else ""
            leaf.params = {key: params.get(prefix + key, value) for key, value in leaf.params.items()}

    @property
    def params(self):
        return self.named("params")

    @property
    def grads(self):
        return self.named("grads")


def shift_right(targets, start_id):
    targets = np.asarray(targets)
    _check(targets.ndim == 2, f"targets: {targets.shape}")
    first = np.full((len(targets), 1), start_id, dtype=targets.dtype)
    return np.concatenate([first, targets[:, :-1]], axis=1)


def _shares(logits, targets, smoothing, padding_id):
    """(softmax, log-softmax, wanted shares, which count), flattened to rows."""
    logits, targets = np.asarray(logits), np.asarray(targets)
    _check(logits.ndim == 3 and targets.ndim == 2 and targets.size * logits.shape[2] == logits.size, "shapes")
    _check(logits.shape[:2] == targets.shape, "shapes")
    _check(0.0 <= smoothing < 1.0, f"smoothing: {smoothing}")
    rows, ids = logits.reshape(-1, logits.shape[2]), targets.ravel()
    counting = np.flatnonzero(ids != padding_id) if padding_id is not None else np.arange(ids.size)
    _check(ids.dtype.kind in "iu", f"targets: {ids.dtype}")
    _check(np.all((ids[counting] >= 0) & (ids[counting] < rows.shape[1])), "targets: an unknown id")
    logs = rows - rows.max(axis=1)[:, None]
    logs = logs - np.log(np.exp(logs).sum(axis=1))[:, None]
    wanted = np.full_like(rows, smoothing / rows.shape[1])
    wanted[counting, ids[counting]] += 1 - smoothing
    return np.exp(logs), logs, wanted, counting


def label_smoothing_loss(logits, targets, smoothing=0.1, padding_id=None):
    _, logs, wanted, counting = _shares(logits, targets, smoothing, padding_id)
    return float(-np.sum(logs[counting] * wanted[counting]) / len(counting)) if len(counting) else 0.0


def label_smoothing_gradient(logits, targets, smoothing=0.1, padding_id=None):
    p, _, wanted, counting = _shares(logits, targets, smoothing, padding_id)
    gradient = np.zeros_like(p)
    gradient[counting] = (p[counting] - wanted[counting]) / max(len(counting), 1)
    return gradient.reshape(np.shape(logits))


def length_penalty(length, alpha=0.6):
    length = np.asarray(length, dtype=float)
    _check(np.all(length >= 0), f"length: {length}")
    return np.exp(alpha * np.log((5 + length) / 6))


def beam_search(next_log_probs, start_id, end_id, beam_size=4, max_length=20, alpha=0.6):
    """With arrays: the beam is a table of ids, a row a prefix."""
    _check(min(beam_size, max_length) >= 1, f"beam_size: {beam_size}, max_length: {max_length}")
    table, totals, done = np.array([[start_id]]), np.zeros(1), []
    for length in range(1, max_length + 1):
        scores = totals[:, None] + np.array([next_log_probs(row) for row in table])
        order = np.argsort(-scores, axis=None, kind="stable")[:beam_size]
        order = order[scores.ravel()[order] > -np.inf]
        rows, tokens = np.unravel_index(order, scores.shape)
        table, totals = np.column_stack([table[rows], tokens]), scores[rows, tokens]
        ended = tokens == end_id
        penalty = float(length_penalty(length, alpha))
        done += [(total / penalty, row[1:-1].tolist()) for total, row in zip(totals[ended], table[ended], strict=True)]
        table, totals = table[~ended], totals[~ended]
        if not len(table):
            break
    done += [
        (total / float(length_penalty(max_length, alpha)), row[1:].tolist())
        for total, row in zip(totals, table, strict=True)
    ]
    _check(done, "next_log_probs: nothing may follow")
    score, tokens = max(done)
    return tokens, float(score)


def _table(sentences, n):
    """How often each n-gram occurs in each sentence."""
    found = {}
    for place, sentence in enumerate(sentences):
        for gram in zip(*(sentence[start:] for start in range(n)), strict=False):
            found.setdefault(gram, [0] * len(sentences))[place] += 1
    return found


def clipped_matches(candidates, references, n):
    _check(n >= 1 and len(candidates) == len(references), f"n: {n}, references: {len(references)}")
    matches = total = 0
    for candidate, answers in zip(candidates, references, strict=True):
        _check(len(answers), "references: none for a candidate")
        for own, *others in _table([candidate, *answers], n).values():
            matches += min(own, max(others))
            total += own
    return matches, total


def bleu(candidates, references, max_n=4):
    _check(max_n >= 1, f"max_n: {max_n}")
    counted = np.array([clipped_matches(candidates, references, n) for n in range(1, max_n + 1)], dtype=float)
    if not counted[:, 0].all():
        return 0.0
    c, r = sum(map(len, candidates)), 0
    for candidate, answers in zip(candidates, references, strict=True):
        best = None
        for answer in answers:
            off = abs(len(answer) - len(candidate)), len(answer)
            best = off if best is None or off < best else best
        r += best[1]
    return float(np.exp(np.log(counted[:, 0] / counted[:, 1]).mean()) * min(1.0, np.exp(1 - r / c)))
