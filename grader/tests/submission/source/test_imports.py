"""What a module imports and names, read without importing it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.stage import Forbidden, Stage
from grader.submission.source import (
    check_loading,
    check_source,
    defined_names,
    missing_names,
    told_of,
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

    @pytest.mark.parametrize(
        ("source", "names"),
        [
            ("import math\nimport torch.nn as nn\n", ("torch",)),
            ("def f():\n    from scipy.special import softmax\n", ("scipy",)),
            ("import torch\nfrom torch import nn\nimport scipy\nimport pandas as pd\n", ("torch", "scipy", "pandas")),
            ("try:\n    import torch\nexcept ImportError:\n    torch = None\n", ("torch",)),
            ("if 1:\n    import torch\n", ("torch",)),
            ("import numpy\n", ()),
            ("import sys\nsys.path.append('..')\nimport helpers\n", ("helpers",)),
        ],
    )
    def test_another_package_is_stood_in_for(self, source: str, names: tuple[str, ...]) -> None:
        found = check_source(STAGE, snapshot(source))
        assert (found.first, found.stood_in) == (None, names)

    @pytest.mark.parametrize("name", ["msgpack", "_pytest", "learner_module", "__main__", "grader.worker"])
    def test_what_runs_beside_a_module_is_refused(self, name: str) -> None:
        assert problem(f"import math\nimport {name}\n", "import").line == 2

    def test_numpy_is_refused_where_the_course_does_not_name_it(self) -> None:
        found = check_source(replace(STAGE, packages=()), snapshot("import numpy as np\n")).problem
        assert found is not None and found.message.startswith("line 1: numpy is imported, but is unavailable")

    @pytest.mark.parametrize(
        "change",
        [
            "import sys\nsys.meta_path.clear()",
            "from sys import meta_path as m",
            "import sys as s\nhooks = s.path_hooks",
            "import sys\nsys.path_hooks[:] = []",
            "import sys\ndef f():\n    sys.path_importer_cache.clear()",
        ],
    )
    def test_who_changes_how_modules_are_found_imports_nothing_else(self, change: str) -> None:
        plain = replace(STAGE, forbidden=Forbidden((), (), ""))
        assert check_source(plain, snapshot(f"{change}\n")).problem is None
        found = check_source(plain, snapshot(f"{change}\nimport torch\n")).problem
        assert found is not None and "torch is imported, but is unavailable" in found.message

    @pytest.mark.parametrize(
        "source",
        [
            "import math", "import torch", "import math, torch", "import math; import torch", "x = 1; import torch",
            "from torch.nn import relu", "from . import a", "import torch as math", "from math import (\n  sqrt)",
            "import numpy.fft as f",
            "if 1: import torch", "import math # torch", "def f():\n\timport torch", "import \\\n  torch",
            "from\\\n torch import a",
            "import msgpack", "import math\nx = (", "s = 'import torch'", "import math,", "from numpy import *",
            "import math\r\nimport torch",
            "import\ttorch", "import math\x0cimport torch",
        ],
    )  # fmt: skip
    def test_a_first_look_finds_what_the_whole_look_finds(self, source: str) -> None:
        whole, first = (look(STAGE, snapshot(f"{source}\n")) for look in (check_source, check_loading))
        assert (first.problem, first.stood_in) == (whole.problem, whole.stood_in)

    def test_how_modules_are_found_is_a_way_around_what_is_forbidden(self) -> None:
        assert problem("import sys\nsys.meta_path.clear()\n", "forbidden").line == 2

    def test_the_packages_of_many_are_told_in_one_sentence(self) -> None:
        (told,) = told_of(["torch", "scipy"])
        assert told.startswith("torch and scipy are not available when a stage is checked: the import does nothing")
        assert "(and 2 more)" in told_of(["a", "b", "c", "d", "e", "f", "g"])[0]
        assert told_of([]) == ()

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

    @pytest.mark.parametrize("test", ['__name__ == "__main__"', '"__main__" == __name__'])
    def test_what_never_runs_in_a_check_may_import_anything(self, test: str) -> None:
        assert check(f"import numpy as np\nif {test}:\n    import matplotlib\n    np.dot(1, 2)\n") is None

    def test_the_else_of_the_main_block_does_run(self) -> None:
        source = 'if __name__ == "__main__":\n    import torch\nelse:\n    import scipy\n'
        assert check_source(STAGE, snapshot(source)).stood_in == ("scipy",)

    @pytest.mark.parametrize("test", ['__name__ != "__main__"', '__file__ == "__main__"', "1"])
    def test_another_condition_is_not_the_main_block(self, test: str) -> None:
        assert problem(f"if {test}:\n    import grader\n", "import").line == 2

    def test_an_import_comes_before_what_is_forbidden(self) -> None:
        assert problem("x = 1 @ 2\nimport grader\n", "import").line == 2

    def test_what_is_forbidden_stays_so_beside_a_stand_in(self) -> None:
        found = check_source(
            STAGE, snapshot("import torch\nimport numpy as np\ndef trace(A):\n    return np.dot(A, A)\n")
        )
        assert list(found.refused) == ["trace"] and found.stood_in == ("torch",)

    @pytest.mark.parametrize(
        ("call", "is_allowed"),
        [
            ("np.load('w.npy')", True),
            ("np.load('w.npy', allow_pickle=True)", False),
            ("np.load('w', None, True)", False),
            ("np.load(*a)", False),
            ("np.load('w', **a)", False),
            ("map(np.load, a)", False),
            ("np.load.__defaults__", False),
        ],
    )
    def test_arrays_may_be_loaded_and_nothing_that_is_pickled(self, call: str, is_allowed: bool) -> None:
        found = check(f"import numpy as np\ntry:\n    W = {call}\nexcept OSError:\n    W = None\n")
        assert (found is None) == is_allowed


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
