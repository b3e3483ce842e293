"""A learner's text is changed behind switches and for good, and each form does what its text says."""

from __future__ import annotations

import ast
import marshal
import time

import numpy as np
import pytest

from grader.diagnosis.repairs.kinds.missing import QUICK
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.schema import SWITCH
from grader.tests.diagnosis.repairs.made import loaded, written
from grader.tests.diagnosis.slips.made import NO_STAGE

TEXT = """
class Layer:
    def __init__(self, scale):
        self.scale = scale

    def forward(self, x):
        self.x = x
        return x + self.scale


def plain(x):
    return Layer(2.0).forward(x) - x
"""


def test_each_switch_puts_one_change_in_force() -> None:
    source = written(TEXT, "plain(np.ones(2))")
    definition, changes = source.schema("Layer.forward", QUICK, 1, frozenset())
    module = loaded(source.whole())
    exec_in = vars(module)
    exec(marshal.loads(source.code_of("Layer.forward", definition)), exec_in)
    assert module.plain(np.zeros(1)) == 2
    minus = next(each for each in changes if ast.unparse(each.new) == "x - self.scale")  # type: ignore[arg-type]
    setattr(module, SWITCH, [minus.number])
    assert module.plain(np.zeros(1)) == -2


def test_a_change_that_is_made_for_good_stays_in_later_forms() -> None:
    source = written(TEXT, "plain(np.ones(2))")
    changes = source.schema("Layer.forward", QUICK, 1, frozenset())[1]
    minus = next(each for each in changes if ast.unparse(each.new) == "x - self.scale")  # type: ignore[arg-type]
    after = source.applied([minus])
    assert loaded(after.whole()).plain(np.zeros(1)) == -2
    assert loaded(source.whole()).plain(np.zeros(1)) == 2


def test_functions_that_a_request_may_run_are_found_by_name() -> None:
    source = written(TEXT + "\n\ndef other(x):\n    return x\n", "plain(np.ones(2))")
    assert source.reached("plain") == ["plain", "Layer.__init__", "Layer.forward"]


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ("", {"plain", "Layer.__init__", "Layer.forward"}),
        ("plain = max\n", {"Layer.__init__", "Layer.forward"}),
        ("Layer, other = object, 1\n", {"plain"}),
        ("if True:\n    plain = Layer(1).forward\n", {"Layer.__init__", "Layer.forward"}),
        ("plain = max\n\n\ndef plain(x):\n    return x\n", {"plain", "Layer.__init__", "Layer.forward"}),
        ("plain.cache = {}\n", {"plain", "Layer.__init__", "Layer.forward"}),
    ],
)
def test_a_function_whose_name_was_given_away_is_not_changed(more: str, known: set[str]) -> None:
    """Its lines would come into the place of whatever has its name, and put that right whatever was changed in them."""
    assert set(written(f"{TEXT}\n\n{more}", "None").definitions) == known


def test_functions_are_found_in_a_time_that_grows_as_the_module_does() -> None:
    def took(count: int) -> float:
        chain = "\n".join(f"def f{n}(x):\n    return f{n + 1}\n" for n in range(count))
        source = Written(NO_STAGE, f"{chain}\ndef f{count}(x):\n    return x\n")
        assert len(source.definitions) == count + 1
        began = time.process_time()
        assert len(source.reached("f0")) == count + 1
        return time.process_time() - began

    assert took(4000) < 40 * max(took(400), 1e-3)


def test_a_property_with_a_setter_stays_as_it_is() -> None:
    both = """
    @property
    def params(self):
        return self.scale

    @params.setter
    def params(self, given):
        self.scale = given + 1
"""
    source = written(TEXT.replace("\n\n\ndef plain", f"\n{both}\n\ndef plain"), "plain(np.ones(2))")
    assert "Layer.params" not in source.definitions
    module = loaded([source.compiled(source.definitions)])
    layer = module.Layer(2.0)
    layer.params = 5.0
    assert layer.params == 6.0


def test_a_method_that_asks_for_its_class_is_left_alone() -> None:
    first = "class A:\n    def f(self):\n        return 1\n\n"
    text = f"{first}class B(A):\n    def f(self):\n        return super().f() + 1\n"
    source = written(text, "B().f()")
    definition, _ = source.schema("B.f", 0, 1, frozenset())
    with pytest.raises(ValueError, match="asks for its class"):
        source.code_of("B.f", definition)
