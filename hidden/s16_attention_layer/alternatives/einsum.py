"""An attention layer as a row of einsum formulas; the four weights are one stacked array behind properties."""

import numpy as np

_NAMES = ("query", "key", "value", "output")


def _weights_property(index):
    def read(self):
        return self._weights[index]

    def write(self, value):
        value = np.asarray(value)
        self._weights = [value if i == index else held for i, held in enumerate(self._weights)]

    return property(read, write)


class Attention:
    query_weights = _weights_property(0)
    key_weights = _weights_property(1)
    value_weights = _weights_property(2)
    output_weights = _weights_property(3)

    def __init__(self, embedding_dimension=512, number_of_heads=8, rng=None):
        if number_of_heads < 1:
            raise ValueError(f"number_of_heads: {number_of_heads}, expected a positive number")
        self.head_dimension, rest = divmod(embedding_dimension, number_of_heads)
        if rest:
            raise ValueError(f"number_of_heads: {number_of_heads} does not divide {embedding_dimension}")
        self.embedding_dimension = embedding_dimension
        self.number_of_heads = number_of_heads
        self.scale_factor = self.head_dimension**-0.5
        rng = rng or np.random.default_rng()
        self._weights = 0.02 * rng.standard_normal((4, embedding_dimension, embedding_dimension))
        self._inputs = self._gradients = None

    def softmax(self, scores):
        scores = np.asarray(scores) + 0.0
        peak = np.max(scores, axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
        total = np.einsum("...k->...", powers)[..., None]
        return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)

    def split_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[-1] != self.embedding_dimension:
            raise ValueError(f"x: shape {x.shape}, expected (batch, seq, {self.embedding_dimension})")
        return np.einsum("bshd->bhsd", x.reshape(*x.shape[:2], self.number_of_heads, self.head_dimension))

    def concatenate_heads(self, x):
        x = np.asarray(x)
        if x.ndim != 4 or (x.shape[1], x.shape[3]) != (self.number_of_heads, self.head_dimension):
            raise ValueError(f"x: shape {x.shape}, expected (batch, heads, seq, head_dimension)")
        return np.einsum("bhsd->bshd", x).reshape(x.shape[0], x.shape[2], self.embedding_dimension)

    def _cube(self, index):
        """Weights with their columns divided among the heads, (embedding, heads, head_dimension)."""
        return self._weights[index].reshape(self.embedding_dimension, self.number_of_heads, self.head_dimension)

    def _allowed(self, batch, seq_q, seq_k, causal, padding_mask):
        allowed = np.ones((batch, 1, seq_q, seq_k), dtype=bool)
        if causal:
            allowed &= np.tri(seq_q, seq_k, dtype=bool)
        if padding_mask is not None:
            padding_mask = np.asarray(padding_mask)
            if padding_mask.shape != (batch, seq_k):
                raise ValueError(f"padding_mask: shape {padding_mask.shape}, expected {(batch, seq_k)}")
            allowed &= padding_mask.astype(bool)[:, None, None, :]
        return allowed

    def forward(self, query_input, key_input=None, value_input=None, causal=False, padding_mask=None):
        query_input = np.asarray(query_input)
        key_input = query_input if key_input is None else np.asarray(key_input)
        value_input = key_input if value_input is None else np.asarray(value_input)
        inputs = query_input, key_input, value_input
        if any(x.ndim != 3 or x.shape[2] != self.embedding_dimension for x in inputs):
            raise ValueError(f"inputs: shapes {[x.shape for x in inputs]}, expected three axes each")
        batch, seq_q, _ = query_input.shape
        seq_k = key_input.shape[1]
        if key_input.shape[:2] != value_input.shape[:2] or key_input.shape[0] != batch:
            raise ValueError(f"inputs: shapes {[x.shape for x in inputs]} do not go together")
        allowed = self._allowed(batch, seq_q, seq_k, causal, padding_mask)
        q, k, v = (np.einsum("bse,ehd->bhsd", x, self._cube(i)) for i, x in enumerate(inputs))
        self.queries_multihead, self.keys_multihead, self.values_multihead = q, k, v
        self.attention_scores = np.einsum("bhid,bhjd->bhij", q, k)
        self.scaled_scores = self.attention_scores * self.scale_factor
        low = self.scaled_scores.dtype.type(-1e9)
        self.masked_scores = np.where(allowed, self.scaled_scores, low)
        self.attention_weights = self.softmax(self.masked_scores) * allowed
        self.attention_output = np.einsum("bhij,bhjd->bhid", self.attention_weights, v)
        self.concatenated_heads = self.concatenate_heads(self.attention_output)
        self._inputs = inputs
        return np.einsum("bse,ef->bsf", self.concatenated_heads, self.output_weights)

    def backward(self, grad_output):
        if self._inputs is None:
            raise RuntimeError("backward: nothing to go back through, call forward first")
        grad_output = np.asarray(grad_output)
        if grad_output.shape != self.concatenated_heads.shape:
            raise ValueError(f"grad_output: shape {grad_output.shape}, expected {self.concatenated_heads.shape}")
        output_rows = self.output_weights.reshape(self.number_of_heads, self.head_dimension, -1)
        weights = self.attention_weights
        self.gradient_output_weights = np.einsum("bse,bsf->ef", self.concatenated_heads, grad_output)
        upstream = np.einsum("bsf,hdf->bhsd", grad_output, output_rows)
        self.gradient_attention_output = upstream
        self.gradient_attention_weights = np.einsum("bhid,bhjd->bhij", upstream, self.values_multihead)
        self.gradient_value = np.einsum("bhij,bhid->bhjd", weights, upstream)
        inner = np.einsum("bhij,bhij->bhi", self.gradient_attention_weights, weights)
        slopes = weights * (self.gradient_attention_weights - inner[..., None]) * self.scale_factor
        self.gradient_attention_scores = slopes  # with respect to the unscaled scores
        self.gradient_key = np.einsum("bhij,bhid->bhjd", slopes, self.queries_multihead)
        self.gradient_query = np.einsum("bhij,bhjd->bhid", slopes, self.keys_multihead)
        grads = self.gradient_query, self.gradient_key, self.gradient_value
        back = []
        for index, (x, grad) in enumerate(zip(self._inputs, grads, strict=True)):
            weight_gradient = np.einsum("bse,bhsd->ehd", x, grad).reshape(self._weights[index].shape)
            setattr(self, f"gradient_{_NAMES[index]}_weights", weight_gradient)
            back.append(np.einsum("bhsd,ehd->bse", grad, self._cube(index)))
        self.gradient_query_input, self.gradient_key_input, self.gradient_value_input = back
        self._gradients = [getattr(self, f"gradient_{name}_weights") for name in _NAMES]
        return tuple(back)

    def update(self, learning_rate):
        if self._gradients is None:
            raise RuntimeError("update: no gradients yet, call backward first")
        self._weights = [w - learning_rate * g for w, g in zip(self._weights, self._gradients, strict=True)]
