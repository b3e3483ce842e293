"""Hidden tests of stage s20: the model against one of another framework, whose values are frozen here.

They were made with PyTorch 2.13 in float64: Conv2d(2, 4, 2, stride=2); the class token in front, positions added; two
TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation=F.gelu, norm_first=True, batch_first=True); LayerNorm(4); and
a product with the head's weights. For the other form activation=lambda x: F.gelu(x, approximate="tanh"). Parameters
were those of parameters(): the convolution's kernels embedding.weights transposed and given the shape (4, 2, 2, 2), the
others as in s17, weight matrices transposed: in_proj_weight from attention.qkv_weights, out_proj.weight from
attention.output_weights, linear1.weight from mlp.W1, linear2.weight from mlp.W2. Of what came out, PLACES says which
numbers are written down.

The same model has other parameters: what is added to every patch may be taken from its place's vector, and patches may
change places together with those vectors. Each run draws such changes anew.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape
from hidden.s20_vision_transformer import oracles

pytestmark = [pytest.mark.criterion("independent-model"), pytest.mark.values]

NORM = 1e-4  # relative tolerance that accepts eps inside the square root, as there, and outside
SIZES = oracles.Sizes((2, 4, 6), 2, 3, 4, 2, 2, 1.5)


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


def parameters():
    """Return the parameters of that model."""
    names = oracles.shapes(SIZES).items()
    found = {name: wave(start, *shape) for start, (name, shape) in enumerate(names, start=1)}
    return {name: 1.5 + value / 2 if name.endswith("gamma") else value for name, value in found.items()}


IMAGES, GRAD_OUTPUT = 2 * wave(50, 2, 2, 4, 6), wave(60, 2, 3)
PLACES = {
    "logits": np.s_[:],
    "images": np.s_[0, :, 1],
    "class_token": np.s_[:],
    "positions": np.s_[:2],
    "head_weights": np.s_[:],
    "embedding.weights": np.s_[::3],
    "embedding.bias": np.s_[:],
    "encoder.blocks.0.attention.qkv_bias": np.s_[::2],
    "encoder.blocks.1.mlp.W2": np.s_[::2],
    "encoder.norm.gamma": np.s_[:],
}
ERF = {
    "logits": [[3.836584, -4.384295, 3.73285], [5.288628, -5.981449, 1.575346]],
    "images": [
        [-0.323638, -0.414302, -0.00549, -0.00213, -0.42622, -0.127033],
        [0.911559, 1.114267, 0.003888, 0.005109, 0.261326, 0.253994],
    ],
    "class_token": [-0.291682, 0.248618, -0.170265, 0.213329],
    "positions": [[-0.291682, 0.248618, -0.170265, 0.213329], [0.17544, -0.563133, -0.115149, 0.502842]],
    "head_weights": [
        [0.802095, 0.322641, 0.629426],
        [1.05168, -6.166391, 2.667083],
        [-1.817826, 4.217579, -2.809729],
        [-0.075683, 0.251588, -0.138221],
    ],
    "embedding.weights": [
        [0.044062, -0.724514, 0.437197, 0.243256],
        [-0.530968, 1.882829, -0.497195, -0.854666],
        [-0.363318, 0.45349, -0.589386, 0.499214],
    ],
    "embedding.bias": [-0.272168, -0.239577, -0.143792, 0.655537],
    "encoder.blocks.0.attention.qkv_bias": [-0.371667, -0.002137, 0.0, -0.0, -0.378834, 0.426636],
    "encoder.blocks.1.mlp.W2": [
        [-0.262341, 0.552309, 0.248524, -0.538492],
        [-0.004353, -0.045463, 0.006594, 0.043221],
        [0.084239, 0.000431, -0.087844, 0.003174],
    ],
    "encoder.norm.gamma": [-0.773397, 3.777847, 1.106767, 0.205852],
}
TANH = {
    "logits": [[3.836695, -4.384342, 3.732882], [5.288702, -5.981476, 1.575455]],
    "images": [
        [-0.323738, -0.414379, -0.005492, -0.002131, -0.426574, -0.127094],
        [0.911767, 1.114433, 0.003889, 0.00511, 0.261408, 0.2541],
    ],
    "class_token": [-0.291715, 0.248482, -0.170327, 0.21356],
    "positions": [[-0.291715, 0.248482, -0.170327, 0.21356], [0.175363, -0.563139, -0.11526, 0.503036]],
    "head_weights": [
        [0.802053, 0.322689, 0.629376],
        [1.051719, -6.16657, 2.667167],
        [-1.81782, 4.217438, -2.809684],
        [-0.075676, 0.251729, -0.138254],
    ],
    "embedding.weights": [
        [0.044215, -0.725188, 0.437822, 0.243151],
        [-0.531137, 1.883644, -0.497673, -0.854835],
        [-0.363861, 0.453978, -0.589711, 0.499594],
    ],
    "embedding.bias": [-0.272476, -0.239559, -0.143774, 0.655809],
    "encoder.blocks.0.attention.qkv_bias": [-0.371854, -0.002142, 0.0, 0.0, -0.378906, 0.426637],
    "encoder.blocks.1.mlp.W2": [
        [-0.262368, 0.552329, 0.248587, -0.538548],
        [-0.004336, -0.045509, 0.006577, 0.043268],
        [0.084272, 0.000454, -0.087882, 0.003156],
    ],
    "encoder.norm.gamma": [-0.773412, 3.778016, 1.106741, 0.205804],
}


def new_model(learner, params):
    """Return a learner's model with these parameters."""
    vit = learner.ViT(*SIZES, rng=np.random.default_rng(0))
    vit.load(params)
    return vit


