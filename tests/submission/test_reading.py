"""The reading of a module's text, in this process or in a bounded one."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader import children
from grader.course.stage import Forbidden
from grader.errors import GraderFault
from grader.submission import reading
from grader.submission.parsing import TOO_DEEP, Problem, SourceFindings
from grader.submission.reading import (
    BREAKS_DOWN,
    MEMORY_BYTES,
    TOO_LARGE,
    TOO_LONG,
    is_plain,
    look,
    look_apart,
    look_at_bytes,
)
from tests.support.places import ROOT

FORBIDDEN = Forbidden((), ("sum",), "Write it yourself.")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (b"import grader\nsum([])\n(\xff", "encoding"),
        (b"import grader\nsum([])\n(", "syntax"),
        (b"sum([])\nimport grader\n", "import"),
        (b"sum([])\n", "forbidden"),
    ],
)
def test_encoding_comes_before_syntax_before_imports_before_what_is_forbidden(source: bytes, kind: str) -> None:
    found = look_at_bytes(source, "a.py", FORBIDDEN).first
    assert found is not None and found.kind == kind


def test_a_tree_that_is_too_deep_to_walk_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(reading, "read_forbidden", too_deep)
    assert look("x = 1", "a.py", FORBIDDEN) == SourceFindings(TOO_DEEP)


COURSE = ROOT
MODULES = [
    *COURSE.glob("stages/*/*.py"), *COURSE.glob("hidden/*/solution.py"),
    *COURSE.glob("hidden/*/alternatives/*.py"), *COURSE.glob("demo/*.py"),
]  # fmt: skip
ROOM = reading.MAX_CHARS - 1
DEPTH = reading.MAX_BRACKETS
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


def test_every_module_of_the_course_is_plain() -> None:
    assert [str(path) for path in MODULES if not is_plain(path.read_text(encoding="utf-8"))] == []


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
            depth = reading.MAX_INDENTS - 1
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
        expect_quick(f"def f():\n{names}" + " lambda:a1\n" * (reading.MAX_SCOPES - 1))

    def test_numbers_that_all_have_one_hash(self) -> None:
        numbers = [f"{number * (2**61 - 1)}" for number in range(1, 2500)]
        expect_quick("".join(f"x={','.join(numbers[at : at + 100])}\n" for at in range(0, 2500, 100)))

    def test_ways_out_of_many_with_blocks(self) -> None:
        withs = [" " * (level + 1) + "with " + ",".join("a" * 18) + ":" for level in range(14)]
        expect_quick("\n".join(["def f():", *withs, *[" " * 15 + "return"] * 140, ""]))

    def test_conditions_in_a_chain(self) -> None:
        expect_quick("if a: b\n" + "elif a: b\n" * reading.MAX_ELIFS)

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
    source = Path(reading.__file__).read_text(encoding="utf-8")
    assert not re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", source)


@pytest.mark.parametrize(
    "text",
    ['"""' + "\\a" * 30_000, '"""' + 'a"' * 30_000, "'" + "\\a" * 30_000, 'f"' + "{{" * 4 + "'" * 190 + "}" * 7 + '"'],
    ids=["escapes", "quotes", "short", "fields"],
)
def test_what_does_not_end_is_soon_known(text: str) -> None:
    started = time.process_time()
    assert not reading.is_plain(text)
    assert time.process_time() - started < 1


NOTHING = Forbidden((), (), "")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="limits on memory hold on Linux")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on processor time")


def looked(source: str | bytes, forbidden: Forbidden = NOTHING) -> Problem | None:
    return look_apart(source.encode() if isinstance(source, str) else source, "a.py", forbidden).first


class TestWhatItSays:
    def test_a_text_that_is_well_is_well(self) -> None:
        assert looked("x = " + "(" * 50 + "1" + ")" * 50) is None

    def test_it_finds_what_is_found_in_place(self) -> None:
        forbidden = Forbidden(("@",), ("numpy.dot",), "Write it yourself.")
        found = looked("import numpy as np\nx = np.dot(1, 2)\n", forbidden)
        assert found == Problem(
            "forbidden", "line 2: numpy.dot is not allowed in this stage. Write it yourself.", 2, None
        )
        assert looked("import msgpack\n") == Problem(
            "import", "line 1: msgpack is imported, but is unavailable when a stage is checked", 1,
            "A stage uses numpy and the standard library only: write, or copy into a.py, what you need from msgpack.",
        )  # fmt: skip
        assert look_apart(b"import torch\n", "a.py", forbidden).stood_in == ("torch",)

    def test_it_finds_which_functions_are_concerned(self) -> None:
        forbidden = Forbidden(("@",), (), "Write it yourself.")
        source = b"def f(a):\n    return g(a)\ndef g(a):\n    return a @ a\ndef h(a):\n    return a\n"
        found = look_apart(source, "a.py", forbidden, ("f", "g", "h"))
        assert found == look_at_bytes(source, "a.py", forbidden, ("f", "g", "h"))
        assert set(found.refused) == {"f", "g"}

    def test_bytes_arrive_as_they_are(self) -> None:
        found = looked(b"x = '\xe9'")
        assert found is not None and found.message == "line 1 holds a byte (0xe9) that is not UTF-8 text"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the process that reads one second of processor time."""
    shorter = "import grader.submission.reading as reading; reading.CPU_SECONDS = 1\n"
    monkeypatch.setattr(
        children, "_BOOT", children._BOOT.replace("importlib.import_module", f"{shorter}importlib.import_module")
    )


