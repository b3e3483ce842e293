"""Stage 3 explored: errors against the step, graphs with values and gradients, a neuron that learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.explore.model import Exploration, Graph, Graphs
from tests.explore.exploring import charts, drawing, explored, parts, reference, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")
ALL_SERIES = ["central", "forward", "second derivative", "Dual and Variable"]


def graphs(found: Exploration) -> dict[str, Graph]:
    """Return the graphs by their titles."""
    shown = drawing(found, "graphs")
    assert isinstance(shown, Graphs)
    return {panel.title: panel for panel in shown.panels}


def test_the_reference_shows_errors_graphs_and_a_loss(tmp_path: Path) -> None:
    found = explored(tmp_path, "s03")
    assert found.fine, parts(found)
    assert [each.id for each in found.drawings] == ["errors", "neuron", "graphs"]
    (errors,) = charts(found, "errors").values()
    series = {each.name: each for each in errors.series}
    assert list(series) == ALL_SERIES
    assert (series["central"].x[0], series["central"].x[-1]) == (1e-12, 1.0)
    at = dict(zip(np.round(np.log10(series["central"].x), 1), series["central"].y, strict=True))
    assert at[-1.0] == pytest.approx(4.5e-3, rel=0.02) and at[-3.0] == pytest.approx(
        4.5e-7, rel=0.02
    )  # as in the README
    assert min(series["central"].y) < 1e-9 < series["central"].y[0]
    assert max(series["Dual and Variable"].y) < 1e-12
    (neuron,) = charts(found, "neuron").values()
    assert (len(neuron.series[0].y), neuron.series[0].x[-1]) == (51, 50.0) and neuron.series[0].y[-1] < 1e-6


def test_the_graphs_hold_what_the_learners_variables_say(tmp_path: Path) -> None:
    found = graphs(explored(tmp_path, "s03"))
    first, second = found["y = (a + b)·c"], found["y = a + a·a, with a = 3·x"]
    assert [(node.value, node.gradient) for node in first.nodes] == [(2, 4), (3, 4), (4, 5), (5, 4), (20, 1)]
    assert [(node.value, node.gradient) for node in second.nodes] == [(2, 39), (6, 13), (36, 1), (42, 1)]
    assert second.edges.count((1, 2)) == 2  # a goes into b twice


test_what_is_wrong_is_told = wrong_is_told("s03", [
    (
        "finite_difference",
        "return _right(*args) * 2",
        "forward",
        "warning",
        "forward quotient with h = 1 should be",
    ),
    ("finite_difference", "args[0]('here'); return 1.0", "forward", "failed", "something else than a place"),
    ("finite_difference", "return None", "forward", "failed", "None where a number was expected"),
    ("gradient_finite_difference", "return np.ones(3)", "gradient", "warning", "at [0] 1 where 2 is right"),
    ("jacobian_finite_difference", "return _right(*args).T", "jacobian", "failed", "axes 0 and 1 are swapped"),
    ("hessian_finite_difference", "return _right(*args) / 4", "hessian", "warning", "should be near 2.71828"),
    ("gradient_check", "return True", "check", "warning", "not [True, True]"),
    ("gradient_check", "return 1", "check", "failed", "True or False was expected"),
], looks=True)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "part", "status", "message", "row"),
    [
        ("Dual.__mul__ = lambda x, y: None", "dual", "failed", "x * x is None, where a Dual was expected", ""),
        ("Variable.__add__ = lambda x, y: 1.0", "sum", "failed", "a + b is float, where a Variable was expected", ""),
        ("Dual.__pow__ = lambda x, n: x", "powers", "warning", "the slope of x ** 4 is 1 where 108", "dual-powers"),
        ("Variable.backward = lambda y: None", "sum", "warning", "a.grad is 0 where 4 is right", ""),
        ("Variable.value = property(lambda x: 'two', lambda x, y: None)", "sum", "failed", "could not convert", ""),
    ],
)
def test_what_is_wrong_with_the_classes_is_told(
    tmp_path: Path, change: str, part: str, status: str, message: str, row: str
) -> None:
    found = explored(tmp_path, "s03", f"{reference('s03')}\n\n{change}\n")
    assert (found.fine, parts(found)[part].status, found.look_criterion) == (False, status, row)
    assert message in parts(found)[part].message


def test_a_gradient_that_is_set_where_it_should_be_added_is_shown_and_called_not_right(tmp_path: Path) -> None:
    text = reference("s03").replace("source.grad += ", "source.grad = ")
    found = explored(tmp_path, "s03", text)
    shown = graphs(found)
    assert list(shown) == ["y = (a + b)·c", "y = a + a·a, with a = 3·x: not right"]
    assert drawing(found, "graphs").caption == "Not right yet: x.grad is 18 where 39 is right."
    assert [node.gradient for node in shown["y = a + a·a, with a = 3·x: not right"].nodes] == [18.0, 6.0, 1.0, 1.0]
    assert found.look_criterion == "accumulation"


def test_a_wrong_quotient_is_shown_and_called_not_right(tmp_path: Path) -> None:
    text = reference("s03").replace("(f(x + h) - f(x - h)) / (2 * h)", "(f(x + h) - f(x - h)) / 2 * h")
    found = explored(tmp_path, "s03", text)
    (errors,) = charts(found, "errors").values()
    assert [each.name for each in errors.series][:2] == ["central: not right", "forward"]
    assert drawing(found, "errors").caption.startswith("Not right yet: the central quotient with h = 0.316 should be")


def test_calls_inside_each_other_do_not_get_through_a_long_chain(tmp_path: Path) -> None:
    text = reference("s03") + (
        "\n\ndef _inputs_first(output):\n"
        "    order = [each for source, _ in output._inputs for each in _inputs_first(source)]\n"
        "    return list(dict.fromkeys([*order, output]))\n"
    )
    found = explored(tmp_path, "s03", text)
    assert (parts(found)["shared"].status, parts(found)["chain"].status) == ("passed", "failed")
    assert "RecursionError" in parts(found)["chain"].message and found.look_criterion == "deep-graphs"
