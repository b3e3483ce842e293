"""Hidden tests of stage s14: the LSTM layer between one-hot inputs and a readout that learns to copy."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape

pytestmark = pytest.mark.values
LENGTH, SYMBOLS, HIDDEN = 3, 4, 32
BATCH, STEPS, RATE = 32, 95, 0.05
ACCURACY = 0.85  # of all tokens; of 400 generators, weights normal or uniform, the worst gives 0.97, guessing 0.25
NEW_ACCURACY = 0.5  # of all tokens of new sequences; of these generators the worst gives 0.68
PROMISE = 1e-6  # how much a small step is meant to lower the loss
SEQUENCES = np.indices((SYMBOLS,) * LENGTH).reshape(LENGTH, -1).T  # all there are
IS_NEW = SEQUENCES.sum(axis=1) % SYMBOLS == 0  # one in four is never trained on, though any two of its symbols are
TRAINING, NEW = SEQUENCES[~IS_NEW], SEQUENCES[IS_NEW]


class Model:
    """Reads symbols, then as many blanks, at which a readout of the states scores the symbols in their order."""

    def __init__(self, learner, rng, hidden):
        self.layer = learner.LSTM(SYMBOLS + 1, hidden, rng)
        readout = rng.normal(size=(hidden, SYMBOLS)) / hidden**0.5
        self.params = {**self.layer.params, "readout": readout, "bias": np.zeros(SYMBOLS)}

    def states(self, tokens):
        """Return the layer's states at the blanks."""
        x = np.zeros((len(tokens), 2 * LENGTH, SYMBOLS + 1))
        x[:, :LENGTH, :SYMBOLS] = np.eye(SYMBOLS)[tokens]
        x[:, LENGTH:, SYMBOLS] = 1
        hs = self.layer.forward(x)
        assert_shape(hs, (*x.shape[:2], len(self.params["readout"])), name="forward(x)")
        return hs[:, LENGTH:]

    def scores(self, states):
        """Return a score for each symbol at each blank."""
        return states @ self.params["readout"] + self.params["bias"]

    def loss(self, tokens):
        """Return the mean cross-entropy of the tokens."""
        return cross_entropy(self.scores(self.states(tokens)), tokens)[0]

    def gradients(self, tokens):
        """Return the loss, and its gradient for each parameter."""
        states = self.states(tokens)
        loss, grad = cross_entropy(self.scores(states), tokens)
        grad_states = grad @ self.params["readout"].T
        self.layer.backward(np.concatenate([np.zeros_like(grad_states), grad_states], axis=1))
        own = {"readout": np.einsum("bth,bts->hs", states, grad), "bias": grad.sum(axis=(0, 1))}
        gradients = {**self.layer.grads, **own}
        assert_equal(set(gradients) == set(self.params), True, name="whether there is a gradient for each parameter")
        return loss, gradients

    def change(self, changed):
        """Replace some parameters."""
        self.params.update(changed)
        self.layer.params = {name: self.params[name] for name in ("W_x", "W_h", "b")}


def cross_entropy(scores, targets):
    """Return the mean cross-entropy of the targets and its gradient with respect to the scores."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = powers / powers.sum(axis=-1, keepdims=True)
    hits = np.eye(scores.shape[-1])[targets]
    return -np.mean(np.log((shares * hits).sum(axis=-1))), (shares - hits) / targets.size


@pytest.mark.criterion("learns-to-copy")
class TestCopying:
    @pytest.mark.parametrize("group", ["W_x", "W_h", "b"])
    def test_small_steps_pay_what_their_gradients_promise(self, learner, rng, group):
        model, tokens = Model(learner, rng, 6), rng.integers(0, SYMBOLS, size=(5, LENGTH))
        for name in ("first", "second"):
            loss, gradients = model.gradients(tokens)
            gradient = np.asarray(gradients[group])
            steepness = float((gradient**2).sum())
            assert_equal(steepness > 1e-9, True, name=f"whether the gradient of {group} is anything but zero")
            model.change({group: model.params[group] - PROMISE / steepness * gradient})
            gain = (loss - model.loss(tokens)) / PROMISE
            share = f"gain of the {name} step on {group}, as a share of what was promised"
            assert_array(gain, 1.0, rtol=0.05, name=share)

    def test_new_sequences_are_copied_too(self, learner, rng):
        model, first, second = Model(learner, rng, HIDDEN), {}, {}
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
        old, new = (
            float(np.mean(model.scores(model.states(sequences)).argmax(axis=-1) == sequences))
            for sequences in (TRAINING, NEW)
        )
        assert_equal(old >= ACCURACY, True, name=f"whether at least {ACCURACY:.0%} of the tokens are right ({old:.1%})")
        share = f"whether at least {NEW_ACCURACY:.0%} of the tokens of new sequences are right ({new:.1%})"
        assert_equal(new >= NEW_ACCURACY, True, name=share)
