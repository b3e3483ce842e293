"""Hidden tests of stage s19: a Transformer against one of another framework, whose values are frozen here.

They were made with PyTorch 2.13 in float64: nn.Transformer(4, 2, 2, 2, 8, dropout=0.0, activation=F.gelu,
norm_first=True, batch_first=True), and activation=lambda x: F.gelu(x, approximate="tanh") for the other form, between
embeddings, positions and a readout written with tensors. The parameters were those of PARAMETERS, weight matrices
transposed, since PyTorch's are (outputs, inputs); the in_proj_weight of multihead_attn holds query, key and value
weights one below the other. src_key_padding_mask and memory_key_padding_mask were ~MASK, tgt_mask the causal one, and
backward was given GRAD_LOGITS. Of what came out, PLACES says which numbers are written down.

The model treats source tokens alike: they may change places, if their positions do. In a head, queries and keys may be
seen from another basis, and so may values. And padding may hold any id. Each run draws such a change.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s19_encoder_decoder import oracles

pytestmark = [pytest.mark.criterion("independent-transformer"), pytest.mark.values]

NORM = 2e-4  # relative tolerance that accepts eps inside the square root, as there, and outside


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


SOURCE, TARGET = np.array([[3, 1, 4, 1], [5, 2, 6, 0]]), np.array([[1, 5, 2], [1, 0, 3]])
MASK = np.array([[True] * 4, [True, True, True, False]])
GRAD_LOGITS = wave(500, 2, 3, 6)
SHAPES = oracles.model_shapes((7, 6), 5, 2, 4, 8)
PARAMETERS = {
    name: 1.5 + wave(start, *SHAPES[name]) / 2 if name.endswith("gamma") else wave(start, *SHAPES[name])
    for start, name in enumerate(sorted(SHAPES))
}
FIRST = "encoder.blocks.0.attention"
PLACES = {
    "logits": np.s_[1],
    "source_embedding": np.s_[1:5],
    "target_positions": np.s_[:],
    "readout_weights": np.s_[:2],
    f"{FIRST}.output_weights": np.s_[1],
    "encoder.blocks.1.mlp.W2": np.s_[::3],
    "encoder.norm.gamma": np.s_[:],
    "decoder.0.self_attention.qkv_weights": np.s_[2, ::3],
    "decoder.0.cross_attention.key_weights": np.s_[:2],
    "decoder.1.cross_attention.value_bias": np.s_[:],
    "decoder.1.norm2.gamma": np.s_[:],
    "decoder_norm.beta": np.s_[:],
}
ERF = {
    "logits": [
        [-0.83817, -1.1055, -2.41537, 0.2095, 0.67951, 1.9935],
        [-0.67524, -0.88382, -2.01877, -0.13797, 0.51309, 1.96443],
        [-1.31011, -1.64801, -2.46099, 0.74764, 0.71709, 2.34241],
    ],
    "source_embedding": [
        [1.3154, 0.96349, -0.59392, -1.68497],
        [-0.15154, 0.1206, 0.23351, -0.20257],
        [-3.77278, -2.12006, 5.18765, 0.70518],
        [-0.55684, -0.35572, 0.96423, -0.05167],
    ],
    "target_positions": [
        [0.34819, 6.37219, -6.85805, 0.13767],
        [0.26713, -0.08114, 0.07821, -0.26421],
        [-0.11023, -0.58996, 0.69853, 0.00166],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ],
    "readout_weights": [
        [1.30911, 2.67957, 1.10212, 2.61502, 0.81423, -3.28094],
        [0.34469, -0.19408, -0.09742, 0.78794, 0.34198, 0.91569],
    ],
    f"{FIRST}.output_weights": [-0.9137, -1.93499, 0.81351, 2.03518],
    "encoder.blocks.1.mlp.W2": [
        [0.44154, -0.1692, -0.47762, 0.20527],
        [0.21125, -0.60628, 0.15028, 0.24475],
        [0.19899, 0.30547, -0.43969, -0.06477],
    ],
    "encoder.norm.gamma": [0.07352, 0.08456, 1.2609, 0.56824],
    "decoder.0.self_attention.qkv_weights": [-0.59456, -0.26456, -0.12776, 2.00234],
    "decoder.0.cross_attention.key_weights": [
        [2.66678, -2.88119, -0.79966, 1.43133],
        [-0.17064, 0.17835, 0.03966, -0.02873],
    ],
    "decoder.1.cross_attention.value_bias": [-0.35671, -0.2384, -0.28585, -0.48589],
    "decoder.1.norm2.gamma": [-0.30683, -0.21158, 0.53364, 0.84928],
    "decoder_norm.beta": [2.1875, 3.23599, 0.29426, 5.20943],
}
TANH = {
    "logits": [
        [-0.83847, -1.10576, -2.41511, 0.20958, 0.67946, 1.99382],
        [-0.67541, -0.88396, -2.01851, -0.13797, 0.51302, 1.96464],
        [-1.31032, -1.64822, -2.46082, 0.74774, 0.71706, 2.34262],
    ],
    "source_embedding": [
        [1.31572, 0.9634, -0.59393, -1.68519],
        [-0.15166, 0.12076, 0.23366, -0.20275],
        [-3.77157, -2.11969, 5.18611, 0.70515],
        [-0.55662, -0.35553, 0.96369, -0.05153],
    ],
    "target_positions": [
        [0.348, 6.37191, -6.8582, 0.13828],
        [0.2672, -0.08117, 0.07823, -0.26426],
        [-0.11031, -0.5899, 0.69852, 0.00168],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ],
    "readout_weights": [
        [1.30895, 2.67936, 1.10208, 2.61467, 0.81397, -3.28089],
        [0.3446, -0.19414, -0.09767, 0.7877, 0.34235, 0.91593],
    ],
    f"{FIRST}.output_weights": [-0.91368, -1.93491, 0.81324, 2.03536],
    "encoder.blocks.1.mlp.W2": [
        [0.44146, -0.16917, -0.47767, 0.20538],
        [0.21114, -0.60607, 0.1501, 0.24483],
        [0.199, 0.30543, -0.43966, -0.06477],
    ],
    "encoder.norm.gamma": [0.07291, 0.08457, 1.26131, 0.56829],
    "decoder.0.self_attention.qkv_weights": [-0.5947, -0.26463, -0.12779, 2.00212],
    "decoder.0.cross_attention.key_weights": [
        [2.6669, -2.88132, -0.79958, 1.43118],
        [-0.17062, 0.17833, 0.03967, -0.02875],
    ],
    "decoder.1.cross_attention.value_bias": [-0.35675, -0.23818, -0.28596, -0.48596],
    "decoder.1.norm2.gamma": [-0.30669, -0.21172, 0.53376, 0.84985],
    "decoder_norm.beta": [2.1875, 3.23599, 0.29426, 5.20943],
}
# Numbers that the changed model shares: the logits, or gradients.
SHARED = (
    "logits",
    "target_positions",
    "readout_weights",
    "encoder.norm.gamma",
    "decoder.1.norm2.gamma",
    "decoder_norm.beta",
)


def new_model(learner, p):
    """Return a learner's model with the parameters p."""
    model = learner.Transformer(7, 6, 5, 2, 4, 2, mlp_ratio=2.0)
    model.set_params(p)
    return model


