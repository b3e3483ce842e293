"""Parts of a manifest: its head, two criteria of the checklist, and every table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Write = Callable[..., Path]

HEAD = """\
schema = 1
id = "s15"
title = "Attention mechanisms"
module = "attention.py"
"""
SPLIT = """
[[criteria]]
id = "split-heads"
text = "split_heads reshapes for multi-head"
functions = ["split_heads"]
hints = ["a nudge", "the idea", "nearly the answer"]
"""
FORWARD = """
[[criteria]]
id = "forward"
text = "MultiHeadAttention joins the heads"
functions = ["merge_heads", "MultiHeadAttention", "split_heads"]
needs = ["split-heads"]
hints = ["a nudge", "the idea", "nearly the answer"]
"""
TABLES = """
[limits]
stage_seconds = 30
call_seconds = 2.5
memory_mb = 256
judge_mb = 128
result_mb = 8
result_rows = 99
[tolerance]
float64 = 1e-8
float32 = 1e-3
[forbidden]
operators = ["@"]
names = ["numpy.matmul", "numpy.linalg"]
reason = "This stage is about writing them."
[axes]
split_heads = { x = "batch seq d_model", returns = "batch heads seq 2*d_k" }
"""


def other(stage_id: str, requires: str = "[]", module: str = "other.py") -> str:
    return HEAD.replace("s15", stage_id).replace("attention.py", module) + f"requires = {requires}\n" + SPLIT
