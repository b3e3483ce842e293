"""Answers as a hostile worker forges them, each played by a script: some end their test, the others are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from grader.protocol import codec
from tests.sandbox.hostile.hostile import EMPTY, NOTHING, TWO, FakeWorker, Script, array_form, handle

SHORT = 0.4  # seconds of a call, where the worker lets it run out
MEMORY = 64 << 20  # what no single answer below may take
ROWS = codec.Bounds(rows=1 << 20)


def nested(depth: int) -> list[Any]:
    form: list[Any] = [codec.LIST]
    for _ in range(depth):
        form = [codec.LIST, form]
    return form


def frame_of(body: bytes) -> bytes:
    return codec.HEADER.pack(codec.MAGIC, len(body), 0) + body


def raw(data: bytes) -> Script:
    """Wait for the request, then send bytes."""

    def script(worker: FakeWorker) -> None:
        worker.request()
        worker.send(data)

    return script


def form(value: Any, blob: bytes = b"", **more: Any) -> Script:
    """Answer with a form, under the right id; one that is large is made when it is asked for, by a function."""
    return lambda worker: worker.form(worker.request()[0], value() if callable(value) else value, blob, **more)


def message(build: Callable[[int], Any]) -> Script:
    """Answer with a whole message, made from the request's id."""
    return lambda worker: worker.body(build(worker.request()[0]))


def flood(worker: FakeWorker) -> None:
    worker.request()
    while True:
        worker.send(b"x" * (1 << 16))


