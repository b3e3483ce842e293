"""Stage 3: errors of difference quotients, derivatives carried along and passed back, and a neuron that learns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawings.rightness import Wrong, differing, power
from grader.explore.model import Array, Call, Fact, Graph, Known, Node, Reading, Run, Step
from grader.explore.values import Unfit, array, bounded, fall, number, scalar, told
from grader.sandbox.proxies import RemoteValue

PLACE, SLOPE = 1.0, float(np.e)  # of eˣ; its second derivative is the same
STEPS_TRIED = 10.0 ** -np.arange(0.0, 12.25, 0.5)  # h
HALVES = STEPS_TRIED[STEPS_TRIED > 0.9e-8]  # of these the second derivative is taken: smaller ones are all rounding
METHODS = ("forward", "central")
CHAIN = 1500  # operations in a row: more than the calls that Python allows inside each other
TRAININGS, RATE = 50, 0.1
EXACT = 1e-12  # an error above this is no rounding of ordinary arithmetic
GIVEN = "eˣ at x = 1, whose slope is e = 2.718…; small expressions with few variables"


def start(example: None, seed: int) -> Known:
    """Return what the steps begin with: nothing, since their functions are always the same."""
    return {}


def _asked(f: Callable[[Array], float], shape: tuple[int, ...], wrong: list[str]) -> Callable[[object], object]:
    """Return f as a learner's function may call it: what it is asked beside a place is kept in wrong."""

    def run(x: object) -> object:
        try:
            place = np.array(scalar(x)) if shape == () else bounded(array(x, shape))
        except Unfit as error:
            wrong.append(f"f was asked about something else than a place: {error}")
            return float("nan")
        with np.errstate(all="ignore"):
            return f(place)

    return run


def _exp(x: Array) -> float:
    return float(np.exp(x).sum())


def quotient(h: float, method: str) -> float:
    """Return the difference quotient of eˣ at 1 as its definition says."""
    if method == "central":
        return (_exp(np.array(PLACE + h)) - _exp(np.array(PLACE - h))) / (2 * h)
    return (_exp(np.array(PLACE + h)) - _exp(np.array(PLACE))) / h


def _quotients(method: str) -> Run:
    def run(learner: Any, known: Known) -> Reading:
        strange: list[str] = []
        f = _asked(_exp, (), strange)
        found = np.array(
            [scalar(learner.finite_difference(f, PLACE, float(h), method), f"h = {power(h)}") for h in STEPS_TRIED]
        )
        if strange:
            raise Unfit(strange[0])
        right = np.array([quotient(float(h), method) for h in STEPS_TRIED])
        off = np.abs(found - right) > 1e-9 + 1e-14 / STEPS_TRIED  # the order of operations may differ
        wrong: Wrong = ()
        if off.any():
            place = int(off.argmax())
            asked = f"the {method} quotient with h = {STEPS_TRIED[place]:.3g}"
            wrong = (f"{asked} should be {right[place]:.6g}, not {found[place]:.6g}",)
        errors = np.abs(found - SLOPE)
        best = int(errors.argmin())
        facts = (told("slope with h = 0.1", found[2:3]), _best(float(STEPS_TRIED[best]), float(errors[best])))
        return Reading({method: errors, f"{method}-wrong": wrong}, None, (), facts, wrong)

    return run


def _best(h: float, error: float) -> Fact:
    return Fact("best h and its error", (h, error), f"best with h = {power(h)}: off by {power(error)}")


def _second(learner: Any, known: Known) -> Reading:
    """Take second derivatives of eˣ as Hessians of a vector of one entry."""
    strange: list[str] = []
    f = _asked(_exp, (1,), strange)
    found = np.empty(len(HALVES))
    for place, h in enumerate(HALVES):
        hessian = learner.hessian_finite_difference(f, np.array([PLACE]), float(h))
        found[place] = bounded(array(hessian, (1, 1), name=f"h = {power(h)}"))[0, 0]
    if strange:
        raise Unfit(strange[0])
    errors = np.abs(found - SLOPE)
    wrong: Wrong = ()
    most = 2.0 * HALVES**2 + 1e-14 / HALVES**2  # both formulas of the contract stay below it
    if (off := errors > most).any():
        place = int(off.argmax())
        wrong = (
            f"the second derivative with h = {HALVES[place]:.3g} should be near {SLOPE:.6g}, not {found[place]:.6g}",
        )
    best = int(errors.argmin())
    values = {"second derivative": errors, "second derivative-wrong": wrong}
    return Reading(values, (1, 1), (), (_best(float(HALVES[best]), float(errors[best])),), wrong)


