"""Hidden tests of stage s17: an encoder between embeddings and a readout of the test's own learns to sort."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape
from hidden.s17_transformer_blocks.oracles import PARTS

pytestmark = [pytest.mark.criterion("trains-to-sort"), pytest.mark.values]

LENGTH, SYMBOLS, DEPTH = 4, 6, 2
BATCH, STEPS, RATE = 32, 80, 0.03
ACCURACY = 0.9  # of all tokens of new sequences; the reference reaches 0.96 to 1 (40 seeds), guessing 0.17
PROMISE = 1e-6  # how much a small step is meant to lower the loss
SEQUENCES = np.indices((SYMBOLS,) * LENGTH).reshape(LENGTH, -1).T  # all there are
IS_NEW = SEQUENCES.sum(axis=1) % 5 == 0  # one in five, with every order of the same symbols, is never trained on
TRAINING, NEW = SEQUENCES[~IS_NEW], SEQUENCES[IS_NEW]


class Model:
    """Sorts sequences: embeddings and positions go into a learner's encoder, a readout scores each symbol."""

    def __init__(self, learner, rng, dim):
        self.encoder = learner.Encoder(DEPTH, dim, 2, mlp_ratio=1.0, rng=rng)
        blocks = self.encoder.blocks
        assert_equal(len(blocks), DEPTH, name="number of blocks")
        self.parts = {f"blocks.{i}.{part}": getattr(block, part) for i, block in enumerate(blocks) for part in PARTS}
        self.parts["norm"] = self.encoder.norm
        self.params = {
            "embedding": rng.normal(size=(SYMBOLS, dim)),
            "position": rng.normal(size=(LENGTH, dim)),
            "readout": rng.normal(size=(dim, SYMBOLS)) / dim**0.5,
            **self.encoder.params,
        }

    def scores(self, tokens):
        """Return what the encoder makes of the tokens, and a score for each symbol at each place."""
        x = self.params["embedding"][tokens] + self.params["position"]
        features = self.encoder.forward(x, training=True)
        assert_shape(features, x.shape, name="the encoder's output")
        return features, features @ self.params["readout"]

    def loss(self, tokens):
        """Return the mean cross-entropy of the sorted tokens."""
        return cross_entropy(self.scores(tokens)[1], np.sort(tokens, axis=1))[0]

    def gradients(self, tokens):
        """Return the loss, and its gradient for each parameter."""
        features, scores = self.scores(tokens)
        loss, grad = cross_entropy(scores, np.sort(tokens, axis=1))
        grad_x = self.encoder.backward(grad @ self.params["readout"].T)
        of_embedding = np.zeros_like(self.params["embedding"])
        np.add.at(of_embedding, tokens, grad_x)
        own = {
            "embedding": of_embedding,
            "position": grad_x.sum(axis=0),
            "readout": np.einsum("bld,bls->ds", features, grad),
        }
        gradients = {**own, **self.encoder.grads}
        assert_equal(set(gradients) == set(self.params), True, name="whether there is a gradient for each parameter")
        return loss, gradients

    def change(self, changed):
        """Replace some parameters: those of the test here, those of the learner in their parts."""
        self.params.update(changed)
        for name, part in self.parts.items():
            if any(key.startswith(f"{name}.") for key in changed):
                size = len(name) + 1
                part.params = {key[size:]: value for key, value in self.params.items() if key.startswith(f"{name}.")}


def cross_entropy(scores, targets):
    """Return the mean cross-entropy of the targets and its gradient with respect to the scores."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    hits = np.eye(scores.shape[-1])[targets]
    return -np.mean(np.log((shares * hits).sum(axis=-1))), (shares - hits) / targets.size


@pytest.mark.parametrize("group", ["embedding", "position", "blocks.0.attention", "blocks.0", "blocks.1", "norm"])
def test_small_steps_pay_what_their_gradients_promise(learner, rng, group):
    model, tokens = Model(learner, rng, 6), rng.integers(0, SYMBOLS, size=(3, LENGTH))
    for name in ("first", "second"):
        loss, gradients = model.gradients(tokens)
        chosen = {key: grad for key, grad in gradients.items() if key.startswith(group)}
        steepness = float(sum((grad**2).sum() for grad in chosen.values()))
        assert_equal(steepness > 1e-9, True, name=f"whether the gradients of {group} are anything but zero")
        model.change({key: model.params[key] - PROMISE / steepness * grad for key, grad in chosen.items()})
        gain = (loss - model.loss(tokens)) / PROMISE
        assert_array(gain, 1.0, rtol=0.02, name=f"gain of the {name} step on {group}, as a share of what was promised")


def test_new_sequences_are_sorted(learner, rng):
    model, first, second = Model(learner, rng, 16), {}, {}
    for step in range(1, STEPS + 1):
        _, gradients = model.gradients(TRAINING[rng.integers(0, len(TRAINING), size=BATCH)])
        rate = RATE * min(1, step / 10) * (1 - 0.9 * step / STEPS)
        changed = {}
        for key, grad in gradients.items():  # Adam
            first[key] = 0.9 * first.get(key, 0) + 0.1 * grad
            second[key] = 0.98 * second.get(key, 0) + 0.02 * grad**2
            size = np.sqrt(second[key] / (1 - 0.98**step)) + 1e-8
            changed[key] = model.params[key] - rate * first[key] / (1 - 0.9**step) / size
        model.change(changed)
    right = float(np.mean(model.scores(NEW)[1].argmax(axis=-1) == np.sort(NEW, axis=1)))
    assert_equal(right >= ACCURACY, True, name=f"whether at least {ACCURACY:.0%} of the tokens are right ({right:.1%})")
