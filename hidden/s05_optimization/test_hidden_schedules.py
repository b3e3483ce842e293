"""Hidden tests of stage s05: learning-rate schedules, step by step."""

import math

import numpy as np
import pytest

from grader.testing import assert_array

pytestmark = pytest.mark.values


def table(schedule, steps, *args, **kwargs):
    """Return a schedule's rates at all steps; a rate that is no number is handed on as it is."""
    rates = []
    for step in steps:
        rate = schedule(step, *args, **kwargs)
        assert_array(rate, 0.0, atol=1e6, name=f"the rate at step {step}")  # one number, not NaN
        rates.append(float(rate))
    return np.array(rates)


def half_cosine(step, first, last, length):
    """Return the rate by the half-angle form: the drop is sin^2 of half the angle."""
    share = math.sin(math.pi / 2 * min(step / length, 1.0)) ** 2
    return first * (1 - share) + last * share


@pytest.mark.criterion("decay-schedules")
class TestDecays:
    def test_rate_drops_between_periods_only(self, learner, rng):
        base, drop, period = float(rng.uniform(0.1, 2)), float(rng.uniform(0.2, 0.9)), int(rng.integers(3, 8))
        expected, rate = [], base
        for _ in range(4):
            expected += [rate] * period
            rate *= drop
        assert_array(table(learner.step_decay, range(4 * period), base, drop, period), np.array(expected))

    def test_default_is_a_half_every_ten_steps(self, learner, rng):
        base = float(rng.uniform(0.1, 2))
        expected = np.repeat([base, base / 2, base / 4], 2)
        assert_array(table(learner.step_decay, (0, 9, 10, 19, 20, 29), base), expected)

    def test_period_of_one_drops_at_each_step(self, learner, rng):
        base = float(rng.uniform(0.1, 2))
        rates = table(learner.step_decay, range(4), base, drop=0.25, period=1)
        assert_array(rates, base * np.array([1, 1 / 4, 1 / 16, 1 / 64]))

    def test_exponential_decay_multiplies_by_one_factor_a_step(self, learner, rng):
        base, decay = float(rng.uniform(0.1, 2)), float(rng.uniform(0.05, 0.5))
        rates = table(learner.exponential_decay, range(12), base, decay)
        assert_array(rates, base * np.cumprod([1.0] + [math.exp(-decay)] * 11))

    @pytest.mark.edges
    def test_exponential_decay_without_decay_is_constant(self, learner, rng):
        base = float(rng.uniform(0.1, 2))
        assert_array(table(learner.exponential_decay, (0, 5, 1000), base, 0.0), np.full(3, base))

    @pytest.mark.refusals
    def test_impossible_steps_and_periods_are_refused(self, learner):
        for step, period in ((-1, 5), (-5, 5), (3, 0), (3, -2)):
            with pytest.raises(ValueError):
                learner.step_decay(step, 1.0, 0.5, period)
        for step in (-1, -20):
            with pytest.raises(ValueError):
                learner.exponential_decay(step, 1.0, 0.1)


@pytest.mark.criterion("cosine-annealing")
class TestCosine:
    def test_whole_way_down_and_beyond(self, learner, rng):
        base, least, total = float(rng.uniform(0.5, 2)), float(rng.uniform(0.1, 0.4)), int(rng.integers(5, 15))
        steps = range(2 * total + 3)
        expected = [half_cosine(step, base, least, total) for step in steps]
        assert_array(table(learner.cosine_annealing, steps, base, total, least), np.array(expected))

    def test_least_rate_is_zero_unless_said(self, learner, rng):
        base, total = float(rng.uniform(0.5, 2)), int(rng.integers(5, 15))
        expected = [half_cosine(step, base, 0.0, total) for step in range(total + 2)]
        assert_array(table(learner.cosine_annealing, range(total + 2), base, total), np.array(expected))

    @pytest.mark.edges
    def test_single_step(self, learner, rng):
        base = float(rng.uniform(0.5, 2))
        assert_array(table(learner.cosine_annealing, range(3), base, 1, min_rate=0.125), np.array([base, 0.125, 0.125]))

    @pytest.mark.refusals
    def test_impossible_steps_and_totals_are_refused(self, learner):
        for step, total in ((-1, 5), (-7, 5), (0, 0), (3, 0), (3, -4)):
            with pytest.raises(ValueError):
                learner.cosine_annealing(step, 1.0, total)


@pytest.mark.criterion("warmup-cosine")
class TestWarmup:
    def test_rise_fall_and_beyond(self, learner, rng):
        base, least = float(rng.uniform(0.5, 2)), float(rng.uniform(0.1, 0.4))
        warmup, rest = int(rng.integers(3, 8)), int(rng.integers(9, 13))
        steps = range(warmup + rest + 4)
        rise = [base * step / warmup for step in range(warmup)]
        fall = [half_cosine(step, base, least, rest) for step in range(len(steps) - warmup)]
        rates = table(learner.warmup_cosine, steps, base, warmup, warmup + rest, least)
        assert_array(rates, np.array(rise + fall))

    def test_least_rate_after_the_rise_is_zero_unless_said(self, learner, rng):
        base, warmup, rest = float(rng.uniform(0.5, 2)), int(rng.integers(3, 8)), int(rng.integers(9, 13))
        fall = [half_cosine(step, base, 0.0, rest) for step in range(rest + 1)]
        rates = table(learner.warmup_cosine, range(warmup, warmup + rest + 1), base, warmup, warmup + rest)
        assert_array(rates, np.array(fall))

    @pytest.mark.edges
    def test_without_warmup_and_with_one_step_of_each(self, learner, rng):
        base, total = float(rng.uniform(0.5, 2)), int(rng.integers(5, 15))
        expected = [half_cosine(step, base, 0.25, total) for step in range(total + 2)]
        assert_array(table(learner.warmup_cosine, range(total + 2), base, 0, total, 0.25), np.array(expected))
        assert_array(table(learner.warmup_cosine, range(4), base, 1, 2), np.array([0.0, base, 0.0, 0.0]))

    @pytest.mark.refusals
    def test_impossible_lengths_are_refused(self, learner):
        for step, warmup, total in ((-1, 5, 20), (-3, 0, 20), (3, -1, 20), (0, 10, 10), (3, 20, 10), (0, 0, 0)):
            with pytest.raises(ValueError):
                learner.warmup_cosine(step, 1.0, warmup, total)