def _of_vector(name: str, f: Callable[[Array], Any], x: tuple[float, ...], right: tuple[Any, ...]) -> Run:
    """Return a run of a function that takes derivatives of f, a function of a vector, at x."""

    def run(learner: Any, known: Known) -> Reading:
        strange: list[str] = []
        asked = _asked(f, (len(x),), strange)
        shape = np.shape(right)
        found = bounded(array(getattr(learner, name)(asked, np.array(x)), shape))
        if strange:
            raise Unfit(strange[0])
        rounded = np.where(np.abs(found - np.array(right)) < 1e-5, np.array(right), found)
        return Reading(
            {}, shape, (), (told("values", rounded.ravel()),), differing(rounded, np.array(right), "derivatives")
        )

    return run


def _check(learner: Any, known: Known) -> Reading:
    found = []
    for off in (0.0, 0.001):
        strange: list[str] = []
        f = _asked(lambda x: float((x**3).sum()), (3,), strange)
        claimed = _asked(lambda x, off=off: 3 * x**2 + np.array([0.0, 0.0, off]), (3,), strange)  # type: ignore[misc]
        said = learner.gradient_check(f, claimed, np.array([1.0, -2.0, 3.0]))
        if strange:
            raise Unfit(strange[0])
        if not isinstance(said, (bool, np.bool_)):
            raise Unfit(f"returned {type(said).__name__} where True or False was expected")
        found.append(bool(said))
    wrong = (
        ()
        if found == [True, False]
        else (f"it should be True for the right one and False for the wrong one, not {found}",)
    )
    facts = (Fact("answers", tuple(map(float, found)), f"{found[0]} for 3 x², {found[1]} for one that is 0.001 off"),)
    return Reading({}, None, (), facts, tuple(wrong))


def _made(value: object, kind: str, name: str) -> Any:
    """Return an object of the learner's class; Unfit where an expression gives something else."""
    if not isinstance(value, RemoteValue):
        raise Unfit(f"{name} is {'None' if value is None else type(value).__name__}, where a {kind} was expected")
    return value


def _pair(dual: Any) -> Array:
    return np.array([scalar(dual.value, "value"), scalar(dual.derivative, "derivative")])


def _dual(learner: Any, known: Known) -> Reading:
    x = _made(learner.Dual(3.0, 1.0), "Dual", "Dual(3, 1)")
    square, share = _made(x * x, "Dual", "x * x"), _made(2 / x, "Dual", "2 / x")
    found = np.array([_pair(each) for each in (square, share, _made(square + share, "Dual", "x * x + 2 / x"))])
    right = np.array([[9.0, 6.0], [2 / 3, -2 / 9], [9 + 2 / 3, 6 - 2 / 9]])
    names = ("x * x", "2 / x", "their sum")
    wrong = tuple(
        text
        for name, a, b in zip(names, found, right, strict=True)
        for text in differing(a, b, f"{name}, value and derivative")
    )
    return Reading({}, None, (), tuple(told(name, each) for name, each in zip(names, found, strict=True)), wrong)


def _dual_exp(learner: Any, known: Known) -> Reading:
    y = _made(learner.exp(_made(learner.Dual(PLACE, 1.0), "Dual", "Dual(1, 1)")), "Dual", "exp(Dual(1, 1))")
    return _exact("Dual", scalar(y.derivative, "derivative"))


def _exact(kind: str, slope: float) -> Reading:
    """Return the error of a slope that is found without any h."""
    error = abs(slope - SLOPE)
    wrong: Wrong = (f"the slope of eˣ at 1 by {kind} should be {SLOPE:.6g}, not {slope:.6g}",) if error > EXACT else ()
    facts = (told("slope", [slope]), Fact("error", (error,), f"off by {power(error)}"))
    return Reading({kind: error, f"{kind}-wrong": wrong}, None, (), facts, wrong)