def test_logits_and_gradients(learner):
    vit = new_model(learner, parameters())
    logits = vit.forward(IMAGES)
    assert_shape(logits, (2, 3))
    expected = min((ERF, TANH), key=lambda form: np.abs(logits - np.array(form["logits"])).max())
    assert_array(logits, expected["logits"], rtol=NORM)
    grad_images = vit.backward(GRAD_OUTPUT)
    assert_shape(grad_images, IMAGES.shape, name="grad_images")
    assert_array(grad_images[PLACES["images"]], expected["images"], rtol=NORM, name="grad_images[0, :, 1]")
    grads = vit.grads
    oracles.assert_keys(grads, oracles.shapes(SIZES), "grads")
    for name, shape in oracles.shapes(SIZES).items():
        assert_shape(grads[name], shape, name=f"grads[{name!r}]")
        if name in PLACES:
            assert_array(grads[name][PLACES[name]], expected[name], rtol=NORM, name=f"a part of grads[{name!r}]")


def test_what_all_patches_share_may_be_part_of_their_places(learner, rng):
    p, shared = parameters(), rng.normal(size=4)
    moved = {**p, "embedding.bias": p["embedding.bias"] + shared, "positions": p["positions"].copy()}
    moved["positions"][1:] -= shared
    first = new_model(learner, p).forward(IMAGES)
    assert_shape(first, (2, 3))
    assert_array(new_model(learner, moved).forward(IMAGES), first, rtol=1e-8, name="logits of the model moved")


def test_patches_may_change_places_together_with_their_vectors(learner, rng):
    p, order = parameters(), rng.permutation(6)
    images = np.zeros_like(IMAGES)
    for new, old in enumerate(order):
        (row, column), (from_row, from_column) = divmod(new, 3), divmod(int(old), 3)
        window = IMAGES[:, :, 2 * from_row : 2 * from_row + 2, 2 * from_column : 2 * from_column + 2]
        images[:, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = window
    moved = {**p, "positions": p["positions"][[0, *(1 + order)]]}
    first = new_model(learner, p).forward(IMAGES)
    assert_shape(first, (2, 3))
    assert_array(new_model(learner, moved).forward(images), first, rtol=1e-8, name="logits of patches that moved")
