"""An attention layer that keeps inputs and weights only; every readable attribute is computed when it is read."""

import numpy as np


class _Call:
    """What one forward call was given; each property is one line of the formula."""

    def __init__(self, layer, inputs, allowed):
        self.layer, self.allowed = layer, allowed
        self.X_q, self.X_k, self.X_v = inputs
        self.W_q, self.W_k = layer.query_weights.copy(), layer.key_weights.copy()
        self.W_v, self.W_o = layer.value_weights.copy(), layer.output_weights.copy()

    @property
    def queries(self):
        return self.layer.split_heads(self.X_q @ self.W_q)

    @property
    def keys(self):
        return self.layer.split_heads(self.X_k @ self.W_k)

    @property
    def values(self):
        return self.layer.split_heads(self.X_v @ self.W_v)

    @property
    def scores(self):
        return self.queries @ np.swapaxes(self.keys, -1, -2)

    @property
    def scaled(self):
        return self.scores * self.layer.scale_factor

    @property
    def masked(self):
        scaled = self.scaled
        return scaled if self.allowed is None else scaled + np.where(self.allowed, 0.0, -1e9).astype(scaled.dtype)

    @property
    def weights(self):
        weights = self.layer.softmax(self.masked)
        if self.allowed is None:
            return weights
        return weights * self.allowed.astype(weights.dtype)

    @property
    def output(self):
        return self.weights @ self.values

    @property
    def joined(self):
        return self.layer.concatenate_heads(self.output)


_READABLE = {
    "queries_multihead": "queries",
    "keys_multihead": "keys",
    "values_multihead": "values",
    "attention_scores": "scores",
    "scaled_scores": "scaled",
    "masked_scores": "masked",
    "attention_weights": "weights",
    "attention_output": "output",
    "concatenated_heads": "joined",
}


class Attention:
    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads <= 0 or embedding_dimension % number_of_heads != 0:
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a divisor of {embedding_dimension}")
        rng = np.random.default_rng() if rng is None else rng
        self.embedding_dimension, self.number_of_heads = embedding_dimension, number_of_heads
        self.head_dimension = embedding_dimension // number_of_heads
        self.scale_factor = self.head_dimension ** (-1 / 2)
        for name in ("query_weights", "value_weights", "key_weights", "output_weights"):
            setattr(self, name, rng.standard_normal((embedding_dimension, embedding_dimension)) / 50)
        self._call = None
        self._gradients = {}

    def __getattr__(self, name):
        if name in _READABLE and self.__dict__.get("_call") is not None:
            return getattr(self._call, _READABLE[name])
        if name.startswith("gradient_") and name in self.__dict__.get("_gradients", {}):
            return self._gradients[name]
        raise AttributeError(f"Attention has no {name} at this point")

    def softmax(self, scores):
        scores = np.asarray(scores)
        scores = scores if scores.dtype.kind == "f" else scores.astype(float)
        turned = np.moveaxis(scores, -1, 0)
        peak = np.maximum(turned.max(axis=0), np.finfo(scores.dtype).min)
        powers = np.exp(turned - peak)
        return np.moveaxis(powers / np.maximum(powers.sum(axis=0), np.finfo(scores.dtype).tiny), 0, -1)

    def split_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[-1] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.embedding_dimension})")
        batch, seq, _ = x.shape
        turned = x.transpose(0, 2, 1).reshape(batch, self.number_of_heads, self.head_dimension, seq)
        return turned.swapaxes(2, 3)

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1] != self.number_of_heads or x.shape[3] != self.head_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, heads, seq, head_dimension)")
        batch, _, seq, _ = x.shape
        return x.swapaxes(2, 3).reshape(batch, self.embedding_dimension, seq).transpose(0, 2, 1)

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        query_input = np.array(query_input)
        key_input = query_input if key_input is None else np.array(key_input)
        value_input = key_input if value_input is None else np.array(value_input)
        for name, x in (("query_input", query_input), ("key_input", key_input), ("value_input", value_input)):
            if x.ndim != 3 or x.shape[0] != query_input.shape[0] or x.shape[2] != self.embedding_dimension:
                raise ValueError(f"{name}: shape {x.shape}, does not fit query_input, {query_input.shape}")
        if value_input.shape[1] != key_input.shape[1]:
            raise ValueError(f"value_input: {value_input.shape[1]} tokens, but {key_input.shape[1]} keys")
        allowed = None
        if causal:
            i, j = np.ogrid[: query_input.shape[1], : key_input.shape[1]]
            allowed = j <= i
        if padding_mask is not None:
            padding_mask = np.array(padding_mask)
            if padding_mask.shape != key_input.shape[:2]:
                raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {key_input.shape[:2]}")
            real = (padding_mask != 0).reshape(len(padding_mask), 1, 1, -1)
            allowed = real if allowed is None else allowed & real
        self._call = _Call(self, (query_input, key_input, value_input), allowed)
        return self._call.joined @ self._call.W_o

    def backward(self, grad_output):
        call = self._call
        if call is None:
            raise RuntimeError("backward: forward has not run")
        grad_output = np.asarray(grad_output)
        if grad_output.shape != call.X_q.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {call.X_q.shape}")
        weights = call.weights
        upstream = self.split_heads(grad_output @ call.W_o.T)
        grad_weights = upstream @ np.swapaxes(call.values, -1, -2)
        centred = grad_weights - np.sum(upstream * call.output, axis=-1, keepdims=True)  # dO . O = dA . A, row by row
        grad_scores = weights * centred * self.scale_factor
        heads = {
            "query": grad_scores @ call.keys,
            "key": np.swapaxes(grad_scores, -1, -2) @ call.queries,
            "value": np.swapaxes(weights, -1, -2) @ upstream,
        }
        found = {
            "gradient_output_weights": np.swapaxes(call.joined, -1, -2) @ grad_output,
            "gradient_attention_output": upstream,
            "gradient_attention_weights": grad_weights,
            "gradient_attention_scores": grad_scores,
        }
        pairs = {"query": (call.X_q, call.W_q), "key": (call.X_k, call.W_k), "value": (call.X_v, call.W_v)}
        for name, (x, weight) in pairs.items():
            joined = self.concatenate_heads(heads[name])
            found[f"gradient_{name}"] = heads[name]
            found[f"gradient_{name}_weights"] = np.swapaxes(x, -1, -2) @ joined
            found[f"gradient_{name}_input"] = joined @ weight.T
        for name in [name for name in found if name.endswith("_weights") and found[name].ndim == 3]:
            found[name] = np.add.reduce(found[name])
        self._gradients = found
        return tuple(found[f"gradient_{name}_input"] for name in ("query", "key", "value"))

    def update(self, learning_rate):
        if not self._gradients:
            raise RuntimeError("update: backward has not run")
        for name in ("query_weights", "key_weights", "value_weights", "output_weights"):
            setattr(self, name, getattr(self, name) - learning_rate * self._gradients[f"gradient_{name}"])
