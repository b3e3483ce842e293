"""Hidden tests of stage s17: a block against one layer of another framework, whose values are frozen here.

They were made with PyTorch 2.13 in float64: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation=F.gelu,
norm_first=True, batch_first=True), and activation=lambda x: F.gelu(x, approximate="tanh") for the other form. Its
parameters were those of PARAMETERS, weight matrices transposed, since PyTorch's are (outputs, inputs): in_proj_weight
from attention.qkv_weights, out_proj.weight from attention.output_weights, linear1.weight from mlp.W1, linear2.weight
from mlp.W2. Its input was X, backward was given GRAD_OUTPUT; the masked output had the causal mask as src_mask, which
is True there where it is False here. Of what came out, PLACES says which numbers are written down.

The same layer has other parameters: within a head, queries and keys may be seen from another basis, and so may values.
And it treats positions alike, and knows nothing of what is added to all features of a token. Each run draws new ones.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s17_transformer_blocks import oracles

pytestmark = [pytest.mark.criterion("independent-layer"), pytest.mark.values]

NORM = 1e-4  # relative tolerance that accepts eps inside the square root, as there, and outside


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


X, GRAD_OUTPUT = 2 * wave(13, 2, 5, 8), wave(14, 2, 5, 8)
PARAMETERS = {
    "norm1.gamma": 1.5 + wave(1, 8) / 2,
    "norm1.beta": wave(2, 8) / 2,
    "attention.qkv_weights": wave(3, 8, 24),
    "attention.qkv_bias": wave(4, 24),
    "attention.output_weights": wave(5, 8, 8),
    "attention.output_bias": wave(6, 8),
    "norm2.gamma": 1.5 + wave(7, 8) / 2,
    "norm2.beta": wave(8, 8) / 2,
    "mlp.W1": wave(9, 8, 16),
    "mlp.b1": wave(10, 16),
    "mlp.W2": wave(11, 16, 8),
    "mlp.b2": wave(12, 8),
}
PLACES = {
    "output": np.s_[1],
    "x": np.s_[0],
    "norm1.gamma": np.s_[:],
    "attention.qkv_weights": np.s_[::3, ::4],
    "attention.qkv_bias": np.s_[::3],
    "attention.output_weights": np.s_[2],
    "norm2.beta": np.s_[:],
    "mlp.W1": np.s_[::3, ::4],
    "mlp.W2": np.s_[::5, ::3],
}
ERF = {
    "output": [
        [11.94705, 11.26484, 4.82286, -8.02474, -0.39889, -0.85666, -5.45994, 6.85789],
        [-4.90815, -8.18041, 10.32784, -15.12795, 16.20853, 5.03051, -1.3338, 4.97602],
        [-1.86207, 5.44103, 11.44863, -8.59665, 6.91127, -9.47153, -2.85776, -4.74791],
        [-14.3058, -8.76694, 18.07914, -17.37008, 6.59011, 17.344, 2.20695, 4.74313],
        [8.17499, 9.93549, 6.54005, -9.76972, 6.94639, -12.66504, -5.10165, 2.03681],
    ],
    "x": [
        [3.88908, -6.64672, -3.27471, 2.94619, 12.08524, -0.13923, -1.08246, -6.17534],
        [3.29426, -1.33082, 4.39775, -6.00454, 0.12636, -1.43549, 0.34351, -1.20714],
        [-5.23182, 25.39178, -10.90253, 0.27566, 4.19464, -6.98858, -13.11165, 6.92841],
        [11.75615, 9.37514, -3.57557, 6.16281, -8.95376, -6.896, -1.17208, -6.52739],
        [0.43792, -3.9811, 0.64793, -2.49812, 1.36705, 2.63441, 4.53201, -2.81502],
    ],
    "norm1.gamma": [-10.27386, 53.49992, -23.49211, 50.98836, -61.75599, -60.46217, -37.51146, 45.93726],
    "attention.qkv_weights": [
        [26.70424, 8.00654, -196.08892, 0.57352, -8.50506, -8.91715],
        [-32.25188, -8.33372, -1.97006, -13.62707, -14.00062, -5.04124],
        [-72.51983, -12.03823, -24.81563, 7.19339, 10.56263, 3.89974],
    ],
    "attention.qkv_bias": [-8.41177, 51.45817, 13.78684, 0.0, 0.0, 0.0, -7.68026, -3.73588],
    "attention.output_weights": [15.21448, -32.6937, 37.85521, -5.75825, -12.89736, 6.71858, -4.30902, 1.88715],
    "norm2.beta": [-2.61665, 8.9163, -14.84662, 3.68062, 13.47728, -13.09887, 4.64951, 10.17555],
    "mlp.W1": [
        [-1.51529, 1.93624, 10.64376, 3.08206],
        [-1.10513, 0.23244, -0.89562, 1.65605],
        [-0.33168, -1.50413, -10.60465, -5.24628],
    ],
    "mlp.W2": [
        [2.14545, 5.27436, 5.06724],
        [4.72434, 5.64659, -4.03515],
        [3.23532, 5.70831, 0.29035],
        [-7.97563, 0.74307, -0.58595],
    ],
}
TANH = {
    "output": [
        [11.94732, 11.2646, 4.82359, -8.02474, -0.3982, -0.85653, -5.46005, 6.85815],
        [-4.9079, -8.18034, 10.32755, -15.12849, 16.20922, 5.03115, -1.33373, 4.97645],
        [-1.86244, 5.4406, 11.44933, -8.59736, 6.91068, -9.47071, -2.85838, -4.74771],
        [-14.30659, -8.76696, 18.08022, -17.37148, 6.58993, 17.34267, 2.20818, 4.7427],
        [8.17476, 9.93483, 6.54021, -9.77011, 6.94684, -12.66555, -5.10181, 2.03701],
    ],
    "x": [
        [3.8873, -6.64504, -3.2755, 2.94634, 12.08339, -0.1393, -1.08137, -6.17377],
        [3.29409, -1.33295, 4.39882, -6.00594, 0.1273, -1.43521, 0.34616, -1.20837],
        [-5.23379, 25.39241, -10.90522, 0.27862, 4.19724, -6.98918, -13.1126, 6.92843],
        [11.74701, 9.38011, -3.57886, 6.16382, -8.95622, -6.89016, -1.1746, -6.52181],
        [0.43831, -3.98073, 0.64711, -2.50148, 1.36843, 2.63122, 4.53363, -2.8114],
    ],
    "norm1.gamma": [-10.27749, 53.52071, -23.512, 50.98553, -61.76394, -60.4627, -37.51199, 45.93329],
    "attention.qkv_weights": [
        [26.6866, 8.0061, -196.12949, 0.57077, -8.50491, -8.92162],
        [-32.25324, -8.3337, -1.96591, -13.62417, -13.9983, -5.03739],
        [-72.51195, -12.0376, -24.83147, 7.19332, 10.56569, 3.89985],
    ],
    "attention.qkv_bias": [-8.42136, 51.46681, 13.78397, 0.0, 0.0, 0.0, -7.67823, -3.7373],
    "attention.output_weights": [15.23156, -32.70092, 37.86138, -5.75523, -12.9048, 6.71581, -4.31218, 1.88146],
    "norm2.beta": [-2.62037, 8.92467, -14.85347, 3.6811, 13.48032, -13.09985, 4.65536, 10.17086],
    "mlp.W1": [
        [-1.51851, 1.93303, 10.64485, 3.08384],
        [-1.10665, 0.23166, -0.89583, 1.65664],
        [-0.32978, -1.50208, -10.60645, -5.24754],
    ],
    "mlp.W2": [
        [2.1454, 5.27501, 5.06649],
        [4.72434, 5.64649, -4.03555],
        [3.23581, 5.70898, 0.29026],
        [-7.97581, 0.7436, -0.58571],
    ],
}
MASKED_OUTPUT = {
    "erf": [
        [3.12801, -4.2124, 12.9225, -11.10007, -1.53514, 0.78286, -3.26729, 24.36932],
        [13.03588, 9.20264, 10.42189, -5.25286, -1.12871, -6.81298, -4.33093, 12.93244],
        [2.39025, 7.41249, 7.76157, -7.26208, 5.6338, -11.4389, -4.12433, 1.13866],
        [-14.3058, -8.76694, 18.07914, -17.37008, 6.59011, 17.344, 2.20695, 4.74313],
        [8.17499, 9.93549, 6.54005, -9.76972, 6.94639, -12.66504, -5.10165, 2.03681],
    ],
    "tanh": [
        [3.12748, -4.21318, 12.92311, -11.09972, -1.53558, 0.78327, -3.26788, 24.36898],
        [13.03584, 9.20285, 10.42183, -5.2534, -1.1282, -6.81304, -4.33083, 12.93256],
        [2.38996, 7.41268, 7.76197, -7.2626, 5.63378, -11.43829, -4.12448, 1.13806],
        [-14.30659, -8.76696, 18.08022, -17.37148, 6.58993, 17.34267, 2.20818, 4.7427],
        [8.17476, 9.93483, 6.54021, -9.77011, 6.94684, -12.66555, -5.10181, 2.03701],
    ],
}


# Numbers that parameters of the same layer share: their gradients, or the output.
SHARED = ("output", "x", "norm1.gamma", "norm2.beta", "mlp.W1", "mlp.W2")


def new_block(learner, p):
    """Return a learner's block with the parameters p."""
    block = learner.Block(8, 2, mlp_ratio=2.0)
    oracles.load_block(block, p)
    return block


