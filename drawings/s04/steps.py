"""Stage 4: densities, what a sample tells about them, a belief that sharpens, and means found by drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.explore.model import Call, Fact, Known, Reading, Step
from grader.explore.values import Unfit, array, bounded, number, scalar, several, span, told

X = np.linspace(-6, 6, 241)
NORMALS: Mapping[str, tuple[float, float]] = {
    "mean 0, std 1": (0.0, 1.0),
    "mean 0, std 2": (0.0, 2.0),
    "mean 2, std 0.5": (2.0, 0.5),
}
FAR = 60.0  # standard deviations from the mean, where the density is too small for a float
SAMPLE, TRUE_MEAN, TRUE_STD = 300, 1.5, 0.8
CHANCES = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
DRAWS, SIGMAS = 2000, 5.0  # how far a right answer may be off by chance
P = np.linspace(0.0, 1.0, 101)
HEADS, TOSSES = 7, 10
SEEN, PRIOR_STD = 30, 0.5
COUNTS = (10, 30, 100, 300, 1000, 3000, 10000)
SLACK = 1e-6
GIVEN = "normal densities from -6 to 6, samples, a coin and a die"


def start(example: None, seed: int) -> Known:
    """Return samples of one feature, (SAMPLE,), and of two that belong together, (SAMPLE, 2)."""
    rng = np.random.default_rng(seed=seed)
    cloud = rng.standard_normal((SAMPLE, 2)) @ np.array([[1.5, 0.9], [0.0, 0.6]])
    return {"sample": rng.normal(TRUE_MEAN, TRUE_STD, SAMPLE), "cloud": cloud, "seed": seed}


def _densities(learner: Any, known: Known) -> Reading:
    found, wrong = {}, []
    for name, (mean, std) in NORMALS.items():
        found[name] = bounded(array(learner.normal_pdf(X, mean, std), X.shape, ("points",), name=name), name)
        area = float(((found[name][1:] + found[name][:-1]) / 2 * np.diff(X)).sum())
        if abs(area - 1) > 0.01:
            wrong.append(f"a density integrates to 1; with {name} it is {number(area)}")
        elif found[name].min() < 0:
            wrong.append("a density is never below 0")
    return Reading({"densities": found}, X.shape, ("points",), (span(found["mean 0, std 1"], "values"),), tuple(wrong))


def _logs(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.normal_log_pdf(X, 0.0, 1.0), X.shape, ("points",)))
    far = scalar(learner.normal_log_pdf(np.array([FAR]), 0.0, 1.0), "60 standard deviations away")
    off = np.abs(np.exp(found) - known["densities"]["mean 0, std 1"]).max()
    wrong = () if off < SLACK else ("exp of it should be the density",)
    return Reading({}, X.shape, ("points",), (told("60 standard deviations away", (far,)),), wrong)


def _fitted(learner: Any, known: Known) -> Reading:
    first, second = several(learner.fit_normal(known["sample"]), ("mean", "std"))
    mean, std = scalar(first, "mean"), scalar(second, "std")
    if not std > 0:
        raise Unfit(f"std: {number(std)}, where a number above 0 was expected")
    right = known["sample"].mean(), known["sample"].std()
    wrong = (
        () if np.allclose((mean, std), right, rtol=1e-6) else ("no other normal should make the sample more likely",)
    )
    return Reading({"fitted": (mean, std)}, None, (), (told("mean and std", (mean, std)),), wrong)


def _cloud(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.covariance_matrix(known["cloud"]), (2, 2), ("features", "features")))
    related = bounded(
        array(learner.correlation_matrix(known["cloud"]), (2, 2), ("features", "features"), name="correlations")
    )
    wrong = []
    if not np.allclose(found, np.cov(known["cloud"].T), rtol=1e-6):
        wrong.append("covariances are means of products of what is left without the means, over n - 1")
    if np.abs(np.diag(related) - 1).max() > SLACK or np.abs(related).max() > 1 + SLACK:
        wrong.append("correlations lie between -1 and 1, and each feature has 1 with itself")
    facts = (told("covariances", found.ravel()), told("correlation", (related[0, 1],)))
    return Reading({"covariance": found}, (2, 2), ("features", "features"), facts, tuple(wrong))


def _drawn(learner: Any, known: Known) -> Reading:
    rng = np.random.default_rng(known["seed"])
    drawn = array(learner.categorical_sample(CHANCES, DRAWS, rng), (DRAWS,), ("draws",))
    if not np.isin(drawn, np.arange(len(CHANCES))).all():
        raise Unfit(f"draws should be whole numbers from 0 to {len(CHANCES) - 1}")
    shares = np.bincount(drawn.astype(int), minlength=len(CHANCES)) / DRAWS
    far = np.abs(shares - CHANCES) > SIGMAS * np.sqrt(CHANCES * (1 - CHANCES) / DRAWS)
    wrong = (f"{int(far.argmax())} should come up with a share of {CHANCES[far.argmax()]:g}",) if far.any() else ()
    return Reading({"shares": shares}, (DRAWS,), ("draws",), (told("shares", shares),), wrong)


def _surprise(learner: Any, known: Known) -> Reading:
    both = np.stack([P, 1 - P], axis=1)
    found = bounded(array(learner.entropy(both), P.shape, ("distributions",), name="entropy"))
    apart = bounded(array(learner.kl_divergence(both, np.full_like(both, 0.5)), P.shape, ("distributions",), name="kl"))
    wrong = []
    if abs(found.max() - np.log(2)) > SLACK or abs(found[0]) + abs(found[-1]) > SLACK:
        wrong.append("a fair coin has the entropy log 2 = 0.693, a certain outcome has 0")
    if np.abs(found + apart - np.log(2)).max() > SLACK:
        wrong.append("entropy and divergence from a fair coin should add up to log 2")
    return Reading(
        {"entropy": found, "kl": apart}, P.shape, ("distributions",), (span(found, "entropy"),), tuple(wrong)
    )


def _coin(learner: Any, known: Known) -> Reading:
    inner = P[1:-1]
    logs = [
        bounded(array(learner.bernoulli_log_pmf(np.full(inner.shape, k), inner), inner.shape, name=f"k = {k}"))
        for k in (1, 0)
    ]
    likely = HEADS * logs[0] + (TOSSES - HEADS) * logs[1]
    total = scalar(learner.log_sum_exp(likely), "log_sum_exp")
    shares = np.exp(likely - total)
    wrong = []
    if abs(shares.sum() - 1) > SLACK:
        wrong.append(f"divided by the sum of exp, the shares should sum to 1, not {number(float(shares.sum()))}")
    if abs(inner[likely.argmax()] - HEADS / TOSSES) > 1e-9:
        wrong.append(f"{HEADS} of {TOSSES} heads are most likely for p = {HEADS / TOSSES:g}")
    fact = told("most likely p", (inner[likely.argmax()],))
    return Reading({"coin": bounded(shares)}, inner.shape, ("points",), (fact,), tuple(wrong))


def _belief(learner: Any, known: Known) -> Reading:
    sample, found = known["sample"], []
    for count in range(SEEN + 1):
        found.append(scalar(learner.map_normal_mean(sample[:count], TRUE_STD, 0.0, PRIOR_STD), f"{count} samples"))
    wrong = []
    if abs(found[0]) > SLACK:
        wrong.append("without samples it should be the mean that was believed before, 0")
    mean = float(sample[:SEEN].mean())
    if not min(0.0, mean) - SLACK <= found[-1] <= max(0.0, mean) + SLACK:
        wrong.append(f"it should lie between the belief, 0, and the samples' mean, {number(mean)}")
    return Reading(
        {"belief": np.array(found)}, None, (), (told("at first and at last", (found[0], found[-1])),), tuple(wrong)
    )


def _carlo(learner: Any, known: Known) -> Reading:
    asked: list[str] = []

    def sampler(count: object, rng: object) -> object:
        if type(count) is not int or not isinstance(rng, np.random.Generator) or not 0 < count <= COUNTS[-1]:
            asked.append("sampler was called with something else than num_samples and rng")
            return np.zeros(2)
        return rng.standard_normal(count)

    def square(samples: object) -> object:
        if not isinstance(samples, np.ndarray) or samples.dtype.kind != "f" or samples.size > COUNTS[-1]:
            asked.append("f was called with something else than the samples")
            return np.zeros(2)
        return samples**2

    found = []
    for place, count in enumerate(COUNTS):
        rng = np.random.default_rng([known["seed"], place])
        first, second = several(learner.monte_carlo_mean(square, sampler, count, rng), ("estimate", "standard_error"))
        if asked:
            raise Unfit(asked[0])
        found.append((scalar(first, "estimate"), scalar(second, "standard_error")))
    last, error = found[-1]
    wrong = []
    if abs(last - 1) > SIGMAS * abs(error) or not error > 0:
        wrong.append(f"the mean of x² is 1; {COUNTS[-1]} samples gave {number(last)}, give or take {number(error)}")
    elif not 0.3 < error * np.sqrt(COUNTS[-1] / 2) < 3:
        wrong.append(f"{COUNTS[-1]} samples should be off by about {number(float(np.sqrt(2 / COUNTS[-1])))}")
    fact = Fact("estimate", (last, error), f"estimate {number(last)} ± {number(error)}")
    return Reading({"carlo": np.array(found)}, None, (), (fact,), tuple(wrong))


STEPS = (
    Step("densities", "Densities", "Where values are likely; in logarithms also where they hardly ever are.", (
        Call("densities", "normal_pdf(x, mean, std)", "normal_pdf", (), _densities),
        Call("logs", "normal_log_pdf(x, 0, 1)", "normal_log_pdf", ("densities",), _logs),
    )),
    Step("sample", "Samples", "What a sample tells about where it came from.", (
        Call("fitted", "fit_normal(sample)", "fit_normal", (), _fitted),
        Call("covariance", "covariance_matrix(X), correlation_matrix(X)", "covariance_matrix", (), _cloud),
    )),
    Step("outcomes", "Coins and dice", "Chances, what they surprise by, and what tosses say about them.", (
        Call("coin", "bernoulli_log_pmf(k, p), log_sum_exp(…)", "bernoulli_log_pmf", (), _coin),
        Call("entropy", "entropy(p), kl_divergence(p, q)", "entropy", (), _surprise),
        Call("shares", f"categorical_sample(probabilities, {DRAWS}, rng)", "categorical_sample", (), _drawn),
    )),
    Step("estimates", "Estimates", "Few samples should move a belief a little, many a lot.", (
        Call("belief", "map_normal_mean(x, std, 0, 0.5), with 0 to 30 samples", "map_normal_mean", (), _belief),
        Call("carlo", "monte_carlo_mean(f, sampler, num_samples, rng)", "monte_carlo_mean", (), _carlo),
    )),
)  # fmt: skip
