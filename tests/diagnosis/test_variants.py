"""Changed forms behind switches: each number chooses its change alone, and the rest is as it was written."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from grader.course.mutants import replaced
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.runner import LocalRunner, prelude
from grader.diagnosis.search import Forms
from grader.diagnosis.trees import walk
from grader.diagnosis.variants import Switched, compiled

TEXT = """
def f(x, y=1):
    total = 0
    for place in range(len(x)):
        if x[place] > y:
            total += x[place]
    return [total, x[1:]]
"""


def answers(old: Any, new: Any, *args: Any) -> tuple[Any, Any]:
    """Return what the function gives without and with one change."""
    module = ModuleText(TEXT)
    node = next(
        each for each in walk(module.functions["f"]) if isinstance(each, (ast.expr, ast.stmt, ast.slice)) and old(each)
    )
    definition = Switched(module.functions["f"], [(7, (node, new))]).definition()
    runner = LocalRunner()
    runner.load([compiled(module.whole({"f": definition}))])
    told = runner.attempt([[], [7]], [["call", "f", "", list(args), {}, True]])
    assert told is not None
    return told[0][0][0][0], told[1][0][0][0]


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        (lambda n: isinstance(n, ast.Compare), ast.Constant(True), [6, [2, 3]]),
        (lambda n: isinstance(n, ast.Slice), ast.Slice(None, ast.Constant(1)), [5, [1]]),
        (lambda n: isinstance(n, ast.AugAssign), [ast.Pass()], [0, [2, 3]]),
        (lambda n: isinstance(n, ast.Return), [ast.Return(ast.Name("total", ast.Load()))], 5),
    ],
    ids=["expression", "bounds", "line", "return"],
)
def test_a_change_is_made_where_its_number_is_chosen(old: Any, new: Any, wrong: Any) -> None:
    assert answers(old, new, [1, 2, 3]) == ([5, [2, 3]], wrong)


def test_a_loop_is_ended_by_its_steps_and_the_process_goes_on() -> None:
    text = ModuleText("def f(x):\n    while True:\n        x += 1\n    return x\n")
    runner = LocalRunner()
    runner.load([compiled(text.whole({"f": Switched(text.functions["f"], []).definition()}))])
    told = runner.attempt([[], []], [["call", "f", "", [1], {}, True]], steps=500)
    assert told is not None and [each[0][0][1] for each in told] == [["TimeoutError"]] * 2
    assert prelude() is prelude()


@pytest.mark.parametrize("numbers", [(), (1,)])
def test_a_loop_that_a_test_enters_is_ended_by_its_steps_too(numbers: tuple[int, ...]) -> None:
    text = ModuleText("def f(x):\n    while True:\n        x += 1\n    return x\n")
    runner = LocalRunner("endless")
    runner.load([compiled(text.whole({"f": Switched(text.functions["f"], []).definition()}))])
    runner.choose(numbers)
    with pytest.raises(TimeoutError):
        runner.named("f")(1)


def test_a_form_that_does_not_compile_leaves_no_other_form_behind() -> None:
    module, runner = ModuleText("def f():\n    return 1\n\n\ndef g():\n    return 2\n"), LocalRunner("forms")
    forms = Forms(module, runner)
    other = ModuleText("def f():\n    return 7\n").functions["f"]
    broken = replaced(module.functions["g"], body=[ast.Break()])
    forms.put({"f": other})
    assert runner.named("f")() == 7
    with pytest.raises(SyntaxError):
        forms.put({"g": broken})
    forms.put({})
    assert runner.named("f")() == 1
