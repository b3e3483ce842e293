"""What is said where an operator of a learner's own class is missing: the method, and nothing that is not known."""

from __future__ import annotations

import textwrap

import pytest

from grader.diagnosis.exceptions.help import helped
from grader.diagnosis.exceptions.place import Place

DUAL = """
class Dual:
    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        return NotImplemented

    __rmul__ = __mul__


class Half(Dual):
    pass
"""
CASES = [
    ("Dual(1) - Dual(2)", "Dual has no method __sub__, which `a - b` calls where a is a Dual. Write it in the class."),
    ("Dual(1) ** 2", "Dual has no method __pow__, which `a ** b` calls where a is a Dual. Write it in the class."),
    ("2 / Dual(1)", "Dual has no method __rtruediv__, which `a / b` calls where only b is a Dual."),
    ("Half(1) + 1", "Half has no method __add__, which `a + b` calls where a is a Half."),
    ("-Dual(1)", "Dual has no method __neg__, which `-a` calls. Write it in the class."),
    ("Dual(1) * 2", "Dual.__mul__ gave NotImplemented for an int: it has to compute with an int, too."),
    ("2 * Dual(1)", ""),  # which of its methods gave up is not known
    ("1 + 'a'", ""),
    ("Dual(1) | 2", ""),
]


def said_of(expression: str, source: str = DUAL) -> str:
    names: dict[str, object] = {}
    exec(source, names)  # the text above
    with pytest.raises(TypeError) as caught:
        eval(expression, names)  # one of the cases above
    return helped(str(caught.value), Place(source, 0))


@pytest.mark.parametrize(("expression", "said"), CASES)
def test_a_missing_method_is_named(expression: str, said: str) -> None:
    assert said_of(expression).startswith(said) and bool(said_of(expression)) == bool(said)


@pytest.mark.parametrize(
    "more",
    [
        "Dual.__radd__ = lambda self, other: NotImplemented",
        "setattr(Dual, '__add__', lambda self, other: NotImplemented)",
        "Dual = type('Dual', (), {})",
    ],
)
def test_of_a_class_that_is_changed_elsewhere_nothing_is_said(more: str) -> None:
    source = DUAL.replace("class Dual:", "class Dual(Exception):") if more.startswith("Dual = ") else DUAL
    assert (
        said_of("Dual() + 1" if more.startswith("Dual = ") else "Dual(1) + 1", f"{source}\n{textwrap.dedent(more)}")
        == ""
    )


def test_a_class_that_is_defined_again_from_its_own_kind_is_looked_at_once() -> None:
    source = f"{DUAL}\n\nclass Dual(Half):\n    pass\n"
    assert said_of("Dual(1) - 2", source).startswith("Dual has no method __sub__")