def _powers(learner: Any, known: Known) -> Reading:
    x = _made(learner.Dual(3.0, 1.0), "Dual", "Dual(3, 1)")
    powers = {"x ** 4": x**4, "2 ** x": 2**x, "x ** x": x**x}
    found = np.array([scalar(_made(power, "Dual", name).derivative, name) for name, power in powers.items()])
    right = np.array([108.0, 8 * np.log(2), 27 * (np.log(3) + 1)])
    wrong = tuple(
        text
        for name, a, b in zip(powers, found, right, strict=True)
        for text in differing(a, b, f"the slope of {name}")
    )
    return Reading({}, None, (), tuple(told(name, [each]) for name, each in zip(powers, found, strict=True)), wrong)


def _variable(learner: Any, value: float) -> Any:
    return _made(learner.Variable(value), "Variable", f"Variable({value:g})")


def _sum_nodes(learner: Any) -> list[Any]:
    """Compute y = (a + b) * c."""
    a, b, c = (_variable(learner, value) for value in (2.0, 3.0, 4.0))
    s = _made(a + b, "Variable", "a + b")
    return [a, b, c, s, _made(s * c, "Variable", "s * c")]


def _shared_nodes(learner: Any) -> list[Any]:
    """Compute y = a + a * a with a = 3 x."""
    x = _variable(learner, 2.0)
    a = _made(3 * x, "Variable", "3 * x")
    b = _made(a * a, "Variable", "a * a")
    return [x, a, b, _made(a + b, "Variable", "a + b")]


SUM = Graph("y = (a + b)·c", (
    Node("a", 0, 0, 2, 4), Node("b", 0, 1, 3, 4), Node("c", 0, 2, 4, 5), Node("s = a + b", 1, 0, 5, 4),
    Node("y = s·c", 2, 0, 20, 1),
), ((0, 3), (1, 3), (2, 4), (3, 4)))  # fmt: skip
SHARED = Graph("y = a + a·a, with a = 3·x", (
    Node("x", 0, 1, 2, 39), Node("a = 3·x", 1, 1, 6, 13), Node("b = a·a", 2, 0, 36, 1), Node("y = a + b", 3, 1, 42, 1),
), ((0, 1), (1, 2), (1, 2), (1, 3), (2, 3)))  # fmt: skip


def _graph(key: str, right: Graph, compute: Callable[[Any], list[Any]]) -> Run:
    """Return a run that computes an expression, goes back, and reads value and grad of every Variable in it."""

    def run(learner: Any, known: Known) -> Reading:
        nodes = compute(learner)
        nodes[-1].backward()
        names = [node.name.partition(" = ")[0] for node in right.nodes]
        values = np.array([scalar(each.value, f"{name}.value") for name, each in zip(names, nodes, strict=True)])
        grads = np.array([scalar(each.grad, f"{name}.grad") for name, each in zip(names, nodes, strict=True)])
        wrong = tuple(
            text
            for name, node, value, grad in zip(names, right.nodes, values, grads, strict=True)
            for text in (
                *differing(value, np.array(node.value), f"{name}.value"),
                *differing(grad, np.array(node.gradient), f"{name}.grad"),
            )
        )
        facts = (told(f"values of {' '.join(names)}:", values), told("grads", grads))
        return Reading({key: np.stack([values, grads]), f"{key}-wrong": wrong}, None, (), facts, wrong)

    return run


def _variable_exp(learner: Any, known: Known) -> Reading:
    x = _variable(learner, PLACE)
    _made(learner.exp(x), "Variable", "exp(Variable(1))").backward()
    return _exact("Variable", scalar(x.grad, "x.grad"))


def _chain(learner: Any, known: Known) -> Reading:
    x = _variable(learner, 2.0)
    y = x
    for _ in range(CHAIN):
        y = _made(y * 1.0001, "Variable", "y * 1.0001")
    y.backward()
    found = scalar(x.grad, "x.grad")
    return Reading(
        {}, None, (), (told("x.grad", [found]),), differing(np.array(found), np.array(1.0001**CHAIN), "x.grad")
    )


