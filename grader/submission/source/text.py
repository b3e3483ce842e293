"""From a module's bytes to its text, as Python decodes it: by byte order mark or declaration (PEP 263), else UTF-8."""

from __future__ import annotations

import codecs
import io
import re
import tokenize

from grader.submission.source.problem import Problem, clean, clipped

# Codecs in C that take time in proportion to the text. Others may not: punycode takes minutes for a megabyte.
_QUICK = frozenset({"utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252"})


def decoded(source: bytes) -> str | Problem:
    """The text with \\n at the end of each line, whatever the file has there."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _encoding_problem("the file is saved as UTF-16", 1)
    if b"\0" in source:
        return _null_problem(_line_at(source, source.index(b"\0")))
    try:
        text = with_newlines(source.decode(_declared(source)))
    except UnicodeDecodeError as error:
        line = _line_at(source, error.start)
        what = f"line {line} holds a byte (0x{source[error.start]:02x}) that is not {error.encoding.upper()} text"
        return _encoding_problem(what, line)
    except (SyntaxError, LookupError, UnicodeError) as error:
        what = f"the encoding that the file declares cannot be used: {clipped(clean(str(error)))}"
        return _encoding_problem(what, 1)
    if "\0" in text:  # UTF-7 and others can spell one without a null byte
        return _null_problem(text.count("\n", 0, text.index("\0")) + 1)
    return text


def quick_to_decode(source: bytes) -> bool:
    """Say whether the declared encoding is one that takes no time to speak of; so is one that does not exist."""
    try:
        return codecs.lookup(_declared(source).removesuffix("-sig")).name in _QUICK
    except (SyntaxError, LookupError, UnicodeError):
        return True


def with_newlines(text: str) -> str:
    """The text with each line end made \\n, as Python's tokenizer does before anything else."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared(source: bytes) -> str:
    """The name of the encoding; the first two lines are those that Python sees, also where they end in \\r."""
    lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return tokenize.detect_encoding(io.BytesIO(lines).readline)[0]
    except SyntaxError:
        source.decode()  # a bad byte says more than "invalid or missing encoding declaration"
        raise


def _null_problem(line: int) -> Problem:
    return _encoding_problem(f"line {line} holds a null byte, which no Python text has", line)


def _encoding_problem(message: str, line: int) -> Problem:
    return Problem("encoding", message, line, "Save the file as UTF-8.")


def _line_at(source: bytes, position: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", source[:position])) + 1
