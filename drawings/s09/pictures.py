"""What the exploration of stage 9 draws of what its steps found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drawings.s09.steps import ALPHAS, PATIENCE, RATES, TRUE, Z
from grader.explore.model import Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the paths of the weights, errors, penalties, what dropout leaves, and when training stops."""
    found: list[Drawing] = []
    charts = tuple(_weights(kind, known) for kind in ALPHAS if kind in known)
    if charts:
        caption = "Ridge shrinks all weights and lets none go; the lasso sets them to 0 one after the other."
        found.append(Curves("paths", "Weights as the penalty grows", caption, "penalty", "weight", charts, log_x=True))
    if "validated" in known:
        found.append(_errors(known))
    if "stop" in known:
        found.append(_stopping(known))
    if shapes := tuple(_shapes(known)):
        caption = "The lasso's corner at 0 is what holds weights there; ridge is flat around 0 and lets them be small."
        found.append(Curves("shapes", "Penalties", caption, "z", "value", shapes))
    if "dropped" in known:
        panels = tuple(Image(f"rate {rate:g}", rows(y)) for rate, y in known["dropped"].items())
        caption = "What is kept of ones grows by as much as is dropped, so that the mean stays 1."
        found.append(Images("dropout", "Dropout", caption, "units", "samples", panels, 0.0, 1 / (1 - RATES[-1])))
    return tuple(found)


def _errors(known: Known) -> Curves:
    x = numbers(ALPHAS["ridge"])
    series = (
        Series("training", x, numbers(known["trained"])),
        Series("cross-validation", x, numbers(known["validated"])),
    )
    caption = "The training error only grows with the penalty; samples held back show which one is right."
    panels = (Chart("Ridge", series),)
    return Curves("errors", "Which penalty?", caption, "penalty", "mean squared error", panels, log_x=True)


def _shapes(known: Known) -> Iterator[Chart]:
    if "penalties" in known:
        penalties = tuple(Series(kind, numbers(Z), numbers(y)) for kind, y in known["penalties"].items())
        yield Chart("Penalty of one weight", penalties)
    if "threshold" in known:
        z, moved = Series("z", numbers(Z), numbers(Z)), Series("moved", numbers(Z), numbers(known["threshold"]))
        yield Chart("Soft threshold of 1", (z, moved))


def _weights(kind: str, known: Known) -> Chart:
    x = numbers(ALPHAS[kind])
    names = (f"feature {place} ({weight:g})" for place, weight in enumerate(TRUE))
    return Chart(kind.capitalize(), tuple(Series(name, x, numbers(known[kind][:, i])) for i, name in enumerate(names)))


def _stopping(known: Known) -> Curves:
    losses, (stop, best) = known["validation"], known["stop"]
    series = (
        Series("validation loss", numbers(np.arange(float(len(losses)))), numbers(losses)),
        Series("best", (float(best),), (float(losses[best]),), dots=True),
        Series("stop", (float(stop),), (float(losses[stop]),), dots=True),
    )
    caption = f"After the best epoch it waits for {PATIENCE} more, then gives up and keeps the best."
    return Curves("stopping", "Early stopping", caption, "epoch", "loss", (Chart("Patience 5", series),))
