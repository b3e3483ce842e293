"""Texts that are no modules: encodings, syntax, and where the mistake is."""

from __future__ import annotations

import sys
import warnings

import pytest

from grader.submission.source import (
    plain_text,
)
from grader.tests.submission.source.made import check, problem


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

        monkeypatch.setattr("grader.submission.source.parsing.ast.parse", broken)
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
        monkeypatch.setattr("grader.submission.source.parsing.ast.parse", None)
        assert check(source) is None
        assert plain_text(source) is None

    def test_the_text_of_a_plain_module_is_to_be_had(self) -> None:
        assert plain_text(b"\xef\xbb\xbfx = 1\r\ny = 2\r") == "x = 1\ny = 2\n"
        assert plain_text(b"\xff") is None
