"""Stubs keep the contract and nothing else."""

from __future__ import annotations

import types

import pytest

from grader.course.stub import stub_of

SOLUTION = '''"""A stage.

Two lines.
"""

import math
import numpy as np

SECRET = 42


def _helper(x):
    return x


def double(x, times=2, *, name="é"):
    """Return x twice.

    >>> double(1)
    2
    """
    # a comment that gives the answer away
    return _helper(x) * times


class Layer:
    """Holds weights."""

    size = 3

    def __init__(self, n):
        """n: how many."""
        self.n = n

    def _private(self):
        return 1

    def forward(
        self,
        x,
    ):
        """Return x."""
        return x


class Special(Layer):
    """Extends it."""

    def forward(self, x):
        return -x
'''


@pytest.fixture
def stub() -> types.SimpleNamespace:
    names: dict[str, object] = {}
    exec(stub_of(SOLUTION), names)
    return types.SimpleNamespace(text=stub_of(SOLUTION), **{k: v for k, v in names.items() if not k.startswith("__")})


def test_functions_raise_and_name_themselves(stub: types.SimpleNamespace) -> None:
    with pytest.raises(NotImplementedError, match=r"^double$"):
        stub.double(1)


def test_methods_raise_and_name_their_class(stub: types.SimpleNamespace) -> None:
    with pytest.raises(NotImplementedError, match=r"^Layer\.__init__$"):
        stub.Layer(3)
    with pytest.raises(NotImplementedError, match=r"^Special\.forward$"):
        stub.Special.forward(None, 1)


def test_docstrings_and_signatures_stay(stub: types.SimpleNamespace) -> None:
    assert stub.double.__doc__.startswith("Return x twice.")
    assert 'def double(x, times=2, *, name="é"):' in stub.text
    assert stub.text.startswith('"""A stage.\n\nTwo lines.\n"""\n\nimport numpy as np\n')
    assert issubclass(stub.Special, stub.Layer)


def test_nothing_of_the_answer_stays(stub: types.SimpleNamespace) -> None:
    for trace in ("_helper", "SECRET", "comment", "_private", "self.n", "import math", "size = 3"):
        assert trace not in stub.text


def test_a_module_without_docstring_works() -> None:
    assert stub_of("def f():\n    return 1\n") == '\ndef f():\n    raise NotImplementedError("f")\n'


def test_imports_of_the_courses_packages_stay_and_others_may_give_an_answer_away() -> None:
    text = "import heapq\nimport math\nimport pandas as pd\nfrom pandas import merge\n\n\ndef f():\n    return merge\n"
    assert stub_of(text, ("pandas",)).startswith("import pandas as pd\n\n\ndef f")
    assert stub_of(text, ()).startswith("\ndef f")


def test_what_signatures_bases_and_decorators_name_is_imported_in_a_stub() -> None:
    text = (
        "from __future__ import annotations\nfrom collections.abc import Iterable, Iterator\n"
        "from dataclasses import dataclass, replace\nimport math\n\n\n@dataclass\nclass A:\n    x: int\n\n"
        "    def f(self, xs: Iterable) -> float:\n        return math.pi\n"
    )
    stub = stub_of(text, ())
    assert stub.startswith(
        "from __future__ import annotations\nfrom collections.abc import Iterable\nfrom dataclasses import dataclass\n"
    )
    assert "replace" not in stub and "math" not in stub
    compile(stub, "stub", "exec")


def test_imports_of_earlier_stages_stay_and_those_of_other_modules_do_not() -> None:
    solution = (
        "import math\n\nimport stages.s01_a.other\nfrom stages.s01_a import other\n"
        "from stages.s01_a.other import Block, LayerNorm as Norm\nfrom json import loads\n\n\n"
        'def f(x):\n    """Return."""\n    return Block(x)\n'
    )
    kept = stub_of(solution, ("numpy", "stages.s01_a.other")).splitlines()
    assert kept[:3] == [
        "import stages.s01_a.other",
        "from stages.s01_a import other",
        "from stages.s01_a.other import Block, LayerNorm as Norm",
    ]
    assert "math" not in "".join(kept) and "json" not in "".join(kept)


def test_imports_from_other_stages_are_a_section_of_their_own() -> None:
    text = "import numpy as np\n\nfrom stages.s01_a.a import f, g\n\n\ndef h():\n    return f(g(np))\n"
    stub = stub_of(text, ("numpy", "stages.s01_a.a"))
    assert stub.startswith("import numpy as np\n\nfrom stages.s01_a.a import f, g\n\n\ndef h")
