"""What the process says that reads a text which is not plain; its end by limits is in test_apart.py."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from grader.course.stage import Forbidden
from grader.submission.source import reader
from grader.submission.source.parsing import TOO_DEEP
from grader.submission.source.problem import Problem, Reading
from grader.submission.source.reader import MEMORY_BYTES, TOO_LARGE

NOTHING = Forbidden((), (), "")


def answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: str) -> Any:
    request = {"source": source, "module": "a.py", "operators": [], "names": [], "reason": "", "functions": []}
    request["packages"] = ["numpy"]
    monkeypatch.setattr(reader, "_limit", lambda: None)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(request).encode())))
    reader.main()
    return json.loads(capsys.readouterr().out)


def test_nothing_to_say_is_no_problem(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    expected: dict[str, object] = {"problem": None, "refused": {}, "forbidden": None, "stood_in": []}
    assert answer(monkeypatch, capsys, "x = 1") == expected


def test_a_problem_is_all_its_fields(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = Problem(**answer(monkeypatch, capsys, "x = ")["problem"])
    assert (found.kind, found.line) == ("syntax", 1)


def test_a_lack_of_memory_is_told_from_a_lack_of_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "look_at_bytes", lambda *_: Reading(TOO_DEEP))
    monkeypatch.setattr(reader, "_peak", lambda: MEMORY_BYTES)
    assert reader._looked(b"", "a.py", NOTHING).problem == TOO_LARGE
    monkeypatch.setattr(reader, "_peak", lambda: MEMORY_BYTES // 10)
    assert reader._looked(b"", "a.py", NOTHING).problem == TOO_DEEP


def test_a_lack_of_memory_after_parsing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, "look_at_bytes", none_left)
    assert reader._looked(b"", "a.py", NOTHING).problem == TOO_LARGE


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not say")
def test_the_most_memory_so_far_is_in_bytes() -> None:
    assert 5 << 20 < reader._peak() < 1 << 40