@pytest.fixture
def block(learner):
    """A learner's block with PARAMETERS."""
    return new_block(learner, PARAMETERS)


def draw_basis(rng):
    """Return a matrix that turns and stretches, (4, 4), and its inverse."""
    turn, scale = np.linalg.qr(rng.normal(size=(4, 4)))[0], rng.uniform(0.5, 2, size=4)
    return turn * scale, (turn / scale).T


def draw_same_layer(rng):
    """Return other parameters of the same layer: q B · k B⁻ᵀ = q · k and (v C) (C⁻¹ W) = v W in each head."""
    p = {name: value.copy() for name, value in PARAMETERS.items()}
    for head in range(2):
        rows = slice(4 * head, 4 * head + 4)
        (B, B_inverse), (C, C_inverse) = draw_basis(rng), draw_basis(rng)
        for part, basis in enumerate((B, B_inverse.T, C)):
            columns = slice(8 * part + 4 * head, 8 * part + 4 * head + 4)
            for name in ("attention.qkv_weights", "attention.qkv_bias"):
                p[name][..., columns] = p[name][..., columns] @ basis
        p["attention.output_weights"][rows] = C_inverse @ p["attention.output_weights"][rows]
    return p


def nearest(result, *expected):
    """Return the number of the expected array that comes closest."""
    return int(np.argmin([np.abs(result - np.array(values)).max() for values in expected]))