def tiny(worker: FakeWorker) -> None:
    worker.request()
    empty = codec.HEADER.pack(codec.MAGIC, 1, 0) + b"\x90"
    for _ in range(1_000_000 // 4096):
        worker.send(empty * 4096)


def alike(count: int) -> list[Any]:
    """Return the forms of whole numbers of one hash."""
    return [codec.Encoder().encode((1 + n << 64) * (2**61 - 1)) for n in range(count)]


def pairs(count: int) -> list[Any]:
    return [codec.TUPLE, *(part for number in alike(count) for part in (number, 1))]


def members(count: int) -> list[Any]:
    return [codec.TUPLE, *alike(count)]


def generator_form() -> Any:
    return codec.Encoder().encode(np.random.default_rng(1))


CRASHES: dict[str, Script] = {
    "oversized body": raw(codec.HEADER.pack(codec.MAGIC, codec.MAX_BODY + 1, 0)),
    "oversized blob": raw(codec.HEADER.pack(codec.MAGIC, 0, codec.MAX_BLOB + 1)),
    "the largest header": raw(codec.HEADER.pack(codec.MAGIC, 2**32 - 1, 2**64 - 1)),
    "garbage": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"),
    "zeros": raw(b"\0" * 4096),
    "a flood": flood,
    "a million tiny frames": tiny,
    "an empty body": raw(frame_of(b"")),
    "half a body": raw(frame_of(b"\x96\x01")),
    "lists without end": raw(frame_of(b"\x91" * (1 << 20))),
    "a list longer than its frame": raw(frame_of(b"\xdd\xff\xff\xff\xff")),
    "text longer than its frame": raw(frame_of(b"\x91\xdb\xff\xff\xff\xff")),
    "invalid UTF-8": raw(frame_of(b"\x91\xa1\xff")),
    "an extension type": form(msgpack.ExtType(5, b"")),
    "a time stamp": form(msgpack.Timestamp(1)),
    "a map": form({1: 2}),
    "no list": message(lambda serial: "ok"),
    "too few fields": message(lambda serial: [serial, "ok", NOTHING]),
    "another id": message(lambda serial: [serial + 1, "ok", NOTHING, 0.0, 1, EMPTY]),
    "the first id that one would guess": message(lambda serial: [1, "ok", NOTHING, 0.0, 1, EMPTY]),
    "an id that is text": message(lambda serial: [str(serial), "ok", NOTHING, 0.0, 1, EMPTY]),
    "another kind of answer": message(lambda serial: [serial, "passed", NOTHING, 0.0, 1, EMPTY]),
    "deep nesting": form(nested(codec.MAX_DEPTH + 1)),
    "an unknown tag": form([99, 1]),
    "no tag": form([]),
    "a negative size": form(array_form(shape=(-1,)), TWO),
    "too many axes": form(array_form(shape=(1,) * 65), TWO),
    "dtype object": form(array_form("object"), TWO),
    "dtype O": form(array_form("O"), TWO),
    "dtype void": form(array_form("V16"), TWO),
    "a structured dtype": form(array_form("f8,f8"), TWO),
    "dates": form(array_form("datetime64[ns]"), TWO),
    "text that is none": form(array_form("U2"), b"\xff" * 16),
    "text of no length": form(array_form("U0", (1 << 30,)), TWO),
    "more values than bytes": form(array_form(shape=(3,)), TWO),
    "a place outside": form(array_form(offset=64), TWO),
    "a place that is not aligned": form(array_form(shape=(1,), offset=8), TWO),
    "a scalar of too few bytes": form([codec.SCALAR, "float64", b"1234"]),
    "a scalar object": form([codec.SCALAR, "O", b"12345678"]),
    "a boolean of 2": form([codec.SCALAR, "bool", b"\2"]),
    "a key that has no hash": form([codec.DICT, EMPTY, 1]),
    "a key that is there twice": form([codec.DICT, "a", 1, "a", 2]),
    "a member that has no hash": form([codec.SET, [codec.DICT]]),
    "a key without a value": form([codec.DICT, 1]),
    "a reference to nothing": form([codec.REFERENCE, 9]),
    "a type of its choice": form([codec.TYPE, "type", "eval"]),
    "an unknown function": form([codec.CALLBACK, 77]),
    "a function number that is text": form([codec.CALLBACK, "__class__"]),
    "a negative handle": form(handle(-1)),
    "a handle larger than any": form(handle(2**63)),
    "a handle of an unknown kind": form(handle(9, "__class__")),
    "a handle of another kind than before": form([codec.LIST, handle(9), handle(9, "class")]),
    "a handle without fields": form([codec.HANDLE, 9]),
    "a hundred thousand handles at once": form(lambda: [codec.LIST, *[handle(n) for n in range(10, 100_000)]]),
    "the state of a generator that is none": form([codec.GENERATOR, "PCG64", [["state", handle(9)]]]),
    "an unknown bit generator": form([codec.GENERATOR, "__class__", []]),
    "a call of a function never passed": message(lambda serial: [0, "callback", 7, [codec.TUPLE], [codec.DICT]]),
    "a call without arguments": message(lambda serial: [0, "callback", "__class__", 1, 2]),
    "notes that are none": message(lambda serial: [serial, "ok", None, 0.0, 1, EMPTY]),
    "printed bytes": message(lambda serial: [serial, "ok", [b"x", []], 0.0, 1, EMPTY]),
    "seconds that are text": message(lambda serial: [serial, "ok", NOTHING, "0", 1, EMPTY]),
    "too many warnings": message(lambda serial: [serial, "ok", ["", [["UserWarning", "x", 1]] * 21], 0.0, 1, EMPTY]),
    "a warning that is none": message(lambda serial: [serial, "ok", ["", [[[], "x", 1]]], 0.0, 1, EMPTY]),
    "a line that is text": message(lambda serial: [serial, "ok", ["", [["Warning", "x", "9" * 5000]]], 0.0, 1, EMPTY]),
    "an exception that is none": form(7, kind="error"),
    "changes that are none": form(1, changes=7),
    "a change of nothing": form(1, changes=[codec.LIST, [codec.TUPLE, 99, 1]]),
    "a change to another shape": form(1, TWO, changes=[codec.LIST, [codec.TUPLE, 0, array_form(shape=(1,))]]),
    "a change from a handle": form(1, changes=[codec.LIST, [codec.TUPLE, 1, handle(9)]]),
}  # fmt: skip

TOO_LARGE: dict[str, Script] = {
    "a huge shape": form(array_form(shape=(1 << 39, 1 << 39)), TWO),
    "an empty array with rows without end": form(array_form(shape=(1 << 40, 0))),
    "a range without end": form([codec.RANGE, 0, 1 << 62, 1]),
    "ranges in a range": form([codec.LIST, *[[codec.RANGE, 0, 1 << 20, 1]] * 100]),
    "one array met without end": form([codec.LIST, array_form("uint8", (1 << 20,)), *[[codec.REFERENCE, 3]] * 999],
                                      bytes(1 << 20)),
    "an integer of a megabyte": form([codec.BIGINT, b"\1" * (1 << 20)]),
    "rows without end": form(array_form(shape=(1 << 25, 0))),
    "empty rows of empty rows": form(array_form(shape=(1 << 16, 1 << 14, 0))),
    "a long axis of a few bytes": form(array_form("bool", (1 << 17, 1, 1)), bytes(1 << 17)),
    "a long list": form([codec.LIST, *[1] * 70_000]),
    "a long tuple in a list": form([codec.LIST, [codec.TUPLE, *[1] * 70_000]]),
    "a long set": form([codec.SET, *range(70_000)]),
    "a long dict": form([codec.DICT, *range(140_000)]),
    "a long range": form([codec.RANGE, 0, 70_000, 1]),
    "a body of more than a stage takes": form(lambda: "x" * (5 << 20)),
    "a blob of more than a stage takes": form(array_form(shape=(1 << 20,)), bytes(8 << 20)),
    "random generators without number": form([codec.LIST, *[generator_form()] * 1001]),
    "keys that are all alike": form(lambda: [codec.SET, *alike(3000)]),
    "keys that are all alike, in a change": form(1, changes=[codec.LIST, [codec.TUPLE, 2, pairs(3000)]]),
    "members that are all alike, in a change": form(1, changes=[codec.LIST, [codec.TUPLE, 3, members(3000)]]),
    "a list in a change that is larger than the one that was sent": form(
        1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, *[1] * 70_000]]]),
    "an argument that unfolds": form(1, changes=[codec.LIST, *[[codec.TUPLE, n, [codec.TUPLE, *[
        [codec.REFERENCE, n + 1]] * 9]] for n in range(4, 20)]]),
}  # fmt: skip

CONTAINING_THEMSELVES: dict[str, Script] = {
    "a list": form([codec.LIST, 1, [codec.REFERENCE, 21]]),
    "a dict": form([codec.DICT, "a", [codec.LIST, [codec.REFERENCE, 21]]]),
    "a list of lists that grows deep by what it refers to": form([codec.LIST, EMPTY, *[
        [codec.LIST, [codec.REFERENCE, n]] for n in range(22, 200)]]),
    "an argument": form(1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, [codec.REFERENCE, 1]]]]),
    "two arguments": form(1, changes=[codec.LIST, [codec.TUPLE, 1, [codec.TUPLE, [codec.REFERENCE, 4]]],
                                      [codec.TUPLE, 4, [codec.TUPLE, [codec.REFERENCE, 1]]]]),
}  # fmt: skip
