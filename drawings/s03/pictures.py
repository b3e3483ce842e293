"""What the exploration of stage 3 draws of what its steps found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drawings.rightness import LEAST, Wrong, caption, floor_told, floored, power, titled
from drawings.s03.steps import HALVES, METHODS, SHARED, STEPS_TRIED, SUM
from grader.explore.model import Array, Chart, Curves, Drawing, Graph, Graphs, Known, Series, numbers

UP = (-18.0, 2.0)  # powers of ten
SECOND = "second derivative"
NO_LOSS = 1e-30  # nothing has no logarithm
DRAWN = ("central", "forward", SECOND)  # in this order they have the colours of the lesson's pictures
WAYS = ("Dual", "Variable")  # without any h
NOTICES = {
    "sum": "In (a + b)·c the walk back hands c = 4 to s, which hands it on to a and b, and s = 5 to c.",
    "shared": "In a + a·a the number a hears twice: 1 from y and 2·6 from b make 13; x gets three times that.",
}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return errors against the step, the loss of a neuron, and graphs with values and gradients."""
    return (*_errors(known), *_neuron(known), *_graphs(known))


def _errors(known: Known) -> tuple[Drawing, ...]:
    measured = [name for name in DRAWN if name in known]
    exact = [name for name in WAYS if name in known]
    if not measured and not exact:
        return ()
    series = [_falling(name, known) for name in measured]
    ends = numbers(STEPS_TRIED[[-1, 0]])
    if len(exact) == 2 and known["Dual"] == known["Variable"] and not known["Dual-wrong"]:
        series.append(Series("Dual and Variable", ends, (max(known["Dual"], LEAST),) * 2))
    else:
        series += [Series(titled(name, known[f"{name}-wrong"]), ends, (max(known[name], LEAST),) * 2) for name in exact]
    notices = []
    for name in measured:
        steps = STEPS_TRIED if name in METHODS else HALVES
        best = int(known[name].argmin())
        notices.append(f"{name} with h = {power(steps[best])}")
    told = []
    if notices:
        squared = " (for second derivatives, by h²)" if SECOND in measured else ""
        told.append(f"The error falls with h until rounding, divided by h{squared}, takes over. ")
        told.append(f"Best are {', '.join(notices)}. " if len(notices) > 1 else f"Best is {notices[0]}. ")
    if exact:
        told.append(f"{' and '.join(exact)} {'need' if len(exact) > 1 else 'needs'} no h. ")
    told.append(floor_told(*(known[name] for name in (*measured, *exact))).strip())
    said = caption("".join(told).strip(), *(known[f"{name}-wrong"] for name in (*measured, *exact)))
    chart = (Chart("error of a derivative of eˣ at 1", tuple(series), UP),)
    return (Curves("errors", "Errors against the step", said, "h", "error", chart, log_x=True, log_y=True),)


def _falling(name: str, known: Known) -> Series:
    steps = STEPS_TRIED if name in METHODS else HALVES
    errors = floored(known[name])
    return Series(titled(name, known[f"{name}-wrong"]), numbers(steps[::-1]), numbers(errors[::-1]))


def _graphs(known: Known) -> tuple[Drawing, ...]:
    there = {key: graph for key, graph in (("sum", SUM), ("shared", SHARED)) if key in known}
    if not there:
        return ()
    panels = tuple(_filled(graph, known[key], known[f"{key}-wrong"]) for key, graph in there.items())
    said = caption(" ".join(NOTICES[key] for key in there), *(known[f"{key}-wrong"] for key in there))
    return (Graphs("graphs", "Values forward, gradients back", said, panels),)


def _filled(graph: Graph, found: Array, wrong: Wrong) -> Graph:
    """Return a graph with the values and gradients that were found in place of the right ones."""
    nodes = tuple(
        replace(node, value=float(value), gradient=float(gradient))
        for node, value, gradient in zip(graph.nodes, *found, strict=True)
    )
    return replace(graph, title=titled(graph.title, wrong), nodes=nodes)


def _neuron(known: Known) -> tuple[Drawing, ...]:
    if "losses" not in known:
        return ()
    losses, wrong = known["losses"], known["losses-wrong"]
    x = numbers(np.arange(float(len(losses))))
    said = "Slow at first, where tanh is flat; then a straight line: each step takes the same share off the loss."
    shown = np.maximum(losses, NO_LOSS)
    series = (Series(titled("loss", wrong), x, numbers(shown)),)
    up = 6 * float(np.floor(np.log10(shown.min()) / 6)), float(np.ceil(np.log10(shown.max())))
    chart = (Chart(titled("(tanh(2·w + b) − 0.5)²", wrong), series, up),)
    return (Curves("neuron", "A neuron that learns", caption(said, wrong), "step", "loss", chart, log_y=True),)
