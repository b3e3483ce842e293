"""A module's text as something handed in, and what is said of it."""

from __future__ import annotations

from pathlib import Path

from grader.course.stage import Criterion, Forbidden, Stage
from grader.submission import Snapshot
from grader.submission.source import (
    Problem,
    check_source,
)

REASON = "This stage is about writing the products yourself."


FORBIDDEN = Forbidden(
    ("@", "**"), ("numpy.matmul", "numpy.dot", "numpy.linalg", "numpy.random", "statistics", "sum"), REASON
)


ROW = Criterion("products", "products", ("matmul", "Layer.forward", "trace"), (), ("a", "b", "c"))


STAGE = Stage("s01", Path("stages/s01_products"), "Products", "products.py", (), (ROW,), forbidden=FORBIDDEN)


def snapshot(source: str | bytes) -> Snapshot:
    data = source.encode() if isinstance(source, str) else source
    return Snapshot("products.py", data, "", Path("products.py"), "products.py")


def check(source: str | bytes) -> Problem | None:
    return check_source(STAGE, snapshot(source)).first


def problem(source: str | bytes, kind: str) -> Problem:
    found = check(source)
    assert found is not None
    assert found.kind == kind
    return found


def used(source: str) -> str:
    """What is said to be forbidden in it."""
    message = problem(source, "forbidden").message
    return message.partition(": ")[2].partition(" is not allowed")[0]
