"""Modules of earlier stages in a learner's process: made from texts, lazily, with errors that a learner understands."""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from grader.course.import_guard import set_aside
from grader.worker.loading import ProvidedModules

BLOCKS = b"import numpy as np\n\nfrom stages.s02_b.other import one\n\n\nclass Block:\n    size = one()\n"
OTHER = b"def one():\n    return 1\n"
MODULES = [["stages.s01_a.blocks", "stages/s01_a/blocks.py", BLOCKS], ["stages.s02_b.other", "the reference", OTHER]]
EMPTY = [["stages.s03_c.empty", "stages/s03_c/empty.py", b"raise ValueError('no')\n"]]


@pytest.fixture(autouse=True)
def lent() -> Iterator[None]:
    finder = ProvidedModules([*MODULES, *EMPTY])
    with set_aside({"stages"}):
        sys.meta_path.insert(0, finder)
        yield
        sys.meta_path.remove(finder)


def ran(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    return names


@pytest.mark.parametrize(
    "source",
    [
        "from stages.s01_a.blocks import Block",
        "import stages.s01_a.blocks as blocks\nBlock = blocks.Block",
        "import stages.s01_a.blocks\nBlock = stages.s01_a.blocks.Block",
        "from stages.s01_a import blocks\nBlock = blocks.Block",
        "from stages import s01_a\nBlock = s01_a.blocks.Block",
        "import stages\nBlock = stages.s01_a.blocks.Block",
        "from stages.s01_a.blocks import *",
    ],
)
def test_every_way_to_import_gives_the_module(source: str) -> None:
    found = ran(source)["Block"]
    assert (found.__module__, found.size) == ("stages.s01_a.blocks", 1)


def test_nothing_is_run_before_it_is_asked_for() -> None:
    import_module = importlib.import_module
    import_module("stages.s02_b.other")
    assert "stages.s01_a.blocks" not in sys.modules
    with pytest.raises(ValueError, match="no"):
        import_module("stages.s03_c.empty")


def test_a_name_that_is_missing_is_told_with_those_that_are_there() -> None:
    said = r"stages.s02_b.other \(the reference\) does not define two; it has one"
    with pytest.raises(ImportError, match=said):
        ran("from stages.s02_b.other import two")
    with pytest.raises(ImportError, match=said):
        ran("def f():\n    from stages.s02_b.other import two\nf()")
    with pytest.raises(AttributeError, match=said):
        ran("import stages.s02_b.other as other\nother.two")
    assert not ran("import stages.s02_b.other as other\nhas = hasattr(other, 'two')")["has"]


def test_another_stage_is_told_with_those_that_are_there() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"of other stages there are stages\.s01_a\.blocks, "):
        ran("import stages.s09_z.more")
    with pytest.raises(ImportError):
        ran("from stages import s09_z")


def test_other_packages_are_left_to_others() -> None:
    assert ProvidedModules(MODULES).find_spec("json") is None


def test_lines_are_known_by_the_file() -> None:
    ran("import stages.s01_a.blocks")
    assert linecache.getline("stages/s01_a/blocks.py", 6) == "class Block:\n"
