"""Hidden tests of stage s23: the training loop, step by step.

The optimizer of these tests returns parameters that were drawn beforehand, so that each step's gradient and loss are
known, whatever the step before made of its gradient.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import Sizes, assert_grads, length, loss_gradients, model_shapes, new_model

pytestmark = pytest.mark.values

SMALL = Sizes(depth=1, dim=4, num_heads=2, num_kv_heads=1, hidden=3, tokens=5)
ALL = 1e6  # longer than any gradient here


def draw_batches(rng, shapes):
    """Return (ids, targets) of these shapes."""
    return [tuple(rng.integers(0, SMALL.tokens, size=(2, *shape))) for shape in shapes]


class Recorder:
    """An optimizer that keeps what it gets, and gives what was drawn beforehand."""

    def __init__(self, rng, num_steps):
        self.answers = [oracles.draw(rng, model_shapes(SMALL)) for _ in range(num_steps + 1)]
        self.calls = []
        self.outside = False  # whether the model adds eps outside of its roots

    def step(self, params, grads, state, learning_rate):
        """Return the next parameters, and a state with the number of the step: what is answered follows from state."""
        number = 1 + (state.get("count", 0) if isinstance(state, dict) else 0)
        self.calls.append((dict(params), dict(grads), state, learning_rate))
        return self.answers[min(number, len(self.answers) - 1)], {"count": number, "kept": {"mean": np.full(3, number)}}


def convention(model, p):
    """Say whether the model adds eps outside of its roots."""
    ids = np.array([[0, 1, 2]])
    return oracles.closest(model.forward(ids), lambda outside: oracles.gpt(ids, p, SMALL, outside))


def run(learner, rng, batches, num_steps, **options):
    """Train a new model by a Recorder; return the recorder, the model and the history."""
    recorder, model = Recorder(rng, num_steps), new_model(learner, rng, SMALL)
    model.params = p = recorder.answers[0]
    recorder.outside = convention(model, p)
    rates = rng.uniform(0.1, 1, size=num_steps + 1).tolist()
    history = learner.train(model, batches, recorder.step, lambda step: rates[step], num_steps, **options)
    assert_equal(len(recorder.calls), num_steps, name="number of the optimizer's calls")
    assert_equal(sorted(history), ["loss", "norm"], name="names of the history")
    assert_equal([len(history[name]) for name in ("loss", "norm")], [num_steps] * 2, name="lengths of the history")
    return recorder, model, history, rates


def check_steps(recorder, history, groups, max_norm=ALL):
    """Compare each step's gradient, loss and norm with those of all of its batches."""
    for step, (batches, p) in enumerate(zip(groups, recorder.answers, strict=False)):
        loss, expected = loss_gradients(batches, p, SMALL, recorder.outside)
        norm = length(expected)
        share = min(1.0, max_norm / norm)
        assert_grads(recorder.calls[step][1], {name: share * grad for name, grad in expected.items()})
        assert_array(history["loss"][step], loss, rtol=1e-5, name=f"loss of step {step}")
        assert_array(history["norm"][step], norm, rtol=1e-4, name=f"norm of step {step}")


