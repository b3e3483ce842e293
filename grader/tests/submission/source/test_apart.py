"""Texts that Python chokes on: read in another process, with a verdict each, and the grader alive."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from grader import children
from grader.course.stage import Forbidden
from grader.errors import GraderFault
from grader.submission.source import apart
from grader.submission.source.apart import BREAKS_DOWN, TOO_LONG, look_apart
from grader.submission.source.looking import look_at_bytes
from grader.submission.source.parsing import TOO_DEEP
from grader.submission.source.problem import Problem
from grader.submission.source.reader import MEMORY_BYTES, TOO_LARGE

NOTHING = Forbidden((), (), "")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="limits on memory hold on Linux")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on processor time")


def look(source: str | bytes, forbidden: Forbidden = NOTHING) -> Problem | None:
    return look_apart(source.encode() if isinstance(source, str) else source, "a.py", forbidden).first


class TestWhatItSays:
    def test_a_text_that_is_well_is_well(self) -> None:
        assert look("x = " + "(" * 50 + "1" + ")" * 50) is None

    def test_it_finds_what_is_found_in_place(self) -> None:
        forbidden = Forbidden(("@",), ("numpy.dot",), "Write it yourself.")
        found = look("import numpy as np\nx = np.dot(1, 2)\n", forbidden)
        assert found == Problem(
            "forbidden", "line 2: numpy.dot is not allowed in this stage. Write it yourself.", 2, None
        )
        assert look("import msgpack\n") == Problem(
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
        found = look(b"x = '\xe9'")
        assert found is not None and found.message == "line 1 holds a byte (0xe9) that is not UTF-8 text"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the process that reads one second of processor time."""
    shorter = "import grader.submission.source.reader as reader; reader.CPU_SECONDS = 1\n"
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
        assert look(source) in (TOO_DEEP, BREAKS_DOWN)

    @linux_only
    def test_what_the_grader_takes_is_not_taken_for_the_text_s(self) -> None:
        taken = b"x" * MEMORY_BYTES
        assert look("x = " + "-" * 100_000 + "1") == TOO_DEEP
        del taken

    @pytest.mark.parametrize("bracket", "([{")
    def test_a_megabyte_of_brackets(self, bracket: str) -> None:
        found = look(bracket * 1_000_000)
        assert found is not None and found.kind == "syntax"

    def test_blocks_in_blocks(self) -> None:
        found = look("".join(" " * level + "if a:\n" for level in range(200)) + " " * 200 + "a\n")
        assert found is not None and "too many levels of indentation" in found.message

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_a_body_that_the_compiler_copies_again_and_again(self) -> None:
        lines = [" " * level + "try: a\n" + " " * level + "finally:\n" for level in range(40)]
        assert look("".join(lines) + " " * 40 + "pass\n") in (TOO_LONG, TOO_LARGE)

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_numbers_that_all_have_one_hash(self) -> None:
        source = "x = [" + ",".join(f"{number * (2**61 - 1)}+y" for number in range(1, 45_000)) + "]"
        assert look(source) == TOO_LONG

    @pytest.mark.full_matrix
    @posix_only
    @pytest.mark.usefixtures("hurried")
    def test_an_encoding_that_takes_minutes(self) -> None:
        assert look(b"# coding: punycode\n" + b"a" * 400_000 + b"-" + b"aaaa" * 100_000) is not None

    @pytest.mark.full_matrix
    @linux_only
    def test_a_tree_that_needs_more_memory_than_there_is(self) -> None:
        assert look("a=b;" * 260_000) == TOO_LARGE


class TestTheProcess:
    @pytest.mark.parametrize("name", ["SIGXCPU", "SIGKILL"])
    def test_one_that_was_ended_took_too_long(self, name: str) -> None:
        if not hasattr(signal, name):
            pytest.skip(f"no {name} here")
        assert apart._understood(-getattr(signal, name), b"").problem == TOO_LONG

    @pytest.mark.parametrize("code", [-11, -6, 0xC00000FD])
    def test_one_that_broke_down_is_told(self, code: int) -> None:
        assert apart._understood(code, b"").problem == BREAKS_DOWN

    @pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"3", b"{", b'{"kind": "syntax"}', b'{"refused": 1}'])
    def test_an_answer_of_another_form_is_our_fault(self, answer: bytes) -> None:
        with pytest.raises(GraderFault, match=r"the process that reads a module failed \(exit code 1\)"):
            apart._understood(1, answer)

    def test_one_that_does_not_end_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(children, "_BOOT", "import time; time.sleep(60)")
        monkeypatch.setattr(apart, "WALL_SECONDS", 0.5)
        started = time.monotonic()
        assert look("x = 1") == TOO_LONG
        assert time.monotonic() - started < 20

    def test_one_that_cannot_be_started_is_our_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(GraderFault, match="cannot be started"):
            look("x = 1")

    def test_one_that_fails_by_itself_is_our_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(children, "_BOOT", "raise OSError")
        with pytest.raises(GraderFault, match="failed"):
            look("x = 1")
