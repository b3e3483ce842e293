"""A plain text is read at once: that holds for the worst that is plain, and ordinary modules are."""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from grader.submission.source import plain
from grader.submission.source.plain import is_plain
from grader.tests.support.places import ROOT

COURSE = ROOT
MODULES = [
    *COURSE.glob("stages/*/*.py"), *COURSE.glob("hidden/*/solution.py"),
    *COURSE.glob("hidden/*/alternatives/*.py"), *COURSE.glob("demo/*.py"),
]  # fmt: skip
ROOM = plain.MAX_CHARS - 1
DEPTH = plain.MAX_BRACKETS
BRACKETS = {
    "(": ")", "[": "]", "{": "}", "f(": ")", "{a:": "}", "lambda a=(": ")", "[a for a in ": "]", "{**": "}",
    "f(a=": ")", "f(*": ")", "(yield ": ")", "x[": "]", "(a, ": ")", "(a if ": ")", "(not ": ")", "(a:=": ")",
    "(*": ")", "f(a for a in ": ")", "(lambda *": ")", "-(": ")", "{a: a for a in ": "}",
}  # fmt: skip
STATEMENTS = (
    "{}", "x = {}", "{} = 1", "del {}", "for {} in a: pass", "with {} as b: pass", "import {}", "def f({}): pass",
    "class A({}): pass", "@{}\nclass A: pass", "match {}:\n case 1: pass", "match a:\n case {}: pass", "{}: int = 1",
    "print {}", "except {}",
)  # fmt: skip
BLOCKS = (
    "if a:", "while a:", "for a in b:", "with (a, b):", "def f():", "async def f():", "class A(b):", "try:",
    "@a\n{}class A:", "try:\n{} pass\n{}except a as b:", "try:\n{} pass\n{}except* a:", "if a:\n{} pass\n{}elif b:",
    "while a:\n{} pass\n{}else:",
)  # fmt: skip
UNITS = {
    "names": "a\n", "calls": "f()\n", "pieces": "a[b:c]\n", "comparisons": "a<b<c\n", "numbers": "1\n",
    "targets": "*a,b=c\n", "sums": "a" + "+a" * 149 + "\n", "powers": "a" + "**a" * 90 + "\n",
    "attributes": "a" + ".b" * 149 + "\n", "chained calls": "a" + "()" * 140 + "\n",
    "assignments": "a=" * 149 + "a\n", "commas": "a," * 149 + "\n", "conditions": "a" + " and a" * 39 + "\n",
    "negations": "not " * 40 + "a\n", "products of tuples": "(1,)*256\n", "products of texts": "'a'*4096\n",
    "joined texts": "'a' " * 290 + "\n",
    "names to normalise": "a" + "\u0327\u0301" * 140 + "\n", "signs in f-strings": "f'{" + "-" * 390 + "a}'\n",
    "fields": "f'{a}{b}'\n", "escapes": "'\\d'\n", "long numbers": "x=" + "9" * 290 + "//" + "9" * 100 + "\n",
}  # fmt: skip


