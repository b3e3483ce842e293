"""Stage 5: the rules walk down one valley from one place, their losses, and the schedules of a learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Known, Reading, Run, Step
from grader.explore.values import Unfit, agree, array, bounded, fall, listing, number, scalar, several, span, told

START = np.array([-4.0, 1.5])
STEEP = 12.0  # times as curved along y as along x
STEPS_TAKEN, SEARCHES = 40, 12
FAR = 1e6  # a rule that gets there does not walk down
RATES = {"sgd": 0.15, "momentum": 0.03, "nesterov": 0.03, "adagrad": 0.8, "rmsprop": 0.15, "adam": 0.4, "adamw": 0.4}
MORE = {"adamw": {"weight_decay": 0.3}}  # enough to be seen
TOTAL, WARMUP = 100, 10


def height(x: Array) -> float:
    """Return f(x, y) = (x² + 12 y²) / 2, a valley along x."""
    return float((x[0] ** 2 + STEEP * x[1] ** 2) / 2)


def slope(x: Array) -> Array:
    """Return the gradient of height."""
    return np.array([x[0], STEEP * x[1]])


GIVEN = "f(x, y) = (x² + 12 y²) / 2 from (-4, 1.5), 40 steps"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with."""
    return {"x0": START}


def _follow(rule: str) -> Run:
    hyper = {"learning_rate": RATES[rule], **MORE.get(rule, {})}

    def run(learner: Any, known: Known) -> Reading:
        step, x = getattr(learner, f"{rule}_step"), known["x0"].copy()
        state: object = {}
        path = [x]
        for _ in range(STEPS_TAKEN):
            moved, state = several(step({"x": x}, {"x": slope(x)}, state, **hyper), ("params", "state"))
            if not isinstance(moved, dict) or "x" not in moved:
                raise Unfit(f"params should be a dict with the name x, as it was given, not {type(moved).__name__}")
            x = bounded(array(moved["x"], (2,), name="params['x']"), "params['x']", FAR)
            path.append(x)
        losses = np.array([height(x) for x in path])
        wrong: tuple[str, ...] = ()
        if losses[-1] >= losses[0]:
            wrong = (f"f should fall: it was {number(losses[0])}, {STEPS_TAKEN} steps later {number(losses[-1])}",)
        elif abs(path[1] - path[0]).max() == 0:
            wrong = ("the first step should move params",)
        facts = (told("ends at", path[-1]), fall("f", losses))
        return Reading({rule: np.array(path)}, facts=facts, wrong=wrong)

    return run


def _asked(wrong: list[str]) -> tuple[Callable[[object], object], Callable[[object], object]]:
    """Return height and slope as a learner's function may call them: what does not fit is kept in wrong."""

    def f(x: object) -> object:
        try:
            return height(bounded(array(x, (2,)), "", FAR))
        except Unfit as error:
            wrong.append(f"f was asked about something else than a place: {error}")
            return float("nan")

    def grad_f(x: object) -> object:
        try:
            return slope(bounded(array(x, (2,)), "", FAR))
        except Unfit as error:
            wrong.append(f"grad_f was asked about something else than a place: {error}")
            return np.full(2, np.nan)

    return f, grad_f


def _search(learner: Any, known: Known) -> Reading:
    wrong: list[str] = []
    f, grad_f = _asked(wrong)
    x, path, sizes = known["x0"], [known["x0"]], []
    for _ in range(SEARCHES):
        direction = -slope(x)
        size = scalar(learner.backtracking_line_search(f, grad_f, x, direction), "step size", most=FAR)
        if wrong:
            raise Unfit(wrong[0])
        after = bounded(x + size * direction, "x", FAR)
        if not height(after) < height(x):
            wrong.append(f"a step of {number(size)} does not go down: f {number(height(x))} → {number(height(after))}")
            break
        x = after
        path.append(x)
        sizes.append(size)
    facts = (told("step sizes", sizes), told("ends at", x))
    return Reading({"search": np.array(path)}, facts=facts, wrong=tuple(wrong))


