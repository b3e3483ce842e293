"""What the exploration of stage 4 draws of what its steps found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drawings.s04.steps import CHANCES, COUNTS, DRAWS, HEADS, SEEN, TOSSES, TRUE_MEAN, TRUE_STD, P, X
from grader.explore.model import Chart, Curves, Drawing, Known, Map, Path, Plane, Points, Series, numbers, reach


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return densities and what else there is to see."""
    parts: dict[str, Callable[[Known], Drawing]] = {
        "densities": _densities, "fitted": _sample, "covariance": _ellipses, "coin": _coin, "entropy": _entropy,
        "shares": _shares, "belief": _belief, "carlo": _carlo,
    }  # fmt: skip
    return tuple(draw(known) for name, draw in parts.items() if name in known)


def _densities(known: Known) -> Curves:
    series = tuple(Series(name, numbers(X), numbers(values)) for name, values in known["densities"].items())
    caption = "Half as wide means twice as high: under each curve lies the area 1."
    return _one("densities", "Normal densities", caption, ("x", "density"), series)


def _coin(known: Known) -> Curves:
    caption = f"{HEADS} heads of {TOSSES} make 0.7 most likely, and leave much room beside it."
    series = (Series("share", numbers(P[1:-1]), numbers(known["coin"])),)
    return _one("coin", "How fair is a coin?", caption, ("p", "share"), series)


def _entropy(known: Known) -> Curves:
    series = (
        Series("entropy", numbers(P), numbers(known["entropy"])),
        Series("divergence from a fair coin", numbers(P), numbers(known["kl"])),
    )
    caption = "What is certain surprises nobody; a fair coin surprises most."
    return _one("entropy", "Entropy of a coin", caption, ("p", "nats"), series)


def _shares(known: Known) -> Curves:
    places = numbers(np.arange(float(len(CHANCES))))
    series = (
        Series("wanted", places, numbers(CHANCES), dots=True),
        Series("drawn", places, numbers(known["shares"]), dots=True),
    )
    caption = f"Of {DRAWS} draws each outcome gets about its share."
    return _one("shares", "Draws", caption, ("outcome", "share"), series)


def _belief(known: Known) -> Curves:
    count = np.arange(float(SEEN + 1))
    means = np.cumsum(known["sample"][:SEEN]) / np.arange(1.0, SEEN + 1)
    series = (
        Series("belief", numbers(count), numbers(known["belief"])),
        Series("mean of the samples", numbers(count[1:]), numbers(means)),
    )
    caption = "It starts at what was believed before, 0, and follows the samples the more there are."
    return _one("belief", "A belief about a mean", caption, ("samples", "mean"), series)


def _carlo(known: Known) -> Curves:
    x, (mean, error) = numbers(np.array(COUNTS, dtype=np.float64)), known["carlo"].T
    series = (
        Series("estimate", x, numbers(mean)),
        Series("+ 2 errors", x, numbers(mean + 2 * error)),
        Series("- 2 errors", x, numbers(mean - 2 * error)),
    )
    caption = "A hundred times as many samples, a tenth of the error around 1."
    return _one("carlo", "Mean of x², by drawing", caption, ("samples", "estimate"), series, log_x=True)


def _one(
    name: str, title: str, caption: str, axes: tuple[str, str], series: tuple[Series, ...], log_x: bool = False
) -> Curves:
    return Curves(name, title, caption, *axes, (Chart("", series),), log_x=log_x)


def _sample(known: Known) -> Curves:
    mean, std = known["fitted"]
    heights, edges = np.histogram(known["sample"], bins=24, density=True)
    x = np.linspace(edges[0], edges[-1], 121)
    curve = np.exp(-(((x - mean) / std) ** 2) / 2) / (std * np.sqrt(2 * np.pi))
    series = (
        Series("fitted", numbers(x), numbers(curve)),
        Series("sample", numbers((edges[:-1] + edges[1:]) / 2), numbers(heights), dots=True),
    )
    caption = f"The normal of the sample's own mean and spread; it came from {TRUE_MEAN} and {TRUE_STD}."
    return _one("fitted", "A normal for a sample", caption, ("x", "density"), series)


def _ellipses(known: Known) -> Plane:
    values, ways = np.linalg.eigh((known["covariance"] + known["covariance"].T) / 2)
    turn = np.linspace(0, 2 * np.pi, 61)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    middle = known["cloud"].mean(axis=0)[:, None]
    rings = {times: middle + times * ways @ (np.sqrt(np.maximum(values, 0))[:, None] * circle) for times in (1, 2)}
    paths = tuple(
        Path(f"{times} standard deviation{'s' * (times > 1)}", numbers(ring[0]), numbers(ring[1]))
        for times, ring in rings.items()
    )
    points = (Points("samples", numbers(known["cloud"][:, 0]), numbers(known["cloud"][:, 1])),)
    across, up = (
        reach((numbers(known["cloud"][:, axis]), *(numbers(ring[axis]) for ring in rings.values()))) for axis in (0, 1)
    )
    caption = "The covariances know how wide the cloud is, and which way it leans."
    return Plane(
        "cloud", "Two features that belong together", caption, "first", "second", (Map("", across, up, points, paths),)
    )