def seconds(text: str) -> float:
    """The processor time that Python takes to read a text, or to refuse it."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(SyntaxError):
            compile(ast.parse(text), "text", "exec")
    return time.process_time() - started


def expect_quick(text: str) -> None:
    assert is_plain(text), text[:80]
    assert seconds(text) < 1, text[:80]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}-{path.stem}")
def test_every_module_of_the_course_is_plain(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    started = time.process_time()
    assert is_plain(text)
    assert time.process_time() - started < 0.2  # a tenth of that on an idle machine


class TestTheWorstThatIsPlain:
    @pytest.mark.parametrize("opening", BRACKETS)
    def test_brackets_as_deep_as_they_may_be(self, opening: str) -> None:
        depth = DEPTH - 1
        for inside, missing, statement in itertools.product(("a", "a b", "", "1=1", "a for"), (0, 1, 99), STATEMENTS):
            nested = opening * depth + inside + (BRACKETS[opening] * depth)[: max(depth - missing, 0)]
            if is_plain(text := statement.format(nested) + "\n"):
                assert seconds(text) < 1, text

    @pytest.mark.parametrize("first", BLOCKS)
    def test_blocks_as_deep_as_they_may_be(self, first: str) -> None:
        for other, last in itertools.product(BLOCKS, ("pass", "a b", "(", "return 1 2")):
            depth = plain.MAX_INDENTS - 1
            heads = [(first, other)[level % 2].replace("{}", " " * level) for level in range(depth)]
            lines = [" " * level + head for level, head in enumerate(heads)]
            ends = [" " * n + "except a: pass" for n in reversed(range(depth)) if heads[n] == "try:"]
            expect_quick("\n".join([*lines, " " * depth + last, *ends, ""]))

    @pytest.mark.some_of(8)
    @pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
    def test_as_much_as_there_may_be(self, unit: str) -> None:
        expect_quick(unit * (ROOM // len(unit)))
        expect_quick(unit * (ROOM // len(unit) - 2) + "a b\n")

    def test_scopes_with_all_the_names_around_them(self) -> None:
        names = "".join(f" a{number}=0\n" for number in range(5000))
        expect_quick(f"def f():\n{names}" + " lambda:a1\n" * (plain.MAX_SCOPES - 1))

    def test_numbers_that_all_have_one_hash(self) -> None:
        numbers = [f"{number * (2**61 - 1)}" for number in range(1, 2500)]
        expect_quick("".join(f"x={','.join(numbers[at : at + 100])}\n" for at in range(0, 2500, 100)))

    def test_ways_out_of_many_with_blocks(self) -> None:
        withs = [" " * (level + 1) + "with " + ",".join("a" * 18) + ":" for level in range(14)]
        expect_quick("\n".join(["def f():", *withs, *[" " * 15 + "return"] * 140, ""]))

    def test_conditions_in_a_chain(self) -> None:
        expect_quick("if a: b\n" + "elif a: b\n" * plain.MAX_ELIFS)

    def test_it_needs_no_deep_stack(self) -> None:
        """Threads of macOS have half a megabyte."""
        texts = [opening * (DEPTH - 1) + "a" + closing * (DEPTH - 1) for opening, closing in BRACKETS.items()]
        texts += UNITS.values()
        assert all(map(is_plain, texts))
        code = (
            "import ast, sys, threading\n"
            "def read():\n"
            "    for text in ast.literal_eval(sys.stdin.read()):\n"
            "        try: compile(ast.parse(text), 't', 'exec')\n"
            "        except SyntaxError: pass\n"
            "    print('read')\n"
            "threading.stack_size(1 << 19)\n"
            "thread = threading.Thread(target=read)\n"
            "thread.start(); thread.join()\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], input=ascii(texts), capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-500:]


class TestNotPlain:
    @pytest.mark.parametrize(
        "text",
        [
            "#" * (ROOM + 2),
            "(" * (DEPTH + 1),
            ")",
            "x = " + "-" * 9 + "1",
            "x = " + "- " * 9 + "1",
            "x = " + "not " * 41 + "1",
            "x = " + "a+" * 150 + "a",
            "x = (\n" + "a,\n" * 150 + ")",
            "x = 1" + "; y = 2" * 80,
            "x = " + "9" * 301,
            "try: a\nfinally: b",
            "if a: b\n" + "elif a: b\n" * 61,
            "def f(): pass\n" * 401,
            "f'{lambda: 0}'\n" * 401,
            "with " + "a," * 20 + "b: pass",
            "with a: pass\n" * 21 + "def f():\n" + " return\n" * 100,
            "".join(" " * level + "if a:\n" for level in range(17)) + " " * 17 + "pass",
            "if a:\n\tb\n",
            "if a:\n \\\n  b\n",
            "'''never closed",
            "'never closed",
            "'never closed\n'",
            "x = 1 $ 2",
            "x = \\ 1",
            "f'{(((((((((a)))))))))}'",
            "f'{" + "a" * 400 + "}'",
            """f"{f"{a["x"]}"}\"""",
            "f'{'",
            "f'{a!r:{b:{c}}}'",
            """f"{'''a'}\"""",
            "rb'' f'{x:{'",
        ],
    )
    def test_it_is_none_of_these(self, text: str) -> None:
        assert not is_plain(text)

    def test_code_cannot_pass_for_a_string(self) -> None:
        deep = "(" * 50 + ")" * 50
        for start, end in (('f"{', '}"'), ('f"""{', '}"""'), ("f'", "'"), ('"', '"'), ("'''", "'''"), ("#", "\n")):
            for inner in ('f"{f"{', "f'{f\"{", '"', "'''", "{{", "\\\n", "\\"):
                text = f"{start}{inner}{deep}{end}"
                assert not is_plain(text) or _depth(text) <= DEPTH, text


def _depth(text: str) -> int:
    """How deep the tree of a text is; 0 where it is none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return 0

    def depth(node: ast.AST) -> int:
        return 1 + max(map(depth, ast.iter_child_nodes(node)), default=0)

    return depth(tree)


class TestPlain:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "x = 'it\\'s' + \"a\\\"b\" + '''a'b''c''' + \"\"\"a\"b\"\"c\"\"\" + '' + \"\"\n",
            "x = '((((((((((((((((((((((((((('  # (((((((((((((((((((((((((((((((((\n",
            "x = f\"shape {x.shape}: expected {', '.join(names) if names else ''} {{}} {y!r:>{width}}\"\n",
            "x = rb'\\' + b'' + Rb\"\\\"\" + u''\n".replace("rb'\\'", "rb'\\\\'"),
            "x = a if b else -1\n\n\ndef f(a, *, b=2) -> int:\n    return a \\\n        + b\n",
            "café = 1\n",
        ],
    )
    def test_ordinary_text_is(self, text: str) -> None:
        assert is_plain(text)

    def test_blocks_that_were_closed_do_not_count(self) -> None:
        assert is_plain("if a:\n  if b:\n    c\n" * 100)


def test_no_group_is_repeated_possessively() -> None:
    """Python 3.11.2, which Debian 12 has, does not match what such a repetition stands for."""
    source = Path(plain.__file__).read_text(encoding="utf-8")
    assert not re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", source)


@pytest.mark.parametrize(
    "text",
    ['"""' + "\\a" * 30_000, '"""' + 'a"' * 30_000, "'" + "\\a" * 30_000, 'f"' + "{{" * 4 + "'" * 190 + "}" * 7 + '"'],
    ids=["escapes", "quotes", "short", "fields"],
)
def test_what_does_not_end_is_soon_known(text: str) -> None:
    started = time.process_time()
    assert not plain.is_plain(text)
    assert time.process_time() - started < 1
