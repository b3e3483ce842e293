"""Stage 13: what filters answer to, how pooling shrinks it, a filter that learns, and the first layer of a LeNet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, counts, fall, number, several, span, told
from grader.sandbox.proxies import RemoteValue

SIDE, LENET_SIDE = 20, 28
FILTERS = {
    "vertical edges": ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)),
    "horizontal edges": ((-1, -2, -1), (0, 0, 0), (1, 2, 1)),
    "blur": ((1 / 9,) * 3,) * 3,
    "all edges": ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1)),
}
STEPS_TAKEN, RATE = 60, 0.1
LOOKS = (0, 5, 15, STEPS_TAKEN)
PLACES = tuple((row, column) for row in range(0, SIDE, 3) for column in range(1, SIDE, 4))  # that are checked
AXES = ("batch", "channels", "height", "width")
LENET = "lenet"
NEAR = 0.15  # how near a learnt weight comes to the one it should become


def picture(side: int) -> Array:
    """Return a picture of a ring, a filled square and a slanted line, (side, side), from 0 to 1."""
    y, x = (np.mgrid[0:side, 0:side] + 0.5) / side
    ring = np.abs(np.hypot(x - 0.34, y - 0.34) - 0.2) < 0.05
    square = (np.abs(x - 0.74) < 0.14) & (np.abs(y - 0.72) < 0.14)
    line = (np.abs(x + y - 1.25) < 0.05) & (x > 0.72) & (y < 0.5)
    stroke = (np.abs(x - y + 0.45) < 0.05) & (y > 0.6) & (x < 0.48)
    return np.asarray(ring | square | line | stroke, dtype=np.float64)


GIVEN = f"a picture of {SIDE} by {SIDE} pixels, of {LENET_SIDE} by {LENET_SIDE} for LeNet"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with."""
    kernels = np.array(list(FILTERS.values()), dtype=np.float64)[:, None]
    return {"x": picture(SIDE)[None, None], "W": kernels, "seed": seed}


def _expected(x: Array, W: Array, turned: bool = False) -> Array:
    """Return what each filter should answer at PLACES of a padded picture, (filters, places)."""
    padded, found = np.pad(x[0, 0], 1), np.zeros((len(W), len(PLACES)))
    for place, (row, column) in enumerate(PLACES):
        window = padded[row : row + 3, column : column + 3]
        found[:, place] = [float((window * (kernel[0, ::-1, ::-1] if turned else kernel[0])).sum()) for kernel in W]
    return found


def _forward(learner: Any, x: Array, W: Array) -> tuple[Array, object]:
    returned = learner.conv2d_forward(x, W, np.zeros(len(W)), stride=1, padding=1)
    out, cache = several(returned, ("out", "cache"))
    return bounded(array(out, (len(x), len(W), *x.shape[2:]), AXES, name="out")), cache


def _maps(learner: Any, known: Known) -> Reading:
    out, _ = _forward(learner, known["x"], known["W"])
    there = out[0][:, [row for row, _ in PLACES], [column for _, column in PLACES]]
    wrong: tuple[str, ...] = ()
    if not agree(_expected(known["x"], known["W"]), there):
        wrong = ("each place should hold the sum of the window times the filter",)
        if agree(_expected(known["x"], known["W"], turned=True), there):
            wrong = ("the filters were turned over: in deep learning they are laid on as they are",)
    return Reading({"maps": out}, out.shape, AXES, (span(out),), wrong)


def _columns(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.im2col(known["x"], 3, 3, 1, 1), (SIDE * SIDE, 9), ("windows", "pixels")))
    padded = np.pad(known["x"][0, 0], 1)
    right = [padded[row : row + 3, column : column + 3].ravel() for row, column in PLACES]
    there = found[[row * SIDE + column for row, column in PLACES]]
    wrong: tuple[str, ...] = ("each row should be one window, line by line, windows in reading order",)
    if agree(np.array(right), there):
        wrong = ()
    return Reading({}, found.shape, ("windows", "pixels"), (), wrong)


def _pooled(name: str, of: Callable[[Array], Array]) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        out, _ = several(getattr(learner, f"{name}_forward")(known["maps"], 2), ("out", "cache"))
        half = SIDE // 2
        found = bounded(array(out, (1, len(FILTERS), half, half), AXES, name="out"))
        right = of(
            known["maps"].reshape(1, -1, half, 2, half, 2).transpose(0, 1, 2, 4, 3, 5).reshape(1, -1, half, half, 4)
        )
        what = "largest" if name.startswith("max") else "mean"
        wrong = () if agree(right, found) else (f"each place should hold the {what} of a window of 2 by 2",)
        return Reading({name: found}, found.shape, AXES, (span(found),), wrong)

    return run