def _neuron(learner: Any, known: Known) -> Reading:
    w, b = _variable(learner, 1.0), _variable(learner, 0.0)
    losses, answer = [], 0.0
    for _ in range(TRAININGS + 1):
        z = _made(_made(w * 2, "Variable", "w * 2") + b, "Variable", "w * 2 + b")
        y = _made(learner.tanh(z), "Variable", "tanh(w * 2 + b)")
        loss = _made(_made(y - 0.5, "Variable", "tanh(w * 2 + b) - 0.5") ** 2, "Variable", "the loss")
        loss.backward()
        losses.append(scalar(loss.value, "loss"))
        for each in (w, b):
            each.value = scalar(each.value, "value") - RATE * scalar(each.grad, "grad")
        answer = scalar(y.value, "tanh(w * 2 + b)")
    found = np.array(losses)
    wrong: Wrong = ()
    if abs(answer - 0.5) > 0.01:
        wrong = (f"after {TRAININGS} steps tanh(w * 2 + b) should be near 0.5, it is {number(answer)}",)
    facts = (fall("loss", found), told("tanh(w * 2 + b)", [answer]))
    return Reading({"losses": found, "losses-wrong": wrong}, None, (), facts, wrong)


QUOTIENTS, GRADIENT, JACOBIAN = "finite_difference", "gradient_finite_difference", "jacobian_finite_difference"
HESSIAN = "hessian_finite_difference"
STEPS = (
    Step("quotients", "Measuring", "A slope is a rise over a distance; too small a distance measures rounding.", tuple(
        Call(method, f'{QUOTIENTS}(exp, 1, h, "{method}") for h from 1 to 1e-12', QUOTIENTS, (), _quotients(method))
        for method in METHODS
    )),
    Step("many", "Many inputs, many outputs", "One input is moved at a time, all others rest.", (
        Call("gradient", f"{GRADIENT}(x₀ x₁ + x₂², [1, 2, 3])", GRADIENT, (),
             _of_vector(GRADIENT, lambda x: float(x[0] * x[1] + x[2] ** 2), (1.0, 2.0, 3.0), (2.0, 1.0, 6.0))),
        Call("jacobian", f"{JACOBIAN}([x₀ x₁, x₀, 5 x₁], [2, 3])", JACOBIAN, (),
             _of_vector(JACOBIAN, lambda x: np.array([x[0] * x[1], x[0], 5 * x[1]]), (2.0, 3.0),
                        ((3.0, 2.0), (1.0, 0.0), (0.0, 5.0)))),
        Call("hessian", f"{HESSIAN}(exp, [1], h) for h from 1 to 1e-8", HESSIAN, (), _second),
    )),
    Step("check", "Right or wrong?", "A claimed gradient is held against a measured one.", (
        Call("check", "gradient_check(sum of x³, …, [1, -2, 3])", "gradient_check", (), _check),
    )),
    Step("dual", "Carrying derivatives along", "A number and how fast it changes, through every operation.", (
        Call("dual", "Dual(3, 1): x * x + 2 / x", "Dual", (), _dual),
        Call("Dual", "exp(Dual(1, 1))", "exp", (), _dual_exp, criterion="dual-functions"),
        Call("powers", "Dual(3, 1): x ** 4, 2 ** x, x ** x", "Dual.__pow__", (), _powers, criterion="dual-powers"),
    )),
    Step("back", "Passing derivatives back", "From the output back to all inputs, in one walk.", (
        Call("sum", "Variable: y = (a + b) * c; y.backward()", "Variable", (), _graph("sum", SUM, _sum_nodes)),
        Call("Variable", "exp(Variable(1)).backward()", "exp", (), _variable_exp, criterion="variable-functions"),
    )),
    Step("shared", "Used twice, added up", "A number that is used on several ways collects from all of them.", (
        Call("shared", "a = 3 * x; b = a * a; y = a + b; y.backward()", "Variable.backward", (),
             _graph("shared", SHARED, _shared_nodes), criterion="accumulation"),
        Call("chain", f"y = y * 1.0001, {CHAIN} times; y.backward()", "Variable.backward", (), _chain,
             criterion="deep-graphs"),
    )),
    Step("neuron", "Learning something", "Each step moves w and b a little against their grads.", (
        Call("losses", f"(tanh(w * 2 + b) - 0.5) ** 2, {TRAININGS} steps", "Variable.backward", (), _neuron,
             criterion="variable-functions"),
    )),
)  # fmt: skip
