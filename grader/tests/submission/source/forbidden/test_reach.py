"""Who reaches whom, along the names that are mentioned; what that costs is in test_forbidden.py."""

from __future__ import annotations

import ast
import time

from grader.submission.source.forbidden.places import Layout
from grader.submission.source.forbidden.reach import key_of, reached


def test_each_name_has_the_first_owner_that_it_reaches() -> None:
    layout = Layout(ast.parse("def a(): b(), c()\ndef b(): pass\ndef c(): pass\ndef d(): c()\ndef e(): pass\n"))
    found = reached(layout, ["b", "c"])
    assert {name: found.get(name) for name in "abcde"} == {"a": "b", "b": "b", "c": "c", "d": "c", "e": None}


def test_what_a_module_lacks_is_asked_of_its_own_getattr() -> None:
    layout = Layout(ast.parse("class C:\n    def m(self): pass\n"))
    assert [key_of(layout, name) for name in ("C", "C.m", "C.n", "f")] == ["C", "C.m", "C", "__getattr__"]


def test_many_mentions_are_followed_once() -> None:
    source = "def f0(): f0\n" + "".join(f"def f{i}(): f{i - 1}, f{i * 7 % 5000}, f0\n" for i in range(1, 5000))
    layout = Layout(ast.parse(source))
    started = time.process_time()
    assert len([name for name in reached(layout, ["f0", "f1", "f2"]) if name.startswith("f")]) == 5000
    assert time.process_time() - started < 5