def check(model, source, mask, names):
    """Compare logits and gradients with those of the form of GELU that is closer."""
    logits = model.forward(source, TARGET, mask)
    assert_shape(logits, (2, 3, 6))
    frozen = min((ERF, TANH), key=lambda form: float(np.abs(logits[1] - np.array(form["logits"])).max()))
    model.backward(GRAD_LOGITS)
    found = {"logits": logits, **model.grads}
    for name in names:
        assert_array(found[name][PLACES[name]], frozen[name], rtol=NORM, name=f"{name} or its gradient, some numbers")


def test_logits_and_gradients(learner):
    check(new_model(learner, PARAMETERS), SOURCE, MASK, PLACES)


def draw_basis(rng):
    """Return a matrix that turns and stretches, (2, 2), and its inverse."""
    turn, scale = np.linalg.qr(rng.normal(size=(2, 2)))[0], rng.uniform(0.5, 2, size=2)
    return turn * scale, (turn / scale).T


def draw_same_model(rng, order):
    """Return other parameters of the same model, whose source positions are in another order."""
    p = {name: value.copy() for name, value in PARAMETERS.items()}
    p["source_positions"][:4] = PARAMETERS["source_positions"][order]
    for number, head in ((0, 0), (0, 1), (1, 0), (1, 1)):
        own, (B, B_inverse), (C, C_inverse) = slice(2 * head, 2 * head + 2), draw_basis(rng), draw_basis(rng)
        for part, basis in (("query", B), ("key", B_inverse.T), ("value", C)):
            for kind in ("weights", "bias"):
                name = f"decoder.{number}.cross_attention.{part}_{kind}"
                p[name][..., own] = p[name][..., own] @ basis
        name = f"decoder.{number}.cross_attention.output_weights"
        p[name][own] = C_inverse @ p[name][own]
    return p


def test_the_same_model_with_other_parameters(learner, rng):
    order, source = rng.permutation(4), SOURCE.copy()
    source[~MASK] = rng.integers(0, 7)
    model = new_model(learner, draw_same_model(rng, order))
    check(model, source[:, order], MASK[:, order], SHARED)
