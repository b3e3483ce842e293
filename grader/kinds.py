"""The kinds of tests and the ways that a test ends, as every document names them."""

from __future__ import annotations

from typing import Literal, get_args

Status = Literal["passed", "failed", "not_started", "blocked", "crashed", "timed_out", "over_limit", "grader_fault"]
# What a test asks of an answer: right values; that bad input is refused; the dtype; cases at the edges; that arguments
# stay as they were; that it is fast enough; that it holds little memory.
Kind = Literal["values", "refusals", "dtype", "edges", "purity", "speed", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)
