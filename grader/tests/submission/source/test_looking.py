"""The order in which problems of a module are told."""

from __future__ import annotations

import pytest

from grader.course.stage import Forbidden
from grader.submission.source import looking
from grader.submission.source.looking import look, look_at_bytes
from grader.submission.source.parsing import TOO_DEEP
from grader.submission.source.problem import Reading

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

    monkeypatch.setattr(looking, "read_forbidden", too_deep)
    assert look("x = 1", "a.py", FORBIDDEN) == Reading(TOO_DEEP)
