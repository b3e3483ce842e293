"""What a stage forbids: names, operators and the roundabout ways to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.course.stage import Criterion, Forbidden, Stage
from grader.submission.source import (
    ARRAY_METHODS,
    Reading,
    check_source,
    refused_rows,
)
from grader.tests.submission.source.made import REASON, ROW, STAGE, check, problem, snapshot, used


class TestForbidden:
    def test_the_message_has_line_name_and_reason(self) -> None:
        found = problem("import numpy as np\n\nx = np.matmul(1, 2)\n", "forbidden")
        assert found.message == f"line 3: numpy.matmul is not allowed in this stage. {REASON}"
        assert (found.line, found.hint) == (3, None)

    def test_of_several_the_first_is_named_and_the_others_counted(self) -> None:
        source = "import numpy as np\ndef f(A, B):\n    A @= B\n    np.dot(A, B)\n    A.dot(B)\n    return A @ B @ A\n"
        found = problem(source, "forbidden")
        assert found.message == f"line 3: @= is not allowed in this stage (and 3 more). {REASON}"
        assert found.hint == "Also numpy.dot in line 4, .dot() in line 5, @ in line 6"

    @pytest.mark.parametrize(
        ("source", "name"),
        [
            ("def f(a, b):\n    return a @ b", "@"),
            ("def f(a, b):\n    a @= b", "@="),
            ("x = 2 ** 3", "**"),
            ("import numpy\nnumpy.dot(1, 2)", "numpy.dot"),
            ("import numpy as np\nnp.linalg.norm(1)", "numpy.linalg.norm"),
            ("import numpy as np\nf = np.dot", "numpy.dot"),
            ("from numpy import dot as d", "numpy.dot"),
            ("from numpy.linalg import norm", "numpy.linalg.norm"),
            ("from numpy.linalg import *", "numpy.linalg.*"),
            ("from numpy import linalg", "numpy.linalg"),
            ("import numpy.linalg", "numpy.linalg"),
            ("import numpy.linalg as la", "numpy.linalg"),
            ("import statistics", "statistics"),
            ("from numpy import *\nx = dot(1, 2)", "numpy.dot"),
            ("def f(x, y):\n    return x.dot(y)", ".dot()"),
            ("def f(x, y):\n    return (x + y).dot(y)", ".dot()"),
            ("def f(self, y):\n    return self.weights.dot(y)", ".dot()"),
            ("import numpy as np\nx = np.ones(3).dot(1)", ".dot()"),
            ("import numpy as np\nx = np.ndarray.dot(1, 2)", ".dot()"),
            ("import numpy as np\nx = getattr(np, 'dot')", "numpy.dot"),
            ("import numpy as np\nx = getattr(np, 'linalg', None)", "numpy.linalg"),
            ("def f(x, y):\n    return getattr(x, 'dot')(y)", ".dot()"),
            ("x = sum([1, 2])", "sum"),
            ("def f():\n    import numpy as n\n    return n.matmul(1, 2)", "numpy.matmul"),
            ("x = [a @ b for a in () for b in ()]", "@"),
        ],
    )
    def test_it_is_found_as(self, source: str, name: str) -> None:
        assert used(source) == name

    def test_a_use_through_an_imported_name_is_found(self) -> None:
        found = problem("from numpy import dot as d\nx = d(1, 2)\n", "forbidden")
        assert found.hint == "Also numpy.dot in line 2"

    def test_a_use_through_an_assigned_module_is_found(self) -> None:
        only_norm = Forbidden((), ("numpy.linalg.norm",), REASON)
        stage = Stage("s01", Path("stages/s01_products"), "Products", "products.py", (), (ROW,), forbidden=only_norm)
        found = check_source(
            stage, snapshot("import numpy as np\nla = np.linalg\nx = la.norm(1)\ny = la.inv(1)\n")
        ).first
        assert found is not None
        assert found.message.startswith("line 3: numpy.linalg.norm is not allowed in this stage. ")

    def test_a_dotted_name_is_counted_once(self) -> None:
        assert "more" not in problem("import numpy as np\nnp.linalg.norm.__doc__\n", "forbidden").message

    def test_what_stands_inside_the_arguments_is_counted_too(self) -> None:
        source = "import numpy as np\nnp.linalg.norm(np.dot(1, 2)).real\n"
        assert "(and 1 more)" in problem(source, "forbidden").message

    @pytest.mark.parametrize(
        "source",
        [
            "import numpy as np\nx = np.dottie + np.multiply(1, 2)",
            "import numpy as np\nnp.lib.linalg_of_mine",
            "def dot(v, w):\n    return v * w\nx = dot(1, 2)",
            "def matmul(A, B):\n    '''Like A @ B, np.dot.'''\n    return A * B  # A @ B",
            "class Layer:\n    def dot(self, x):\n        return x\n    def f(self, x):\n        return self.dot(x)",
            "def f(rng):\n    return rng.random(3)",
            "import math\nx = math.dot(1)",
            "def sum(values):\n    return 0\nx = sum([1])",
            "def f(sum):\n    return sum + 1",
            "x = 3\nx.dot = 4",
            "@staticmethod\ndef f():\n    pass",
            "def f(*a, **b):\n    return f(*a, **b)",
        ],
    )
    def test_it_is_none_of_these(self, source: str) -> None:
        assert check(source) is None

    def test_without_anything_forbidden_all_is_allowed(self) -> None:
        stage = Stage("s01", Path("stages/s01_products"), "Products", "products.py", (), (ROW,))
        assert check_source(stage, snapshot("import numpy as np\nx = np.ones((2, 2)) @ np.ones(2)\n")) == Reading()

    def test_every_function_of_numpy_that_arrays_have_too_is_known(self) -> None:
        both = {name for name in dir(np.ndarray) if callable(getattr(np, name, None)) and not name.startswith("_")}
        methods = {name for name in both if callable(getattr(np.ndarray, name))}
        assert methods <= ARRAY_METHODS


def test_a_row_is_told_the_first_problem_of_its_functions() -> None:
    stage = replace(STAGE, criteria=(ROW, Criterion("other", "other", ("other",), (), ("a", "b", "c"))))
    source = "def other():\n    return 1\ndef trace(A):\n    return 1 @ 2\ndef matmul(A, B):\n    return A @ B\n"
    rows = refused_rows(stage, check_source(stage, snapshot(source)))
    assert {row: found.line for row, found in rows.items()} == {"products": 4}
