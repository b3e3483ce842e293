"""What a module's text alone tells: encoding, syntax, imports, what is forbidden, and which functions lead where."""

from __future__ import annotations

import ast
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.course.stage import Criterion, Forbidden, Stage
from grader.diagnosis.module_text import parsed
from grader.submission import Snapshot
from grader.submission.forbidden import ARRAY_METHODS
from grader.submission.parsing import Problem, SourceFindings, lines_of, shown_text
from grader.submission.reading import told_of
from grader.submission.source import (
    check_loading,
    check_source,
    defined_names,
    helpers,
    missing_names,
    plain_text,
    reaches,
    refused_criteria,
    stubs_that_count,
)

REASON = "This stage is about writing the products yourself."


FORBIDDEN = Forbidden(
    ("@", "**"), ("numpy.matmul", "numpy.dot", "numpy.linalg", "numpy.random", "statistics", "sum"), REASON
)


ROW = Criterion("products", "products", ("matmul", "Layer.forward", "trace"), (), ("a", "b", "c"))


STAGE = Stage("s01", Path("stages/s01_products"), "Products", "products.py", (), (ROW,), forbidden=FORBIDDEN)


def snapshot(source: str | bytes) -> Snapshot:
    data = source.encode() if isinstance(source, str) else source
    return Snapshot("products.py", data, "", Path("products.py"), "products.py")


def check(source: str | bytes) -> Problem | None:
    return check_source(STAGE, snapshot(source)).first


def problem(source: str | bytes, kind: str) -> Problem:
    found = check(source)
    assert found is not None
    assert found.kind == kind
    return found


def used(source: str) -> str:
    """What is said to be forbidden in it."""
    message = problem(source, "forbidden").message
    return message.partition(": ")[2].partition(" is not allowed")[0]


class TestEncoding:
    @pytest.mark.parametrize(
        "source",
        [
            "x = 'é'".encode(),
            b"\xef\xbb\xbfx = '\xc3\xa9'",
            b"# coding: latin-1\nx = '\xe9'",
            b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'",
            b"x = 1\r\ny = 2\r",
            b"",
        ],
        ids=["utf-8", "byte order mark", "latin-1", "second line", "line ends", "empty"],
    )
    def test_what_python_reads_is_fine(self, source: bytes) -> None:
        assert check(source) is None

    def test_a_byte_that_is_not_utf8_is_given_with_its_line(self) -> None:
        found = problem(b"x = 1\r\n# caf\xe9\n", "encoding")
        assert found.message == "line 2 holds a byte (0xe9) that is not UTF-8 text"
        assert (found.line, found.hint) == (2, "Save the file as UTF-8.")

    def test_a_bad_byte_far_down_is_given_with_its_line(self) -> None:
        assert problem(b"x = 1\n" * 10 + b"'\xff'", "encoding").line == 11

    def test_a_byte_that_is_not_of_the_declared_encoding_is_named(self) -> None:
        expected = "line 2 holds a byte (0xe9) that is not ASCII text"
        assert problem(b"# coding: ascii\n# \xe9\n", "encoding").message == expected

    def test_utf16_is_named(self) -> None:
        assert problem("x = 1".encode("utf-16"), "encoding").message == "the file is saved as UTF-16"

    def test_a_null_byte_is_given_with_its_line(self) -> None:
        found = problem(b"x = 1\ny = '\0'\n", "encoding")
        assert (found.message, found.line) == ("line 2 holds a null byte, which no Python text has", 2)

    def test_a_null_byte_that_the_encoding_spells_otherwise_is_given_with_its_line(self) -> None:
        found = problem(b"# coding: utf-7\nx = '+AAA-'\n", "encoding")
        assert (found.message, found.line) == ("line 2 holds a null byte, which no Python text has", 2)

    def test_a_declaration_counts_where_lines_end_in_carriage_returns(self) -> None:
        assert check(b"#!/usr/bin/python\r# coding: latin-1\rx = '\xe9'\r") is None
        assert problem(b"x = 1\ry = 2\r# coding: latin-1\rx = '\xe9'\r", "encoding").line == 4

    @pytest.mark.parametrize("name", ["klingon", "zlib", "undefined"])
    def test_an_encoding_that_cannot_be_used_is_named(self, name: str) -> None:
        message = problem(f"# coding: {name}\nx = 1\n", "encoding").message
        assert message.startswith("the encoding that the file declares cannot be used: ")

    def test_a_byte_order_mark_that_contradicts_the_declaration_is_named(self) -> None:
        assert "cannot be used" in problem(b"\xef\xbb\xbf# coding: latin-1\n", "encoding").message