def _clip(learner: Any, known: Known) -> Reading:
    first, second = several(learner.clip_by_global_norm({"x": slope(known["x0"])}, 1.0), ("grads", "norm"))
    if not isinstance(first, dict) or "x" not in first:
        raise Unfit("grads should be a dict with the names that it was given")
    clipped, norm = array(first["x"], (2,), name="grads['x']"), scalar(second, "norm")
    wrong = []
    if abs(np.linalg.norm(clipped) - 1) > 1e-6:
        wrong.append(
            f"clipped to 1, a long gradient should have length 1, not {number(float(np.linalg.norm(clipped)))}"
        )
    if abs(norm - float(np.linalg.norm(slope(START)))) > 1e-6 * norm:
        wrong.append("norm should be the length before clipping")
    return Reading({}, (2,), (), (told("gradient", slope(START)), told("clipped", clipped)), tuple(wrong))


def _minimize(learner: Any, known: Known) -> Reading:
    wrong: list[str] = []
    f, grad_f = _asked(wrong)
    returned = learner.minimize(f, grad_f, known["x0"], learner.sgd_step, STEPS_TAKEN, learning_rate=RATES["sgd"])
    if wrong:
        raise Unfit(wrong[0])
    first, second = several(returned, ("x", "history"))
    x, history = array(first, (2,), name="x"), listing(second, STEPS_TAKEN + 1, "history")
    if not agree(np.array([height(place) for place in known["sgd"]]), history):
        wrong.append("history should hold f at x0 and after each step, as the steps of step 1 gave them")
    return Reading({}, None, (), (told("x", x), span(history, "history")), tuple(wrong))


SCHEDULES: dict[str, tuple[str, Callable[[Any, int], object]]] = {
    "step_decay": ("step, 1, drop=0.5, period=25", lambda f, step: f(step, 1.0, drop=0.5, period=25)),
    "exponential_decay": ("step, 1, decay_rate=0.03", lambda f, step: f(step, 1.0, 0.03)),
    "cosine_annealing": ("step, 1, total_steps=100", lambda f, step: f(step, 1.0, TOTAL)),
    "warmup_cosine": ("step, 1, warmup_steps=10, total_steps=100", lambda f, step: f(step, 1.0, WARMUP, TOTAL)),
}


def _schedule(name: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        schedule = getattr(learner, name)
        rates = np.array([scalar(SCHEDULES[name][1](schedule, step), f"step {step}") for step in range(TOTAL + 1)])
        top = WARMUP if name == "warmup_cosine" else 0
        wrong = []
        if abs(rates[top] - 1) > 1e-9:
            wrong.append(f"the rate of step {top} should be the base rate 1, not {number(rates[top])}")
        if (np.diff(rates[top:]) > 1e-12).any():
            wrong.append(f"from step {top} on the rate should never rise")
        if top and abs(rates[0]) > 1e-12:
            wrong.append(f"the rate of step 0 should be 0, not {number(rates[0])}")
        return Reading({name: rates}, facts=(span(rates, "rates"),), wrong=tuple(wrong))

    return run


def _rule(rule: str) -> Call:
    name, hyper = f"{rule}_step", {"learning_rate": RATES[rule], **MORE.get(rule, {})}
    given = ", ".join(f"{key}={value:g}" for key, value in hyper.items())
    return Call(rule, f"{name}(params, grads, state, {given}), 40 times", name, (), _follow(rule))


SEARCH, CLIP = "backtracking_line_search", "clip_by_global_norm"
STEPS = (
    Step("sgd", "Plain steps", "Against the gradient, which points across a steep valley, not along it.",
         (_rule("sgd"),)),
    Step("momentum", "Momentum", "In a velocity the zigzag cancels out; it swings past the lowest point.",
         (_rule("momentum"), _rule("nesterov"))),
    Step("adaptive", "A rate for each entry", "Each entry is divided by the size of its own gradients.",
         tuple(map(_rule, ("adagrad", "rmsprop", "adam", "adamw")))),
    Step("search", "Line search and clipping", "The one finds how far to go, the other bounds it.", (
        Call("search", f"{SEARCH}(f, grad_f, x, -grad_f(x)), 12 times", SEARCH, (), _search),
        Call("clip", f"{CLIP}(grads, max_norm=1)", CLIP, (), _clip),
    )),
    Step("schedules", "Schedules", "Large steps first, small ones when the valley floor is near.", tuple(
        Call(name, f"{name}({arguments})", name, (), _schedule(name)) for name, (arguments, _) in SCHEDULES.items()
    )),
    Step("minimize", "The loop", "minimize runs any rule and keeps what f was.", (
        Call("minimize", f"minimize(f, grad_f, x0, sgd_step, 40, learning_rate={RATES['sgd']:g})", "minimize",
             ("sgd",), _minimize),
    )),
)  # fmt: skip
