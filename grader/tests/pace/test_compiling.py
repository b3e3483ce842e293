"""What workers compile ahead is what they would have compiled, and each compiles another part."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from grader.tests.pace import compiling
from grader.tests.support.places import HOUSE


def test_each_module_falls_to_one_worker(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[Path] = Counter()
    monkeypatch.setattr(compiling, "rewritten", lambda path, config: seen.update([path]))
    monkeypatch.setattr(compiling, "compiled", lambda path: seen.update([path]) or path)
    for worker in ("gw0", "gw1", "gw5"):  # one that died is followed by one with a number of its own
        compiling.compile_share(pytestconfig, worker, 3)
    assert set(seen.values()) == {1} and set(seen) == set(HOUSE.rglob("*.py"))


def test_assertions_are_rewritten_once(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    path = tmp_path / "test_made.py"
    path.write_text("def test_it():\n    assert 1 == 2\n", encoding="utf-8")
    compiling.rewritten(path, pytestconfig)
    (kept,) = (tmp_path / "__pycache__").iterdir()
    code = rewrite._read_pyc(path, kept)
    assert code is not None and "@pytest_ar" in code.co_names
    before = kept.stat()
    compiling.rewritten(path, pytestconfig)
    assert kept.stat() == before


def test_what_is_no_python_is_left_to_be_told_of_where_it_is_collected(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    (tmp_path / "test_broken.py").write_text("def", encoding="utf-8")
    compiling.rewritten(tmp_path / "test_broken.py", pytestconfig)
    assert not list((tmp_path / "__pycache__").iterdir())
