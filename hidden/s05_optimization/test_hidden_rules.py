"""Hidden tests of stage s05: the seven update rules, all held to the same promises."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged
from hidden.s05_optimization import oracles
from hidden.s05_optimization.oracles import PLACES, RULES, SHAPES, assert_arrays, draw_arrays, unpack

pytestmark = pytest.mark.values

WITH_EPS = [rule for rule in RULES if rule.rtol]


def each(rules):
    """Run a test once for each rule, in the row of that rule."""
    params = [pytest.param(rule, marks=pytest.mark.criterion(rule.row), id=rule.row) for rule in rules]
    return pytest.mark.parametrize("rule", params)


def nearest(params, candidates):
    """Return the candidate that params are closest to; the first if they are no arrays of its shapes."""

    def distance(candidate):
        return max(np.abs(params[name] - value).max() for name, value in candidate.items())

    fits = isinstance(params, dict) and all(
        np.shape(params.get(name)) == value.shape for name, value in candidates[0].items()
    )
    return min(candidates, key=distance) if fits else candidates[0]


def copied(state):
    """Return a state whose containers and arrays are its own; what else a learner keeps in it stays as it is."""
    if isinstance(state, dict):
        return {name: copied(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(copied(value) for value in state)
    return state.copy() if isinstance(state, np.ndarray) else state


@each(RULES)
def test_many_steps_of_drawn_gradients(learner, rng, rule):
    step, hyper = getattr(learner, rule.name), rule.draw(rng)
    params, gradients = draw_arrays(rng), [draw_arrays(rng) for _ in range(5)]
    state = {}
    for grads, expected in zip(gradients, rule.path(params, gradients, **hyper), strict=True):
        params, state = unpack(step(params, grads, state, **hyper), "params", "state")
        assert_arrays(params, expected, "params", rtol=rule.rtol)


@each(RULES)
def test_defaults_are_those_of_the_contract(learner, rng, rule):
    step = getattr(learner, rule.name)
    params, gradients = draw_arrays(rng), [draw_arrays(rng) for _ in range(3)]
    start, state = {name: value / 64 for name, value in params.items()}, {}  # small, so that small steps count
    params = start
    for grads in gradients:
        params, state = unpack(step(params, grads, state), "params", "state")
    *_, expected = rule.path(start, gradients)
    assert_arrays(params, expected, "params", rtol=rule.rtol)


@pytest.mark.purity
@each(RULES)
def test_nothing_that_is_passed_in_is_changed(learner, rng, rule):
    step, hyper = getattr(learner, rule.name), rule.draw(rng)
    params, grads, state = draw_arrays(rng), draw_arrays(rng), {}
    for _ in range(2):
        before = [dict(params), dict(grads), copied(state)]
        with unchanged(*params.values(), *grads.values()):
            result, after = unpack(step(params, grads, state, **hyper), "params", "state")
        for name, argument, was in zip(("params", "grads", "state"), (params, grads, state), before, strict=True):
            assert_equal(argument, was, name=f"{name} after the call")
        params, state = result, after


@pytest.mark.purity
@each(RULES)
def test_same_state_gives_the_same_step_twice(learner, rng, rule):
    step, hyper = getattr(learner, rule.name), rule.draw(rng)
    params, gradients = draw_arrays(rng), [draw_arrays(rng) for _ in range(2)]
    first, *_, expected = rule.path(params, gradients, **hyper)
    result, state = unpack(step(params, gradients[0], {}, **hyper), "params", "state")
    assert_arrays(result, first, "params", rtol=rule.rtol)
    for which in ("params", "params of a second step from the same state"):
        after, _ = unpack(step(result, gradients[1], state, **hyper), "params", "state")
        assert_arrays(after, expected, which, rtol=rule.rtol)


@pytest.mark.dtype
@each(RULES)
def test_float32_parameters_stay_float32(learner, rng, rule):
    step, hyper = getattr(learner, rule.name), rule.draw(rng)
    params, gradients = draw_arrays(rng, np.float32), [draw_arrays(rng, np.float32) for _ in range(2)]
    state = {}
    for grads, expected in zip(gradients, rule.path(params, gradients, **hyper), strict=True):
        params, state = unpack(step(params, grads, state, **hyper), "params", "state")
        assert_arrays(params, expected, "params", dtype="float32")


@pytest.mark.refusals
@each(RULES)
def test_gradients_that_do_not_match_are_refused(learner, rng, rule):
    step, params, grads = getattr(learner, rule.name), draw_arrays(rng), draw_arrays(rng)
    for shape in ((1, 4), (3, 1), (4,), (4, 3), (12,), (1, 3, 4)):
        with pytest.raises(ValueError):
            step(params, {**grads, "weights": rng.normal(size=shape)}, {})
    with pytest.raises(ValueError):
        step(params, {name: grads[name] for name in list(SHAPES)[1:]}, {})
    with pytest.raises(ValueError):
        step(params, {**grads, "more": np.ones(2)}, {})


@each(WITH_EPS)
def test_eps_is_used(learner, rng, rule):
    step = getattr(learner, rule.name)
    for size, hyper in ((1.0, {"eps": 0.5}), (1e-8, {})):  # 1e-8, the default, matters for gradients of its size
        params = {name: np.zeros(shape) for name, shape in SHAPES.items()}
        grads = {name: size * value for name, value in draw_arrays(rng).items()}
        result, _ = unpack(step(params, grads, {}, learning_rate=1.0, **hyper), "params", "state")
        candidates = [next(rule.path(params, [grads], place, learning_rate=1.0, **hyper)) for place in PLACES]
        assert_arrays(result, nearest(result, candidates), "params", rtol=1e-6)


@pytest.mark.edges
@each(WITH_EPS)
def test_an_entry_without_gradient_stays(learner, rng, rule):
    step, hyper = getattr(learner, rule.name), rule.draw(rng)
    hyper.pop("weight_decay", None)
    params, gradients = draw_arrays(rng), [draw_arrays(rng) for _ in range(3)]
    for grads in gradients:
        grads["weights"][1, :] = 0.0
        grads["bias"][:] = 0.0
    gradients[2]["bias"][2] = -3.0
    extra = {"weight_decay": 0.0} if rule.decays else {}
    state, start = {}, params
    for grads in gradients:
        params, state = unpack(step(params, grads, state, **hyper, **extra), "params", "state")
    *_, expected = rule.path(start, gradients, **hyper, **extra)
    assert_arrays(params, expected, "params", rtol=rule.rtol)
    assert_array(params["weights"][1], start["weights"][1], name="params['weights'][1], which had no gradient")


@pytest.mark.criterion("nesterov")
def test_params_are_the_look_ahead_point(learner, rng):
    curvature, point, velocity = rng.uniform(0.5, 5, 4), rng.normal(size=4), np.zeros(4)
    rate, share = 0.1, float(rng.uniform(0.5, 0.9))
    params, state = {"x": point}, {}
    for _ in range(6):  # beside it the rule as it is told: look ahead, take the gradient there, correct
        params, state = unpack(
            learner.nesterov_step(params, {"x": curvature * params["x"]}, state, learning_rate=rate, momentum=share),
            "params",
            "state",
        )
        ahead = point + share * velocity
        velocity = share * velocity - rate * curvature * ahead
        point = point + velocity
        assert_arrays(params, {"x": point + share * velocity}, "params")


@pytest.mark.criterion("adam")
def test_first_step_has_the_length_of_the_learning_rate(learner, rng):
    """Whatever the sizes of the gradients; eps changes it by 1e-6 of itself at most, as the gradients are above 1/4."""
    params, grads = draw_arrays(rng), {name: 1000 * value for name, value in draw_arrays(rng).items()}
    result, _ = unpack(learner.adam_step(params, grads, {}, learning_rate=0.25), "params", "state")
    expected = {name: value - 0.25 * np.sign(grads[name]) for name, value in params.items()}
    assert_arrays(result, expected, "params", rtol=oracles.EPS)


@pytest.mark.criterion("adam")
def test_a_long_run_of_one_gradient_moves_one_rate_a_step(learner, rng):
    params, state = {"x": np.zeros(3)}, {}
    grads = {"x": np.array([0.5, -2.0, 40.0]) * rng.uniform(1, 2)}
    for count in range(1, 13):
        params, state = unpack(learner.adam_step(params, grads, state, learning_rate=0.125), "params", "state")
        assert_arrays(params, {"x": -0.125 * count * np.sign(grads["x"])}, "params", rtol=oracles.EPS)
