"""Hidden tests of stage s20: a model learns to tell handwritten digits apart, and small steps keep their promise."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape
from hidden.s20_vision_transformer.oracles import Sizes, draw

pytestmark = [pytest.mark.criterion("recognises-digits"), pytest.mark.values]

SIZES = Sizes((1, 8, 8), 4, 10, 32, 1, 4, 1.0)
BATCH, STEPS, RATE, DECAY = 64, 100, 0.02, 1.0
ACCURACY = 0.85  # of digits that were held out; the reference reaches 0.90 to 0.97 (32 seeds), guessing 0.1
PROMISE = 1e-6  # how much a small step is meant to lower the loss


def read(text):
    """Return images (n, 1, 8, 8) from -1 to 1, and their digits."""
    lines = [line.split() for line in text.decode("ascii").splitlines()]
    pixels = np.array([[int(pixel, 17) for pixel in drawn] for _, drawn in lines], dtype=np.float64)
    return pixels.reshape(-1, 1, 8, 8) / 8 - 1, np.array([int(digit) for digit, _ in lines])


def cross_entropy(logits, digits):
    """Return the mean cross-entropy of the digits and its gradient with respect to the logits."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    hits = np.eye(10)[digits]
    return -np.mean(np.log((shares * hits).sum(axis=-1))), (shares - hits) / len(digits)


def gradients(vit, forward, backward, images, digits, params):
    """Return the loss, and the gradient of each parameter, by a model's forward and backward."""
    logits = forward(images)
    assert_shape(logits, (len(images), 10), name="logits")
    loss, grad = cross_entropy(logits, digits)
    backward(grad)
    grads = vit.grads
    assert_equal(set(grads) == set(params), True, name="whether there is a gradient for each parameter")
    return loss, grads


@pytest.mark.parametrize("group", ["class_token", "positions", "head", "embedding", "encoder.blocks.0", "encoder.norm"])
def test_small_steps_pay_what_their_gradients_promise(learner, rng, data, group):
    images, digits = read(data("digits.txt"))
    chosen = rng.choice(len(images), size=4, replace=False)
    images, digits = images[chosen], digits[chosen]
    sizes = SIZES._replace(dim=8, depth=1, num_heads=2)
    vit, params = learner.ViT(*sizes, rng=np.random.default_rng(0)), draw(rng, sizes)
    vit.load(params)
    for name in ("first", "second"):
        loss, grads = gradients(vit, vit.forward, vit.backward, images, digits, params)
        own = {key: grad for key, grad in grads.items() if key.startswith(group)}
        steepness = float(sum((grad**2).sum() for grad in own.values()))
        assert_equal(steepness > 1e-9, True, name=f"whether the gradients of {group} are anything but zero")
        params = {**params, **{key: params[key] - PROMISE / steepness * grad for key, grad in own.items()}}
        vit.load(params)
        gain = (loss - cross_entropy(vit.forward(images), digits)[0]) / PROMISE
        assert_array(gain, 1.0, rtol=0.02, name=f"gain of the {name} step on {group}, as a share of what was promised")


def test_digits_that_were_held_out_are_recognised(learner, rng, data):
    images, digits = read(data("digits.txt"))
    held_out = np.arange(len(images)) % 5 == 0
    training = np.flatnonzero(~held_out)
    vit = learner.ViT(*SIZES, rng=rng)
    params = vit.params
    params["positions"] = rng.normal(size=params["positions"].shape) / 2
    vit.load(params)
    forward, backward, load = vit.forward, vit.backward, vit.load
    first, second, average, order = {}, {}, params, []
    for step in range(1, STEPS + 1):
        order = order if len(order) >= BATCH else list(rng.permutation(training))
        batch, order = order[:BATCH], order[BATCH:]
        _, grads = gradients(vit, forward, backward, images[batch], digits[batch], params)
        rate = RATE * min(1, step / 10) * (1 - 0.95 * step / STEPS)
        changed = {}
        for key, grad in grads.items():  # AdamW
            first[key] = 0.9 * first.get(key, 0) + 0.1 * grad
            second[key] = 0.98 * second.get(key, 0) + 0.02 * grad**2
            size = np.sqrt(second[key] / (1 - 0.98**step)) + 1e-8
            kept = params[key] * (1 - rate * DECAY if grad.ndim > 1 else 1)
            changed[key] = kept - rate * first[key] / (1 - 0.9**step) / size
        params = changed
        average = {key: 0.95 * average[key] + 0.05 * value for key, value in params.items()}
        load(params)
    load(average)
    logits = vit.forward(images[held_out])
    assert_shape(logits, (int(held_out.sum()), 10), name="logits of the digits that were held out")
    right = float(np.mean(logits.argmax(axis=-1) == digits[held_out]))
    assert_equal(right > ACCURACY, True, name=f"whether more than {ACCURACY:.0%} of the digits are right ({right:.1%})")