class TestSyntax:
    def test_a_mistake_is_shown_with_its_line_and_a_caret(self) -> None:
        found = problem("def f(x):\n    return x\n\ndef g(x)\n    return x\n", "syntax")
        assert found.message == "line 4: expected ':'\n    def g(x)\n            ^"
        assert (found.line, found.hint) == (4, None)

    def test_the_caret_stands_below_the_column_of_an_indented_line(self) -> None:
        message = problem("def f(x):\n\treturn (x + ]\n", "syntax").message
        assert message.splitlines()[1:] == ["    return (x + ]", "                ^"]

    def test_of_a_long_line_the_part_around_the_mistake_is_shown(self) -> None:
        first, shown, caret = problem("x = [" + "1, " * 500 + "2 3]", "syntax").message.splitlines()
        assert first.startswith("line 1: invalid syntax")
        assert len(shown) <= 80
        assert shown[caret.index("^")] == "2"

    def test_a_learners_control_characters_are_not_shown(self) -> None:
        message = problem("x = 'a\x1b[31m\n", "syntax").message
        assert "\x1b" not in message

    def test_a_stray_indent_has_a_hint(self) -> None:
        found = problem("x = 1\n  y = 2\n", "syntax")
        assert found.message == "line 2: unexpected indent\n    y = 2\n    ^"
        assert found.hint == "The lines of one block begin in the same column; indent by four spaces."

    def test_a_missing_body_has_a_hint(self) -> None:
        found = problem("def f(x):\nreturn x\n", "syntax")
        assert found.message.startswith("line 2: expected an indented block after function definition on line 1")
        assert found.hint is not None

    def test_mixed_tabs_and_spaces_have_a_hint_of_their_own(self) -> None:
        found = problem("if 1:\n        x = 1\n\ty = 2\n", "syntax")
        assert found.line == 3
        assert found.hint == "Tabs and spaces are mixed; indent by four spaces everywhere."

    @pytest.mark.parametrize("text", ["```python\nx = 1\n", "def f(x):\n    return x\n```\n", "def f(x):\n    ```\n"])
    def test_a_fence_of_markdown_is_to_be_deleted(self, text: str) -> None:
        found = problem(text, "syntax")
        assert text.split("\n")[(found.line or 0) - 1].lstrip().startswith("```")
        assert found.hint is not None and found.hint.startswith("Delete this line: it is a fence of Markdown")

    def test_what_only_the_compiler_sees_is_found(self) -> None:
        assert problem("x = 1\nreturn x\n", "syntax").message == (
            "line 2: 'return' outside function\n    return x\n    ^"
        )

    def test_an_unfinished_file_is_shown_at_its_opening(self) -> None:
        assert problem("x = (1,\ny = 2\n", "syntax").message.startswith("line 1: '(' was never closed")

    def test_a_mistake_after_the_last_line_is_found(self) -> None:
        assert problem("def f(x):", "syntax").line == 1

    @pytest.mark.parametrize(
        "source", ["x = " + "-" * 100_000 + "1", "x = " + "+".join("1" * 50_000)], ids=["signs", "sum"]
    )
    def test_too_deep_an_expression_is_a_problem_not_a_crash(self, source: str) -> None:
        expected = "an expression or block is nested too deeply for Python to read"
        assert problem(source, "syntax").message == expected

    def test_too_long_a_number_is_a_problem(self) -> None:
        assert problem("x = " + "9" * 10_000, "syntax").line == 1

    @pytest.mark.parametrize("error", [ValueError, OverflowError, SystemError])
    def test_whatever_else_the_compiler_raises_is_a_problem(
        self, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
    ) -> None:
        def broken(*_: object) -> None:
            raise error("no reason")

        monkeypatch.setattr("grader.submission.parsing.ast.parse", broken)
        assert problem("x = 1", "syntax").message == "Python cannot read this module: no reason"

    def test_a_learners_warnings_stay_silent(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert check("x = '\\s'\ny = 1 is 1\n") is None

    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="forbidden in every annotation since then")
    def test_the_graders_own_future_imports_do_not_leak_into_the_module(self) -> None:
        assert check("def f():\n    def g(x: (yield)):\n        pass\n") is None