class TestBombs:
    @pytest.mark.some_of(3)
    @pytest.mark.parametrize(
        "source",
        [
            "-" * 1_000_000 + "1",
            "x = " + "+".join("1" * 200_000),
            "x" + ".a" * 400_000,
            "x" + "()" * 400_000,
            "x = " + "lambda: " * 100_000 + "1",
            "if 0: 0\n" + "elif 0: 0\n" * 50_000,
        ],
        ids=["signs", "sum", "attributes", "calls", "lambdas", "conditions"],
    )
    def test_nested_too_deeply(self, source: str) -> None:
        assert looked(source) in (TOO_DEEP, BREAKS_DOWN)

    @linux_only
    def test_what_the_grader_takes_is_not_taken_for_the_text_s(self) -> None:
        taken = b"x" * MEMORY_BYTES
        assert looked("x = " + "-" * 100_000 + "1") == TOO_DEEP
        del taken

    @pytest.mark.parametrize("bracket", "([{")
    def test_a_megabyte_of_brackets(self, bracket: str) -> None:
        found = looked(bracket * 1_000_000)
        assert found is not None and found.kind == "syntax"

    def test_blocks_in_blocks(self) -> None:
        found = looked("".join(" " * level + "if a:\n" for level in range(200)) + " " * 200 + "a\n")
        assert found is not None and "too many levels of indentation" in found.message

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_a_body_that_the_compiler_copies_again_and_again(self) -> None:
        lines = [" " * level + "try: a\n" + " " * level + "finally:\n" for level in range(40)]
        assert looked("".join(lines) + " " * 40 + "pass\n") in (TOO_LONG, TOO_LARGE)

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_numbers_that_all_have_one_hash(self) -> None:
        source = "x = [" + ",".join(f"{number * (2**61 - 1)}+y" for number in range(1, 45_000)) + "]"
        assert looked(source) == TOO_LONG

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_an_encoding_that_takes_minutes(self) -> None:
        assert looked(b"# coding: punycode\n" + b"a" * 400_000 + b"-" + b"aaaa" * 100_000) is not None

    @pytest.mark.full_matrix
    @linux_only
    def test_a_tree_that_needs_more_memory_than_there_is(self) -> None:
        assert looked("a=b;" * 260_000) == TOO_LARGE


class TestTheProcess:
    @pytest.mark.parametrize("name", ["SIGXCPU", "SIGKILL"])
    def test_one_that_was_ended_took_too_long(self, name: str) -> None:
        if not hasattr(signal, name):
            pytest.skip(f"no {name} here")
        assert reading._understood(-getattr(signal, name), b"").problem == TOO_LONG

    @pytest.mark.parametrize("code", [-11, -6, 0xC00000FD])
    def test_one_that_broke_down_is_told(self, code: int) -> None:
        assert reading._understood(code, b"").problem == BREAKS_DOWN

    @pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"3", b"{", b'{"kind": "syntax"}', b'{"refused": 1}'])
    def test_an_answer_of_another_form_is_our_fault(self, answer: bytes) -> None:
        with pytest.raises(GraderFault, match=r"the process that reads a module failed \(exit code 1\)"):
            reading._understood(1, answer)

    def test_one_that_does_not_end_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(children, "_BOOT", "import time; time.sleep(60)")
        monkeypatch.setattr(reading, "WALL_SECONDS", 0.5)
        assert looked("x = 1") == TOO_LONG

    def test_one_that_cannot_be_started_is_our_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(GraderFault, match="cannot be started"):
            looked("x = 1")

    def test_one_that_fails_by_itself_is_our_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(children, "_BOOT", "raise OSError")
        with pytest.raises(GraderFault, match="failed"):
            looked("x = 1")


NOTHING_READER = Forbidden((), (), "")


def answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: str) -> Any:
    request = {"source": source, "module": "a.py", "operators": [], "names": [], "reason": "", "functions": []}
    request["packages"] = ["numpy"]
    monkeypatch.setattr(reading, "_limit", lambda: None)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(request).encode())))
    reading.main()
    return json.loads(capsys.readouterr().out)


def test_nothing_to_say_is_no_problem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    expected: dict[str, object] = {"problem": None, "refused": {}, "forbidden": None, "stood_in": []}
    assert answer(monkeypatch, capsys, "x = 1") == expected


def test_a_problem_is_all_its_fields(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = Problem(**answer(monkeypatch, capsys, "x = ")["problem"])
    assert (found.kind, found.line) == ("syntax", 1)


def test_a_lack_of_memory_is_told_from_a_lack_of_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "look_at_bytes", lambda *_: SourceFindings(TOO_DEEP))
    monkeypatch.setattr(reading, "_peak", lambda: MEMORY_BYTES)
    assert reading._looked(b"", "a.py", NOTHING_READER).problem == TOO_LARGE
    monkeypatch.setattr(reading, "_peak", lambda: MEMORY_BYTES // 10)
    assert reading._looked(b"", "a.py", NOTHING_READER).problem == TOO_DEEP


def test_a_lack_of_memory_after_parsing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reading, "look_at_bytes", none_left)
    assert reading._looked(b"", "a.py", NOTHING_READER).problem == TOO_LARGE


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not say")
def test_the_most_memory_so_far_is_in_bytes() -> None:
    assert 5 << 20 < reading._peak() < 1 << 40