def test_output_and_gradients(block):
    result = block.forward(X)
    assert_shape(result, X.shape)
    frozen = (ERF, TANH)[nearest(result[1], ERF["output"], TANH["output"])]
    grad_x = block.backward(GRAD_OUTPUT)
    assert_shape(grad_x, X.shape, name="grad_x")
    found = {"output": result, "x": grad_x, **block.grads}
    for name, place in PLACES.items():
        assert_array(found[name][place], frozen[name], rtol=NORM, name=f"{name} or its gradient, some numbers")


def test_causal_output(block):
    result = block.forward(X, np.tri(5, dtype=bool))
    assert_shape(result, X.shape)
    form = ("erf", "tanh")[nearest(result[1], MASKED_OUTPUT["erf"], MASKED_OUTPUT["tanh"])]
    assert_array(result[1], MASKED_OUTPUT[form], rtol=NORM, name="result of the second sequence")


def test_the_same_layer_with_other_parameters(learner, rng):
    block, order, shift = new_block(learner, draw_same_layer(rng)), rng.permutation(5), rng.normal(size=(2, 5, 1))
    x, back = X[:, order] + shift, np.argsort(order)
    result = block.forward(x)
    assert_shape(result, x.shape)
    grad_x = block.backward(GRAD_OUTPUT[:, order])
    assert_shape(grad_x, x.shape, name="grad_x")
    found = {"output": (result - shift)[:, back], "x": grad_x[:, back], **block.grads}
    frozen = (ERF, TANH)[nearest(found["output"][1], ERF["output"], TANH["output"])]
    for name in SHARED:
        assert_array(found[name][PLACES[name]], frozen[name], rtol=NORM, name=f"{name} or its gradient, some numbers")
