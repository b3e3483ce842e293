"""Stage 9: how weights shrink as the penalty grows, which penalty is right, dropout, and when to stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, counts, number, scalar, several, span, told

TRUE = np.array([3.0, -2.0, 1.0, 0.0, 0.0, 0.0])
SAMPLES, NOISE, FOLDS = 30, 1.8, 5
ALPHAS = {"ridge": np.logspace(-1, 4, 31), "lasso": np.logspace(-2, 1, 26)}
ROUNDS = 100  # of coordinate descent
TINY = 1e-9
RATES, SIDE = (0.2, 0.5, 0.8), 12
PATIENCE = 5
Z = np.linspace(-3, 3, 61)
GIVEN = f"{SAMPLES} samples of 6 features, of which 3 matter"


def start(example: None, seed: int) -> Known:
    """Return samples of six features, of which three matter, and a validation loss that falls and rises again."""
    rng = np.random.default_rng(seed=seed)
    X = rng.standard_normal((SAMPLES, len(TRUE)))
    X[:, 3] = 0.8 * X[:, 0] + 0.6 * X[:, 3]  # one that does not matter looks like one that does
    epochs = np.arange(40.0)
    losses = 0.25 + np.exp(-epochs / 6) + 0.0006 * epochs**2 / 2 + 0.01 * rng.standard_normal(len(epochs))
    return {"X": X, "y": X @ TRUE + 2 + NOISE * rng.standard_normal(SAMPLES), "validation": losses, "seed": seed}


def _model(returned: object) -> tuple[Array, float]:
    first, second = several(returned, ("weights", "bias"))
    return bounded(array(first, TRUE.shape, ("features",), name="weights"), "weights", 1e6), scalar(second, "bias")


def _threshold(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.soft_threshold(Z, 1.0), Z.shape, ("points",)))
    far = np.abs(Z) > 1
    right = not found[~far].any() and agree(np.ones(int(far.sum())), np.abs(Z - found)[far])
    right = right and bool((np.abs(found) <= np.abs(Z)).all())
    wrong = () if right else ("values should move towards 0 by the threshold, and stop there",)
    return Reading({"threshold": found}, Z.shape, ("points",), (span(found),), wrong)


def _penalties(learner: Any, known: Known) -> Reading:
    found, wrong, h = {}, [], 1e-6
    for kind in ("ridge", "lasso"):
        penalty = getattr(learner, f"{kind}_penalty")
        found[kind] = np.array([scalar(penalty(np.array([w]), 1.0), f"{kind}_penalty") for w in Z])
        at = np.array([1.5, -0.5])
        given = learner.ridge_gradient(at, 1.0) if kind == "ridge" else learner.elastic_net_gradient(at, 1.0, 1.0)
        slope = bounded(array(given, (2,), ("weights",), name=f"{kind} gradient"))
        ends = [[scalar(penalty(at + s * h * np.eye(2)[i], 1.0)) for s in (1, -1)] for i in (0, 1)]
        measured = np.array([(up - down) / (2 * h) for up, down in ends])
        if not np.allclose(measured, slope, atol=1e-4):
            wrong.append(
                f"at 1.5 and -0.5 the {kind} penalty has the slopes {number(measured[0])} and {number(measured[1])}"
            )
    return Reading(
        {"penalties": found}, None, (), (span(found["ridge"], "ridge"), span(found["lasso"], "lasso")), tuple(wrong)
    )


def _path(kind: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        X, y, weights = known["X"], known["y"], []
        for alpha in ALPHAS[kind]:
            fitted = learner.fit_ridge(X, y, alpha) if kind == "ridge" else learner.fit_lasso(X, y, alpha, ROUNDS)
            weights.append(_model(fitted)[0])
        found = np.array(weights)
        sizes = (found**2).sum(axis=1) if kind == "ridge" else np.abs(found).sum(axis=1)
        wrong = []
        if (np.diff(sizes) > 1e-6 * (1 + sizes[0])).any():
            at = int((np.diff(sizes) > 1e-6 * (1 + sizes[0])).argmax())
            wrong.append(f"a larger penalty should not make weights larger, as from {number(ALPHAS[kind][at])} on")
        left = (np.abs(found) > TINY).sum(axis=1)
        if kind == "lasso" and left[-1]:
            wrong.append("the strongest penalty here should leave no weight at all")
        facts = (
            told("at the least penalty", found[0]),
            told("at the greatest", found[-1]),
            counts("weights left", (left[0], left[-1])),
        )
        return Reading({kind: found}, None, (), facts, tuple(wrong))

    return run


def _ridge(X: Array, y: Array, alpha: float) -> tuple[Array, float]:
    """Return weights and bias under a penalty, as least squares with a row of its own for each weight."""
    more = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(X.shape[1])])
    weights = np.linalg.lstsq(more, np.concatenate([y - y.mean(), np.zeros(X.shape[1])]), rcond=None)[0]
    bias = float(y.mean() - weights @ X.mean(axis=0))
    return weights, bias


def _validated(learner: Any, known: Known) -> Reading:
    X, y = known["X"], known["y"]
    folds = _folds(learner.k_fold_indices(SAMPLES, FOLDS, np.random.default_rng(known["seed"])))
    found, trained = [], []
    asked: list[str] = []

    for alpha in ALPHAS["ridge"]:

        def fit(X_part: object, y_part: object, alpha: float = float(alpha)) -> object:
            if not _usable(X_part, y_part, asked):
                return [np.zeros(len(TRUE)), 0.0]
            return list(_ridge(np.asarray(X_part), np.asarray(y_part), alpha))

        def score(model: object, X_part: object, y_part: object) -> float:
            try:
                weights, bias = _model(model)
            except Unfit:
                asked.append("score was called with something else than what fit returned")
                return 0.0
            if not _usable(X_part, y_part, asked):
                return 0.0
            return float(((np.asarray(y_part) - np.asarray(X_part) @ weights - bias) ** 2).mean())

        scores = bounded(array(learner.cross_val_score(fit, score, X, y, folds), (FOLDS,), ("folds",)))
        if asked:
            raise Unfit(asked[0])
        weights, bias = _ridge(X, y, float(alpha))
        found.append(float(scores.mean()))
        trained.append(float(((y - X @ weights - bias) ** 2).mean()))
    best = float(ALPHAS["ridge"][int(np.argmin(found))])
    right = np.mean([score(_ridge(X[a], y[a], best), X[b], y[b]) for a, b in folds])
    wrong = (
        ()
        if abs(right - min(found)) < 1e-6 * right
        else ("each fold's model should be fitted without the fold's test samples",)
    )
    values = {"validated": np.array(found), "trained": np.array(trained)}
    return Reading(values, None, (), (told("best penalty", (best,)), told("error there", (min(found),))), wrong)


def _usable(X: object, y: object, asked: list[str]) -> bool:
    """Say whether X and y are samples as they should be; if not, keep in asked that they are none."""
    try:
        count = len(X) if isinstance(X, np.ndarray) and X.ndim == 2 else 0
        array(X, (count, len(TRUE)))
        array(y, (count,))
    except Unfit:
        count = 0
    if count < 2:
        asked.append("fit or score was called with something else than rows of X and their y")
    return count >= 2


def _indices(value: object, fold: int) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "iu":
        raise Unfit(f"fold {fold}: train and test should be arrays of whole numbers, of one axis")
    return value


def _folds(value: object) -> list[tuple[Any, Any]]:
    if not isinstance(value, (list, tuple)) or len(value) != FOLDS:
        raise Unfit(f"k_fold_indices should return a list of {FOLDS} pairs (train, test)")
    found = []
    for place, pair in enumerate(value):
        train, test = (_indices(part, place) for part in several(pair, ("train", "test")))
        if sorted([*train.tolist(), *test.tolist()]) != list(range(SAMPLES)):
            raise Unfit(f"fold {place}: every sample should be in train or in test, once")
        found.append((train, test))
    if sorted(int(i) for _, test in found for i in test) != list(range(SAMPLES)):
        raise Unfit("every sample should be in exactly one of the test sets")
    return found


def _dropped(learner: Any, known: Known) -> Reading:
    x, masks, facts, wrong = np.ones((SIDE * 4, SIDE * 4)), {}, [], []
    for place, rate in enumerate(RATES):
        returned = learner.dropout(x, rate, np.random.default_rng([known["seed"], place]))
        first, second = several(returned, ("y", "mask"))
        y, mask = (bounded(array(part, x.shape, name=name)) for part, name in ((first, "y"), (second, "mask")))
        share, mean = float((mask == 0).mean()), float(y.mean())
        if abs(share - rate) > 0.1:
            wrong.append(f"with rate {rate:g} about that share should be dropped, not {number(share)}")
        elif abs(mean - 1) > 0.25:
            wrong.append(
                f"with rate {rate:g} the mean of ones should stay near 1, it is {number(mean)}: scale up what is kept"
            )
        masks[rate] = y[:SIDE, :SIDE]
        facts.append(Fact(f"rate {rate:g}", (share, mean), f"rate {rate:g}: dropped {share:.2f}, mean {mean:.2f}"))
    return Reading({"dropped": masks}, x.shape, (), tuple(facts), tuple(wrong))


def _stopped(learner: Any, known: Known) -> Reading:
    losses = known["validation"]
    first, second = several(learner.early_stopping(losses, PATIENCE), ("stop_epoch", "best_epoch"))
    stop, best = (int(scalar(part, name)) for part, name in ((first, "stop_epoch"), (second, "best_epoch")))
    if not 0 <= best <= stop < len(losses):
        raise Unfit(
            f"best_epoch {best} and stop_epoch {stop} should be epochs from 0 to {len(losses) - 1}, the best one first"
        )
    wrong = []
    if losses[: stop + 1].argmin() != best:
        wrong.append(f"up to epoch {stop} the loss is least in epoch {int(losses[: stop + 1].argmin())}, not {best}")
    elif stop < len(losses) - 1 and stop != best + PATIENCE:
        wrong.append(f"it should stop {PATIENCE} epochs after the best one")
    return Reading(
        {"stop": (stop, best)},
        None,
        (),
        (counts("stops after epoch", (stop,)), counts("best epoch", (best,))),
        tuple(wrong),
    )


STEPS = (
    Step("penalties", "Penalties", "What large weights cost, and which way they are pulled.", (
        Call("penalties", "ridge_penalty, ridge_gradient, lasso_penalty, elastic_net_gradient", "ridge_penalty", (),
             _penalties),
        Call("threshold", "soft_threshold(z, 1)", "soft_threshold", (), _threshold),
    )),
    Step("paths", "Weights and penalty", "The same data, fitted under ever stronger penalties.", (
        Call("ridge", "fit_ridge(X, y, alpha)", "fit_ridge", (), _path("ridge")),
        Call("lasso", f"fit_lasso(X, y, alpha, {ROUNDS})", "fit_lasso", (), _path("lasso")),
    )),
    Step("validation", "Cross-validation", "Each sample is predicted once by a model that has not seen it.",
         (Call("validated", f"k_fold_indices({SAMPLES}, {FOLDS}, rng), cross_val_score", "cross_val_score", (),
               _validated),)),
    Step("training", "While training", "Units that may fail share the work; training ends when it no longer helps.", (
        Call("dropped", "dropout(ones, rate, rng)", "dropout", (), _dropped),
        Call("stop", f"early_stopping(losses, {PATIENCE})", "early_stopping", (), _stopped),
    )),
)  # fmt: skip
