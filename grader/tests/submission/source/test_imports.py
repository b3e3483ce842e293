"""What a module imports and names, read without importing it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.submission.source import (
    check_source,
    defined_names,
    missing_names,
)
from grader.tests.submission.source.made import ROW, STAGE, check, problem, snapshot


class TestImports:
    @pytest.mark.parametrize(
        "source",
        [
            "import numpy as np, math\nfrom collections.abc import Iterator",
            "from __future__ import annotations",
            "from numpy.typing import NDArray",
            "import numpy.lib.stride_tricks",
        ],
    )
    def test_numpy_and_the_standard_library_are_there(self, source: str) -> None:
        assert check(source) is None

    def test_another_library_is_named_with_what_to_do(self) -> None:
        found = problem("import math\nimport torch.nn as nn\n", "import")
        assert found.message == "line 2: torch is imported, but is unavailable when a stage is checked"
        assert found.line == 2
        assert found.hint is not None
        assert found.hint.endswith("only: write, or copy into products.py, what you need from torch.")

    def test_an_import_inside_a_function_counts(self) -> None:
        assert problem("def f():\n    from scipy.special import softmax\n", "import").line == 2

    @pytest.mark.parametrize(
        ("source", "name"),
        [
            ("from . import helpers", ".helpers"),
            ("from ..s02 import solve", "..s02.solve"),
            ("from stages.s02_linear_systems.systems import solve", "stages"),
        ],
    )
    def test_another_file_of_the_course_is_to_be_copied(self, source: str, name: str) -> None:
        found = problem(source, "import")
        assert found.message == f"line 1: {name} is imported, but is unavailable when a stage is checked"
        assert found.hint == "A stage is one file: copy what you need into products.py."

    @pytest.mark.parametrize(
        ("source", "refused"),
        [
            ("from stages.s01_a.blocks import Block", ""),
            ("from stages.s01_a.blocks import *", ""),
            ("import stages.s01_a.blocks as blocks", ""),
            ("from stages.s01_a import blocks", ""),
            ("import stages", ""),
            ("from stages.s01_a.blocks2 import Block", "stages.s01_a.blocks2.Block"),
            ("from stages.s01_a import other", "stages.s01_a.other"),
            ("import stages.s02_b.other", "stages.s02_b.other"),
            ("from .blocks import Block", ".blocks.Block"),
        ],
    )
    def test_modules_of_stages_that_are_used_may_be_imported(self, source: str, refused: str) -> None:
        used = Stage("s00", Path("stages/s01_a"), "A", "blocks.py", (), (ROW,))
        found = check_source(replace(STAGE, builds_on=(used,)), snapshot(source)).problem
        assert (found is not None) == bool(refused)
        if found is not None:
            assert found.message.startswith(f"line 1: {refused} is imported")
            assert found.hint is not None and found.hint.endswith("it may import stages.s01_a.blocks.")

    def test_the_grader_is_not_to_be_imported(self) -> None:
        found = problem("from grader.testing import assert_array", "import")
        assert found.hint == "Remove the import: a stage needs nothing from the grader."

    def test_several_are_counted_by_library(self) -> None:
        source = "import torch\nfrom torch import nn\nimport scipy\nimport pandas as pd\n"
        expected = "line 1: torch is imported, but is unavailable when a stage is checked (and 2 more)"
        assert problem(source, "import").message == expected

    @pytest.mark.parametrize("test", ['__name__ == "__main__"', '"__main__" == __name__'])
    def test_what_never_runs_in_a_check_may_import_anything(self, test: str) -> None:
        assert check(f"import numpy as np\nif {test}:\n    import matplotlib\n    np.dot(1, 2)\n") is None

    def test_the_else_of_the_main_block_does_run(self) -> None:
        source = 'if __name__ == "__main__":\n    pass\nelse:\n    import torch\n'
        assert problem(source, "import").line == 4

    @pytest.mark.parametrize("test", ['__name__ != "__main__"', '__file__ == "__main__"', "1"])
    def test_another_condition_is_not_the_main_block(self, test: str) -> None:
        assert problem(f"if {test}:\n    import torch\n", "import").line == 2

    def test_an_import_comes_before_what_is_forbidden(self) -> None:
        assert problem("x = 1 @ 2\nimport torch\n", "import").line == 2


class TestNames:
    @pytest.mark.parametrize(
        ("source", "names"),
        [
            ("def f(x):\n    y = 1\nclass C:\n    z = 2\nasync def g(): pass", {"f", "C", "g"}),
            ("a = b = 1\nc, (d, *e) = 1, (2, 3)\nf: int = 1\ng: int\n", {"a", "b", "c", "d", "e", "f"}),
            ("import numpy as np, os.path\nfrom math import pi, tau as t", {"np", "os", "pi", "t"}),
            ("if 1:\n    a = 1\nelse:\n    def f(): pass", {"a", "f"}),
            ("try:\n    a = 1\nexcept OSError:\n    b = 2\nfinally:\n    c = 3", {"a", "b", "c"}),
            ("for i in ():\n    a = 1\nwith open('') as f:\n    b = 2", {"i", "a", "f", "b"}),
            ("match 1:\n    case 1:\n        a = 1", {"a"}),
            ("x.y = 1\nz[0] = [i for i in ()]", set()),
            ("if __name__ == '__main__':\n    a = 1", set()),
            ("not python", set()),
        ],
    )
    def test_names_at_the_top_level_are_found(self, source: str, names: set[str]) -> None:
        assert defined_names(source.encode()) == names

    def test_a_long_chain_of_conditions_does_not_overflow(self) -> None:
        chain = "if 0:\n    pass\n" + "".join(f"elif {n}:\n    a{n} = 1\n" for n in range(1, 400))
        assert len(defined_names(chain.encode())) == 399

    def test_public_names_that_the_module_lacks_are_given_in_order(self) -> None:
        assert missing_names(STAGE, snapshot("def matmul(A, B): pass")) == ("Layer", "trace")


def test_reading_a_module_imports_nothing_of_it() -> None:
    assert check("import this\nimport antigravity\n") is None
    assert not {"this", "antigravity"} & sys.modules.keys()