@pytest.mark.criterion("train")
class TestTrain:
    def test_each_step_is_the_optimizers(self, learner, rng):
        batches = draw_batches(rng, [(2, 3), (1, 4), (2, 2)])
        recorder, model, history, rates = run(learner, rng, batches, 3, max_norm=ALL)
        check_steps(recorder, history, [[each] for each in batches])
        for step, (params, _, state, rate) in enumerate(recorder.calls):
            for name, value in recorder.answers[step].items():
                assert_array(params[name], value, name=f"params[{name!r}] at step {step}")
            assert_array(rate, rates[step], name=f"learning_rate of step {step}")
            assert_equal(state.get("count", 0), step, name=f"count in the state at step {step}")
            if step:
                assert_array(state["kept"]["mean"], np.full(3, step), name=f"mean in the state at step {step}")
        held = model.params
        for name, value in recorder.answers[3].items():
            assert_array(held[name], value, name=f"params[{name!r}] after the last step")

    def test_no_more_steps_than_asked_for(self, learner, rng):
        batches = draw_batches(rng, [(1, 3)] * 5)
        recorder, _, history, _ = run(learner, rng, batches, 2, max_norm=ALL)
        check_steps(recorder, history, [batches[:1], batches[1:2]])
        run(learner, rng, batches, 0)

    def test_another_rule(self, learner, rng):
        """Plain gradient descent, worked out by finite differences of the oracle."""
        model, batches = new_model(learner, rng, SMALL), draw_batches(rng, [(2, 3), (2, 3)])
        p = oracles.draw(rng, model_shapes(SMALL))
        model.params = p
        outside = convention(model, p)

        def descend(params, grads, state, learning_rate):
            return {name: value - learning_rate * grads[name] for name, value in params.items()}, state

        learner.train(model, batches, descend, lambda step: 0.1 / (1 + step), 2, max_norm=ALL)
        for step, batch in enumerate(batches):
            _, grads = loss_gradients([batch], p, SMALL, outside)
            p = {name: value - 0.1 / (1 + step) * grads[name] for name, value in p.items()}
        held = model.params
        for name, value in p.items():
            assert_array(held[name], value, rtol=1e-5, name=f"params[{name!r}]")

    @pytest.mark.refusals
    def test_numbers_that_are_none(self, learner, rng):
        batches, model = draw_batches(rng, [(1, 2)] * 3), new_model(learner, rng, SMALL)
        wrong = [(-1, {}), (1.5, {}), (2, {"accumulate": 0}), (2, {"accumulate": 1.5}), (2, {"max_norm": 0.0})]
        unused = [(0, {"accumulate": 0}), (0, {"max_norm": 0.0}), (0, {"max_norm": -1.0})]
        for num_steps, options in [*wrong, *unused, (4, {}), (2, {"accumulate": 2})]:
            with pytest.raises(ValueError):
                learner.train(model, batches, Recorder(rng, 4).step, lambda step: 0.1, num_steps, **options)


@pytest.mark.criterion("accumulate")
class TestAccumulate:
    @pytest.mark.parametrize("accumulate", [2, 3])
    def test_several_batches_are_one_large_batch(self, learner, rng, accumulate):
        batches = draw_batches(rng, [(2, 3)] * (2 * accumulate))
        recorder, _, history, _ = run(learner, rng, batches, 2, accumulate=accumulate, max_norm=ALL)
        check_steps(recorder, history, [batches[:accumulate], batches[accumulate:]])

    def test_every_target_counts_alike(self, learner, rng):
        batches = draw_batches(rng, [(4, 3), (1, 2), (1, 5), (3, 1)])
        recorder, _, history, rates = run(learner, rng, batches, 2, accumulate=2, max_norm=ALL)
        check_steps(recorder, history, [batches[:2], batches[2:]])
        for step, call in enumerate(recorder.calls):
            assert_array(call[3], rates[step], name=f"learning_rate of step {step}")


@pytest.mark.criterion("clip")
class TestClip:
    def test_long_gradients_are_shortened_as_a_whole(self, learner, rng):
        batches = draw_batches(rng, [(2, 3)] * 2)
        for max_norm in (0.05, 1e-3):
            recorder, _, history, _ = run(learner, rng, batches, 2, max_norm=max_norm)
            check_steps(recorder, history, [batches[:1], batches[1:]], max_norm)

    def test_one_by_default(self, learner, rng):
        batches = draw_batches(rng, [(1, 1)])
        recorder, _, history, _ = run(learner, rng, batches, 1)
        check_steps(recorder, history, [batches], 1.0)

    def test_short_gradients_stay_and_the_sum_is_clipped_once(self, learner, rng):
        batches = draw_batches(rng, [(2, 3), (2, 3)])
        for max_norm in (1e-2, ALL):
            recorder, _, history, _ = run(learner, rng, batches, 1, accumulate=2, max_norm=max_norm)
            check_steps(recorder, history, [batches], max_norm)
