"""What a test expected to be raised, noted on an exception of another kind that came instead."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest


class _Noting:
    """A `with pytest.raises(…)` that lets another exception pass, as pytest's own does, with a note on it."""

    def __init__(self, context: Any, expected: Any) -> None:
        self._context = context
        self._expected = expected if isinstance(expected, tuple) else (expected,)

    def __enter__(self) -> Any:
        return self._context.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> Any:
        swallowed = self._context.__exit__(kind, error, trace)
        if isinstance(error, Exception) and not swallowed:
            names = [getattr(each, "__name__", str(each)) for each in self._expected]
            error.expected_instead = " or ".join(names)  # type: ignore[attr-defined]
        return swallowed


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Have `pytest.raises` note what it expected while the block lasts."""
    original: Any = pytest.raises

    def raises(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        return _Noting(made, args[0]) if len(args) == 1 else made

    pytest.raises = raises
    try:
        yield
    finally:
        pytest.raises = original
