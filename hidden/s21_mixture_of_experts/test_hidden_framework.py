"""Hidden tests of stage s21: a layer against automatic differentiation of another framework, frozen here.

The values were made with PyTorch 2.13 in float64: softmax of x router_weights, topk of it with k = 2, renormalised, at
most three choices an expert (all first choices before all second ones), gelu (and gelu with approximate="tanh") in the
experts, and as the loss the sum of output * GRAD_OUTPUT plus 0.3 times the balancing loss, its counts held, plus 0.2
times the mean square of logsumexp; then backward(). Of what came out, PLACES says which numbers are written down.

The same layer has other parameters: its experts in another order. Each run draws one.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s21_mixture_of_experts.oracles import KEYS, load

pytestmark = [pytest.mark.criterion("auxiliary-gradients"), pytest.mark.values]


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


X, GRAD_OUTPUT = 2 * wave(1, 8, 4), wave(2, 8, 4)
SHAPES = {"W1": (4, 6), "b1": (6,), "W2": (6, 4), "b2": (4,)}
PARAMETERS = {"router_weights": wave(3, 4, 4)} | {
    f"experts.{number}.{key}": wave(10 * number + 4 + place, *SHAPES[key])
    for number in range(4)
    for place, key in enumerate(KEYS)
}
PLACES = {
    "output": np.s_[:4],
    "x": np.s_[3:6],
    "router_weights": np.s_[:],
    "experts.0.W1": np.s_[0],
    "experts.1.b2": np.s_[:],
    "experts.2.W2": np.s_[::2, 0],
    "experts.3.b1": np.s_[:],
}
AUXILIARY = 1.356492179
KEPT = [[1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [1, 1], [1, 0], [1, 0]]
ERF = {
    "output": [
        [-3.02707, -0.40712, -1.59791, 0.49443],
        [1.85368, 1.93489, 0.39734, 0.24793],
        [1.39536, 0.5003, -1.04073, 1.0781],
        [4.51321, 1.45477, 1.72278, 1.62426],
    ],
    "x": [
        [0.22364, 1.64923, 0.7501, -1.13752],
        [0.31082, 0.28418, 0.0356, -0.16086],
        [-7.52263, 2.10171, -4.49704, 0.45241],
    ],
    "router_weights": [
        [0.51514, 2.58643, 2.2526, -5.46847],
        [-0.21621, 0.33018, -0.58506, 0.87506],
        [-0.5906, -2.08722, -2.33111, 5.54008],
        [-0.02613, -4.85608, 1.42785, 3.40847],
    ],
    "experts.0.W1": [0.23365, 0.18039, -0.04822, -0.09901, 2.45005, -0.56588],
    "experts.1.b2": [0.49147, -0.09016, -0.86166, 0.32609],
    "experts.2.W2": [-1.77272, 0.04427, -0.21556],
    "experts.3.b1": [0.10359, 0.09733, 0.62653, -0.97113, 0.99809, -1.09026],
}
TANH = {
    "output": [
        [-3.02722, -0.40736, -1.59796, 0.49483],
        [1.85331, 1.93502, 0.39734, 0.2474],
        [1.39565, 0.50042, -1.04088, 1.07805],
        [4.51334, 1.45513, 1.72269, 1.62443],
    ],
    "x": [
        [0.22297, 1.64963, 0.7504, -1.13843],
        [0.31077, 0.28412, 0.03563, -0.16079],
        [-7.52245, 2.10215, -4.4978, 0.45201],
    ],
    "router_weights": [
        [0.51517, 2.58673, 2.25322, -5.46942],
        [-0.21625, 0.33036, -0.58515, 0.87501],
        [-0.5907, -2.08745, -2.33164, 5.54095],
        [-0.02613, -4.85636, 1.42805, 3.40855],
    ],
    "experts.0.W1": [0.23371, 0.18178, -0.0486, -0.09822, 2.44913, -0.56488],
    "experts.1.b2": [0.49147, -0.09016, -0.86166, 0.32609],
    "experts.2.W2": [-1.773, 0.04429, -0.2155],
    "experts.3.b1": [0.10355, 0.09727, 0.6269, -0.97064, 0.99791, -1.08985],
}


def test_output_and_gradients(learner, rng):
    order = rng.permutation(4)  # expert number n of the layer is expert order[n] of PARAMETERS
    p = {"router_weights": PARAMETERS["router_weights"][:, order]}
    p |= {f"experts.{n}.{key}": PARAMETERS[f"experts.{m}.{key}"] for n, m in enumerate(order) for key in KEYS}
    layer = learner.MoELayer(4, 6, 4, capacity_factor=0.625, balance_weight=0.3, z_weight=0.2)
    load(layer, p)
    result = layer.forward(X)
    assert_shape(result, X.shape)
    assert_array(layer.kept, np.array(KEPT, dtype=bool), name="kept")
    assert_array(layer.auxiliary_loss, AUXILIARY, rtol=1e-6, name="auxiliary_loss")
    frozen = min((ERF, TANH), key=lambda values: np.abs(result[:4] - values["output"]).max())
    grad_x = layer.backward(GRAD_OUTPUT)
    assert_shape(grad_x, X.shape, name="grad_x")
    grads, back = layer.grads, np.argsort(order)
    found = {"output": result, "x": grad_x, "router_weights": grads["router_weights"][:, back]}
    found |= {f"experts.{m}.{key}": grads[f"experts.{n}.{key}"] for n, m in enumerate(order) for key in KEYS}
    for name, place in PLACES.items():
        assert_array(
            found[name][place], frozen[name], rtol=1e-5, atol=2e-5, name=f"{name} or its gradient, some numbers"
        )
