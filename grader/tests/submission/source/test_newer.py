"""Syntax that a newer Python reads is told with both versions, and with what to write instead."""

from __future__ import annotations

import sys

import pytest

from grader.tests.submission.source.made import check, problem

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
