"""A store, and a file of progress that a test writes by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.progress.store import Store

WHEN = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def write(store: Store, text: str | bytes) -> None:
    store.folder.mkdir(exist_ok=True)
    store.file.write_bytes(text.encode() if isinstance(text, str) else text)


def names(store: Store) -> list[str]:
    return sorted(each.name for each in store.folder.iterdir())
