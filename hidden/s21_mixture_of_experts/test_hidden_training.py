"""Hidden tests of stage s21: a layer learns a function in pieces, and a balancing loss spreads a collapsed load."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array
from hidden.s21_mixture_of_experts.oracles import Case, load

pytestmark = [pytest.mark.criterion("trains"), pytest.mark.values]

DIM, HIDDEN, EXPERTS = 4, 4, 4
BATCH, STEPS, BALANCING_STEPS, RATE = 64, 80, 50, 0.05
BUSIEST = 0.85  # share of a balanced load's busiest expert; the reference has at most 0.76 (32 seeds), else 0.99 to 1
LEFT = 0.25  # share of the target's mean square; the reference leaves 0.03, in the worst of 150 draws 0.16
PROMISE = 1e-6  # how much a small step is meant to lower the loss
SIGNS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])


class Task:
    """Tokens lie in four groups by the signs of two features, and each group is multiplied by a matrix of its own."""

    def __init__(self, rng):
        self.rng = rng
        self.matrices = rng.normal(size=(4, DIM, DIM))

    def draw(self, tokens):
        """Return tokens, the last feature always 1, and what should become of them."""
        group = self.rng.integers(0, 4, size=tokens)
        x = self.rng.normal(size=(tokens, DIM))
        x[:, :2] = 2 * SIGNS[group] + 0.3 * x[:, :2]
        x[:, 3] = 1
        return x, np.einsum("td,tdf->tf", x, self.matrices[group])


def shares_left(layer, task, steps):
    """Train with Adam; return the loss and the share of the busiest expert, the means of the last ten steps."""
    p, first, second = dict(layer.params), {}, {}
    left, busiest = [], []
    for step in range(1, steps + 1):
        x, target = task.draw(BATCH)
        output = layer.forward(x)
        assert_shape(output, x.shape, name="the layer's output")
        if step > steps - 10:
            indices = plain_array(layer.indices, name="indices")
            busiest.append(np.bincount(indices.ravel(), minlength=EXPERTS).max() / indices.size)
            left.append(np.mean((output - target) ** 2) / np.mean(target**2))
        layer.backward(2 * (output - target) / target.size)
        grads = layer.grads
        rate = RATE * min(1, step / 10) * (1 - 0.9 * step / steps)
        for name in p:
            first[name] = 0.9 * first.get(name, 0) + 0.1 * grads[name]
            second[name] = 0.98 * second.get(name, 0) + 0.02 * grads[name] ** 2
            size = np.sqrt(second[name] / (1 - 0.98**step)) + 1e-8
            p[name] = p[name] - rate * first[name] / (1 - 0.9**step) / size
        load(layer, p)
    return float(np.mean(left)), float(np.mean(busiest))


@pytest.mark.parametrize("group", ["router_weights", "experts.{}", "experts"])
def test_small_steps_pay_what_their_gradients_promise(learner, rng, group):
    layer = learner.MoELayer(DIM, HIDDEN, EXPERTS, balance_weight=0.1, z_weight=0.05, rng=rng)
    x, target = Task(rng).draw(24)
    layer.forward(x)
    group = group.format(plain_array(layer.indices, name="indices")[0, 0])  # an expert that has a token to learn from

    def loss():
        case = Case(x, layer.params, 2, balance_weight=0.1, z_weight=0.05)
        return float(np.mean((plain_array(layer.forward(x)) - target) ** 2) + case.auxiliary())

    for name in ("first", "second"):
        before, off = loss(), layer.forward(x) - target
        layer.backward(2 * off / off.size)
        p, grads = dict(layer.params), layer.grads
        assert_equal(sorted(grads), sorted(p), name="names of grads")
        chosen = {key: grad for key, grad in grads.items() if key.startswith(group)}
        steepness = float(sum((grad**2).sum() for grad in chosen.values()))
        assert_equal(steepness > 1e-9, True, name=f"whether the gradients of {group} are anything but zero")
        load(layer, {**p, **{key: p[key] - PROMISE / steepness * grad for key, grad in chosen.items()}})
        gain = (before - loss()) / PROMISE
        assert_array(gain, 1.0, rtol=0.02, name=f"gain of the {name} step on {group}, as a share of what was promised")


def test_a_function_in_pieces_is_learnt(learner, rng):
    layer = learner.MoELayer(DIM, HIDDEN, EXPERTS, k=2, balance_weight=0.01, rng=rng)
    left, _ = shares_left(layer, Task(rng), STEPS)
    assert_equal(left < LEFT, True, name=f"whether less than {LEFT:.0%} of the target is left ({left:.1%})")


def test_the_balancing_loss_spreads_the_load(learner, rng):
    collapsed = rng.normal(size=(DIM, EXPERTS)) / 2
    collapsed[3, 0] += 8  # the feature that is always 1 sends every token to expert 0
    task = Task(rng)
    for weight, expected in ((0.0, "stays with one expert"), (0.5, "is spread")):
        layer = learner.MoELayer(DIM, HIDDEN, EXPERTS, k=1, balance_weight=weight, rng=rng)
        p = layer.params
        load(layer, {**{key: p[key] for key in p}, "router_weights": collapsed})
        _, busiest = shares_left(layer, task, BALANCING_STEPS)
        is_spread = busiest < BUSIEST
        name = f"whether the load {expected} with balance_weight {weight} (busiest expert: {busiest:.0%})"
        assert_equal(is_spread, weight > 0, name=name)
