"""What a stage forbids under other names, and which dotted names are ways around names."""

from __future__ import annotations

import pytest

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.source.forbidden.roundabout import PATHS, Names, way_of


@pytest.mark.parametrize(
    ("path", "forbidden"),
    [
        ("numpy.dot", True),
        ("numpy.ma.dot", True),
        ("numpy._core.multiarray.dot", True),
        ("numpy.linalg.norm", True),
        ("operator.matmul", True),
        ("_operator.imatmul", True),
        ("numpy.dottie", False),
        ("numpy.multiply.dot", False),
        ("math.dot", False),
        ("operator.mul", False),
    ],
)
def test_a_name_is_forbidden_wherever_numpy_and_python_have_it_again(path: str, forbidden: bool) -> None:
    assert Names(Forbidden(("@",), ("numpy.dot", "numpy.linalg"), "")).forbids(path) is forbidden


def test_every_operator_has_its_methods() -> None:
    for symbol, kind in OPERATORS.items():
        methods = Names(Forbidden((symbol,), (), "")).methods
        assert len(methods) == 3 and all(hasattr(int, name) or "matmul" in name or "__i" in name for name in methods), (
            kind
        )


def test_what_lies_in_a_way_around_is_one() -> None:
    assert way_of("importlib.util.find_spec") is PATHS["importlib"]
    assert way_of("sys.modules.get") is PATHS["sys.modules"]
    assert way_of("sys.maxsize") is None