def _learnt(learner: Any, known: Known) -> Reading:
    rng = np.random.default_rng(known["seed"])
    x, goal = rng.standard_normal((4, 1, 12, 12)), known["W"][:1] / 2
    target, _ = _forward(learner, x, goal)
    W, looks = rng.standard_normal((1, 1, 3, 3)) / 2, {}
    losses: list[float] = []
    for step in range(STEPS_TAKEN + 1):
        if step in LOOKS:
            looks[step] = W[0, 0]
        out, cache = _forward(learner, x, W)
        losses.append(float(((out - target) ** 2).mean()))
        grads = several(learner.conv2d_backward(2 * (out - target) / out.size, cache), ("grad_x", "grad_W", "grad_b"))
        W = bounded(W - RATE * array(grads[1], W.shape, name="grad_W"), "the filter", 1e6)
    wrong = []
    if not losses[-1] < losses[0]:
        wrong.append(f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}")
    elif np.abs(W - goal).max() > NEAR:
        wrong.append("the filter should come near the one that made the answers: is grad_W the sum over all places?")
    values = {"looks": looks, "losses": np.array(losses)}
    return Reading(values, W.shape, ("filters", *AXES[1:]), (fall("loss", np.array(losses)),), tuple(wrong))


def _lenet(learner: Any, known: Known) -> Reading:
    made = learner.build_lenet(10, np.random.default_rng(known["seed"]))
    if not isinstance(made, (list, tuple)) or not made or not all(isinstance(each, RemoteValue) for each in made):
        raise Unfit(f"returned {type(made).__name__} where a list of layers was expected")
    x, first, pooled, sizes = picture(LENET_SIDE)[None, None], None, None, []
    for layer in made:
        x = layer.forward(x)
        if not isinstance(x, np.ndarray):
            raise Unfit(f"a layer's forward returned {type(x).__name__} where an array was expected")
        x = bounded(array(x, x.shape))
        sizes.append(int(np.prod(x.shape[1:])))
        first = x if first is None else first
        pooled = x if pooled is None and x.shape[2:] == (14, 14) else pooled
    array(x, (1, 10), ("batch", "classes"), name="scores")
    first = array(first, (1, 6, LENET_SIDE, LENET_SIDE), AXES, name="the first layer's output")
    wrong = () if pooled is not None else ("pooling should bring 28 by 28 to 14 by 14",)
    values = {"lenet": np.maximum(first, 0)}
    return Reading(
        values, (1, 10), ("batch", "classes"), (counts("numbers after each layer", sizes), told("scores", x[0])), wrong
    )


CONV = "conv2d_forward"
STEPS = (
    Step("windows", "Windows", "Every 3 by 3 window becomes a row, so that one matrix product answers all.",
         (Call("columns", "im2col(x, 3, 3, stride=1, padding=1)", "im2col", (), _columns),)),
    Step("maps", "Feature maps", "A filter is laid on at every place; where the picture looks alike, the sum is large.",
         (Call("maps", f"{CONV}(x, W, b, stride=1, padding=1)", CONV, (), _maps),)),
    Step("pooling", "Pooling", "Of each 2 by 2 window one number stays.", (
        Call("max", "max_pool2d_forward(maps, 2)", "max_pool2d_forward", ("maps",),
             _pooled("max_pool2d", lambda windows: np.asarray(windows.max(axis=-1)))),
        Call("avg", "avg_pool2d_forward(maps, 2)", "avg_pool2d_forward", ("maps",),
             _pooled("avg_pool2d", lambda windows: np.asarray(windows.mean(axis=-1)))),
    )),
    Step("learning", "A filter that learns", "The gradient says how each weight should change.",
         (Call("looks", "conv2d_backward(grad_output, cache), 61 times", "conv2d_backward", ("maps",), _learnt),)),
    Step("lenet", "LeNet", "Convolution, ReLU and pooling twice, then three dense layers.",
         (Call("lenet", "build_lenet(10, rng), and forward of each", "build_lenet", (), _lenet),), process=LENET),
)  # fmt: skip
