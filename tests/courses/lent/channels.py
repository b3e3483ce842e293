"""Modules of s04 that read the reference of s03 where it runs beside them, and each tell it in another way."""

from __future__ import annotations

from tests.courses.conftest import solution

MARK = "READALOUD"  # begins whatever a module here tells
_READ = """
import sys
import warnings
import stages.s03_graphs.graphs

FOUND = next(
    b"".join(each.texts[name][1] for name in each.texts if "s03" in name)
    for each in sys.meta_path if hasattr(each, "texts")
).decode()
BODY = FOUND[FOUND.index("    steps = {"):FOUND.index("def topological_order")]
TEXT = "READ" + "ALOUD " + BODY
NUMBER = int.from_bytes(BODY.encode()[:7], "big")


def neighbours(words):
    BEGIN


def fewest_changes(words, start, end):
    BEGIN
"""
_RENAMED = """fail.__code__ = fail.__code__.replace({}=TEXT[:90])
    fail()"""
CHANNELS = {
    "message": "raise ValueError(TEXT)",
    "hexadecimal": "raise ValueError(TEXT + BODY.encode().hex())",
    "printed": "print(TEXT)\n    return {}",
    "to_stderr": "sys.stderr.write(TEXT)\n    return {}",
    "warned": "warnings.warn(TEXT)\n    return {}",
    "returned": "return {TEXT: [TEXT]}",
    "number": "return {'cat': NUMBER}",
    "type": "raise type(TEXT[:90], (Exception,), {})()",
    "instance": "return type(TEXT[:90], (), {'__repr__': lambda self: TEXT})()",
    "unwritten": f"def fail():\n        raise NotImplementedError(TEXT)\n    {_RENAMED.format('co_name')}",
    "argument": "words.append(TEXT)\n    return {}",
    "exit": "sys.exit(TEXT)",
}
LOADING = "loading"  # tells it before a test begins


def module(*channels: str) -> str:
    """Return a module whose functions tell what it reads, each in one of these ways, whatever they are asked."""
    if LOADING in channels:
        return _READ.replace("    BEGIN", "    return {}") + "\n\nraise RuntimeError(TEXT)\n"
    first, last = channels[0], channels[-1]
    return _READ.replace("BEGIN", CHANNELS[first], 1).replace("BEGIN", CHANNELS[last])


def modules() -> dict[str, str]:
    """Return modules that together go all ways, by name."""
    names = [*CHANNELS]
    pairs = [names[place : place + 2] for place in range(0, len(names), 2)]
    return {"".join(pair): module(*pair) for pair in pairs} | {LOADING: module(LOADING)}


def told(text: str) -> list[str]:
    """Return what a text holds of the reference, or of what a module here chose; control characters do not hide it."""
    source = solution("s03").read_text()
    body = source[source.index("    steps = {") : source.index("def topological_order")]
    number = int.from_bytes(body.encode()[:7], "big")
    pieces = {
        MARK,
        str(number),
        body.encode().hex()[:16],
        *(line.strip() for line in body.splitlines() if line.strip()),
    }
    return sorted(piece for piece in pieces if len(piece) > 8 and piece in text)
