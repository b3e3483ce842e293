"""What the exploration of stage 13 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.s13.steps import FILTERS
from grader.explore.model import Array, Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows

LEAST = 1e-9  # a loss of nothing has no logarithm


def _images(known: Known, key: str, titles: list[str]) -> tuple[Image, ...]:
    return tuple(Image(title, rows(values)) for title, values in zip(titles, known[key][0], strict=True))


def _strongest(*arrays: Array) -> float:
    return max(float(np.abs(each).max()) for each in arrays) or 1.0


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return feature maps, pooled ones, the filter that learns, and what a LeNet's first layer answers."""
    found: list[Drawing] = []
    names = list(FILTERS)
    W = tuple(
        Image(name, rows(kernel[0] / np.abs(kernel).max())) for name, kernel in zip(names, known["W"], strict=True)
    )
    caption = "Each answers strongly to what looks like itself; each is shown as a share of its largest weight."
    if "maps" in known:
        found.append(Images("filters", "Filters", caption, "pixels", "pixels", _scaled(W), -1.0, 1.0, signed=True))
        panels = (Image("picture", rows(known["x"][0, 0])), *_scaled(_images(known, "maps", names)))
        caption = "Vertical edges light up where the picture changes from left to right, with a sign for each way."
        found.append(Images("maps", "Feature maps", caption, "pixels", "pixels", panels, -1.0, 1.0, signed=True))
    pooled = [(key, word) for key, word in (("max_pool2d", "largest"), ("avg_pool2d", "mean")) if key in known]
    if pooled:
        panels = tuple(
            image
            for key, word in pooled
            for image in _scaled(_images(known, key, [f"{name}: {word}" for name in names]))[::3]
        )
        caption = "A quarter of the numbers, the same shapes: the largest keeps thin edges, the mean softens them."
        found.append(Images("pooled", "Pooled by 2", caption, "pixels", "pixels", panels, -1.0, 1.0, signed=True))
    if "looks" in known:
        most = _strongest(*known["looks"].values())
        panels = tuple(Image(f"after {step} steps", rows(values)) for step, values in known["looks"].items())
        caption = "Only shown answers, it finds by gradients alone the filter for vertical edges that gave them."
        found.append(
            Images("learning", "A filter that learns", caption, "pixels", "pixels", panels, -most, most, signed=True)
        )
        x = numbers(np.arange(len(known["losses"]), dtype=np.float64))
        chart = (Chart("Mean squared error", (Series("loss", x, numbers(np.maximum(known["losses"], LEAST))),)),)
        caption = "It falls by orders of magnitude, since here one filter is exactly right."
        found.append(Curves("loss", "Its loss", caption, "step", "loss", chart, log_y=True))
    if "lenet" in known:
        panels = _scaled(_images(known, "lenet", [f"filter {number}" for number in range(6)]))
        caption = "Six random filters already see different things; training only has to choose."
        found.append(Images("lenet", "An untrained LeNet's first layer", caption, "pixels", "pixels", panels, 0.0, 1.0))
    return tuple(found)


def _scaled(images: tuple[Image, ...]) -> tuple[Image, ...]:
    """Return images as shares of their own strongest value."""
    return tuple(Image(each.title, rows(np.array(each.values) / _strongest(np.array(each.values)))) for each in images)