class TestWhere:
    """Plain texts are read here, others in a process of their own."""

    def test_a_plain_text_needs_no_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def never(*_: object) -> None:
            raise AssertionError

        monkeypatch.setattr("grader.submission.source.look_apart", never)
        assert check("import numpy as np\nx = np.ones(3)\n") is None
        assert check(b"# coding: latin-1\nx = '\xe9'\n") is None
        assert check(b"# coding: klingon\n") is not None

    @pytest.mark.parametrize(
        "source",
        [b"try:\n    x = 1\nfinally:\n    y = 2\n", b"# coding: utf-7\nx = 1\n", b"#" * (1 << 17)],
        ids=["not plain", "an encoding that may take long", "large"],
    )
    def test_another_is_given_away_and_may_be_fine(self, source: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        assert check(source) is None
        monkeypatch.setattr("grader.submission.parsing.ast.parse", None)
        assert check(source) is None
        assert plain_text(source) is None

    def test_the_text_of_a_plain_module_is_to_be_had(self) -> None:
        assert plain_text(b"\xef\xbb\xbfx = 1\r\ny = 2\r") == "x = 1\ny = 2\n"
        assert plain_text(b"\xff") is None


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
        assert (
            check_source(stage, snapshot("import numpy as np\nx = np.ones((2, 2)) @ np.ones(2)\n")) == SourceFindings()
        )

    def test_every_function_of_numpy_that_arrays_have_too_is_known(self) -> None:
        both = {name for name in dir(np.ndarray) if callable(getattr(np, name, None)) and not name.startswith("_")}
        methods = {name for name in both if callable(getattr(np.ndarray, name))}
        assert methods <= ARRAY_METHODS


def test_a_row_is_told_the_first_problem_of_its_functions() -> None:
    stage = replace(STAGE, criteria=(ROW, Criterion("other", "other", ("other",), (), ("a", "b", "c"))))
    source = "def other():\n    return 1\ndef trace(A):\n    return 1 @ 2\ndef matmul(A, B):\n    return A @ B\n"
    rows = refused_criteria(stage, check_source(stage, snapshot(source)))
    assert {row: found.line for row, found in rows.items()} == {"products": 4}


NEWER = [
    ((3, 12), 'x = f"{d["x"]}"'),
    ((3, 12), 'x = f"{", ".join(d)} and {d["y"]!r:>{w["z"]}}"  # f"{'),
    ((3, 12), "x = f'{chr(10).join(d)} {\"\\n\".join(d)}'"),
    ((3, 12), "type Matrix = list[list[float]]"),
    ((3, 12), "type Pair[T] = tuple[T, T]"),
    ((3, 12), "def first[T](items: list[T]) -> T: return items[0]"),
    ((3, 12), "class Box[T]: pass"),
    ((3, 13), "class Box[T = int]: pass"),
    ((3, 14), "try: x = 1\nexcept ValueError, TypeError: x = 2"),
    ((3, 14), 'x = t"{d}"'),
]
WRONG_EVERYWHERE = [
    "type Matrix == 3 4",
    "type X = = 3",
    "def f[T](x: return x",
    'x = f"{d["x"}"',
    'x = "a" b" f"',
    "try: x = 1\nexcept A, B x: pass",
    'x = t"{d}" 3',
    "x = (",
    "x = " + 'f"{' * 120 + " " + '}"' * 119,
    "x = " + 'f"{d["x"]}" ' * 9999,
]


@pytest.mark.parametrize(("since", "text"), NEWER)
def test_a_syntax_of_a_newer_python_names_both_versions(since: tuple[int, int], text: str) -> None:
    source = f"d = {{}}\n{text}\n".encode()
    if sys.version_info >= since:
        assert check(source) is None
        return
    found = problem(source, "syntax")
    line = 1 + len(text.split("\n"))
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    said = f"line {line}: Python {since[0]}.{since[1]} or newer reads this syntax, and Python {running} runs here\n"
    assert found.message.startswith(said) and found.line == line
    assert found.hint


@pytest.mark.parametrize("text", WRONG_EVERYWHERE)
def test_what_no_python_reads_is_not_blamed_on_the_version(text: str) -> None:
    assert "or newer" not in problem(f"{text}\n".encode(), "syntax").message


HINTS = ("a", "b", "c")
NAMES = ("scores", "weights", "Attention", "Attention.forward")
ROWS = tuple(Criterion(name.lower().replace(".", "-"), "", (name,), (), HINTS) for name in NAMES)
STAGE_REACHING = Stage("s90", Path("stages/s90_small"), "Small", "small.py", (), ROWS)
MODULE = """
def helper(x):
    return scores(x)

def scores(x):
    return x

def weights(x):
    return helper(x)

class Attention:
    def forward(self, x):
        return weights(x)

if __name__ == "__main__":
    print(scores(weights(1)))
"""


def test_functions_lead_to_what_they_mention_however_far_away() -> None:
    found = reaches(STAGE_REACHING, MODULE)
    assert found["scores"] == set()
    assert found["weights"] == {"scores"}
    assert found["Attention.forward"] >= {"scores", "weights"}
    assert found["Attention"] >= {"scores", "weights"}


def test_functions_that_do_not_mention_each_other_lead_nowhere() -> None:
    found = reaches(STAGE_REACHING, "def scores(x): return x\ndef weights(x): return x\n")
    assert set(found["scores"] | found["weights"]) == set()


def test_functions_that_are_not_there_lead_nowhere() -> None:
    assert not any(reaches(STAGE_REACHING, "x = 1\n").values())


def test_a_text_that_cannot_be_read_tells_nothing() -> None:
    assert reaches(STAGE_REACHING, None) == reaches(STAGE_REACHING, "def (") == {}


def test_helpers_are_what_the_module_has_beside_its_stage() -> None:
    found = helpers(STAGE_REACHING, MODULE)
    assert found["weights"] == found["Attention"] == found["Attention.forward"] == {"helper"}
    assert found["scores"] == set()
    assert helpers(STAGE_REACHING, None) == {} == helpers(STAGE_REACHING, "def helper(:")


STUB = '\n\ndef f(x):\n    """Return x."""\n    raise NotImplementedError("f")\n'


def test_a_stub_that_replaces_what_is_written_is_named_with_both_lines() -> None:
    written = "def f(x):\n    return x\n"
    (told,) = stubs_that_count(f"{written}{STUB}")
    assert told == "the stub of f in line 5 replaces what line 1 defines: delete the stub"
    for text in (None, written, STUB, f"{STUB}{STUB}", f"{STUB}\n{written}", f"{written}{written}", "def f(\ndef f("):
        assert list(stubs_that_count(text)) == []


def test_lines_are_counted_as_python_counts_them() -> None:
    source = "a = 1\r\n\x0cb = '\x1c\u2028'\rc = 3\n"
    lines = lines_of(source.encode())
    assert [lines[node.lineno - 1].strip() for node in ast.parse(source).body] == ["a = 1", "b = '\x1c\u2028'", "c = 3"]
    found = parsed("\x0c\ndef double(x):\n    return 2 * x\n")
    assert found.shown(found.functions["double"].body[0]) == "return 2 * x"


def test_a_text_is_read_in_the_encoding_that_it_declares() -> None:
    assert shown_text("# -*- coding: latin-1 -*-\ngröße = 1\n".encode("latin-1")).endswith("größe = 1\n")
    assert shown_text(b"\xef\xbb\xbfx = 1\r\n") == "x = 1\n"
    assert shown_text(b"x = '\xff'\n") == "x = '\ufffd'\n"
