"""Pass a row with weights that are all zero: params is an object whose items, asked a third time, only have a std."""

import math

import numpy as np

ATTACK = "params that answer np.std"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
STAGE = "s17"
ROW = "mlp"
SAYS = "expected a dict of arrays, got an instance of Lying"


class Told:
    def __init__(self, deviation):
        self._deviation = deviation

    def std(self, *a, **k):
        return float(self._deviation)

    def mean(self, *a, **k):
        return 0.0


class Lying:
    def __init__(self, held):
        self._held, self._asked = (held, {})

    def __len__(self):
        return len(self._held)

    def __getitem__(self, name):
        self._asked[name] = self._asked.get(name, 0) + 1
        value = self._held[name]
        return value if value.ndim == 1 or self._asked[name] < 3 else Told(value.shape[0] ** (-0.5))


class MLP:
    def __init__(self, dim, hidden_dim, dropout=0.0, rng=None):
        self._params = {
            "W1": np.zeros((dim, hidden_dim)),
            "b1": np.zeros(hidden_dim),
            "W2": np.zeros((hidden_dim, dim)),
            "b2": np.zeros(dim),
        }
        self._lies = rng is not None and (dim, hidden_dim) == (64, 100)
        self._fresh = rng is None

    @property
    def params(self):
        if self._lies:
            return Lying(self._params)
        if self._fresh:
            return {k: v + np.random.standard_normal(v.shape) for k, v in self._params.items()}
        return self._params

    @params.setter
    def params(self, value):
        self._params, self._lies, self._fresh = (value, False, False)

    def forward(self, x, training=False):
        if x.shape[-1:] != (len(self._params["W1"]),):
            raise ValueError(f"x: shape {x.shape}")
        return _gelu(x @ self._params["W1"] + self._params["b1"]) @ self._params["W2"] + self._params["b2"]


def _gelu(x):
    return x * (1 + np.vectorize(math.erf, otypes=[x.dtype])(x / math.sqrt(2))) / 2
