"""Where a call was when its budget of steps was used up, as a learner's process tells it: lines, and nothing else."""

from __future__ import annotations

from typing import Any

from grader.protocol import codec
from grader.remote.record import line_of
from grader.submission.source.loops import Span

STEPS = 200_000  # lines of the learner's module, and beginnings of its functions
MOST_SPANS = 32


def spans(form: Any) -> tuple[Span, ...]:
    """Return the spans that a process sent, the likeliest first; WireError for another form."""
    if type(form) is not list or len(form) > MOST_SPANS:
        raise codec.WireError("steps of another form")
    return tuple(map(_span, form))


def _span(form: Any) -> Span:
    match form:
        case [int(first), bool(is_expression), int(low), int(high)]:
            return Span(line_of(first), is_expression, line_of(low), line_of(high))
    raise codec.WireError("steps of another form")
