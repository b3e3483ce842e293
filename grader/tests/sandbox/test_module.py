"""The `learner` of a test: functions, classes and values of the module by name, and what is missing named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from grader.sandbox.module import MissingName, RemoteModule
from grader.tests.conftest import Learner, Start
from grader.tests.sandbox.vectors import CONTRACT

MODULE = """
SIZE = [1, 2]

def double(x):
    return 2 * x

class Layer:
    pass

class ShapeError(ValueError):
    pass
"""


@pytest.fixture(scope="module")
def process(start: Start) -> Learner:
    return start(MODULE, "process", contract=CONTRACT)


@pytest.fixture
def learner(process: Learner) -> Iterator[Any]:
    yield process.open()
    process.done()


def test_a_function_is_called(learner: Any) -> None:
    assert learner.double(4) == 8


def test_it_is_shown_by_its_name_alone(learner: Any) -> None:
    assert repr(learner) == "<stages/s90_small/small.py>"


def test_a_value_is_copied(learner: Any) -> None:
    learner.SIZE.append(3)
    assert learner.SIZE == [1, 2]


def test_a_class_knows_its_instances(learner: Any) -> None:
    assert isinstance(learner.Layer(), learner.Layer)


def test_an_exception_class_is_below_the_builtin_that_it_extends(learner: Any) -> None:
    assert issubclass(learner.ShapeError, ValueError)


@pytest.mark.parametrize("name", ["nonsense", "_private"])
def test_a_name_that_is_missing_is_named(learner: Any, name: str) -> None:
    with pytest.raises(MissingName, match=f"small.py does not define {name}: was it renamed or deleted?") as caught:
        getattr(learner, name)
    assert caught.value.missing == name


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "does not define dot_product: it defines dotproduct, which is spelt almost alike"),
        (("dotproduct",), "does not define dot_product: was it renamed or deleted?"),  # which is a function of its own
    ],
)
def test_a_name_that_is_spelt_almost_alike_is_named(start: Start, asked: tuple[str, ...], told: str) -> None:
    learner = start("def dotproduct(x, y):\n    return x * y\n\n\ndef other():\n    return 1\n").open()
    module = RemoteModule(learner._connection, "small.py", asked)
    with pytest.raises(MissingName, match=re.escape(told)):
        module.dot_product  # noqa: B018  # asking is the test


def test_garbage_is_collected_while_a_module_is_loaded_and_called(start: Start) -> None:
    source = "import gc\n\nLOADED = gc.isenabled()\n\n\ndef collected():\n    return [LOADED, gc.isenabled()]\n"
    assert start(source).open().collected() == [True, True]
