"""Each run's own user: drawn from what the namespace maps, never one that somebody has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.isolation import users
from grader.worker.confine import NOBODY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="users are looked for in /proc")


@pytest.fixture
def mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The map of a namespace, for users and groups."""
    path = tmp_path / "map"
    monkeypatch.setattr(users, "MAPS", (str(path),))
    yield path


def test_a_large_name_space_gives_a_large_choice(mapped: Path) -> None:
    mapped.write_text("         0          0 4294967295\n")
    drawn = {users.draw() for _ in range(20)}
    assert len(drawn) == 20 and all(user in users.POOLS[0] for user in drawn)


def test_a_container_that_maps_few_gives_a_smaller_one(mapped: Path) -> None:
    mapped.write_text("         0     100000      65536\n")
    assert users.draw() in users.POOLS[1]


@pytest.mark.parametrize("text", ["0 1000 1\n", "", "nonsense\n"])
def test_where_nothing_is_mapped_nobody_is_left(mapped: Path, text: str) -> None:
    mapped.write_text(text)
    assert users.draw() == NOBODY


def test_several_lines_of_a_map_are_read(mapped: Path) -> None:
    mapped.write_text("0 1000 1\n1 100000 65535\n")
    assert users.draw() in users.POOLS[1]


def test_a_user_that_has_a_process_or_an_account_is_not_drawn(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped.write_text("0 0 4294967295\n")
    monkeypatch.setattr(users, "POOLS", (range(7, 10),))
    monkeypatch.setattr(users, "_running", lambda: iter([7]))
    monkeypatch.setattr(users, "_accounts", lambda: iter([8]))
    assert users.draw() == 9
    monkeypatch.setattr(users, "_accounts", lambda: iter([8, 9]))
    assert users.draw() == NOBODY


def test_processes_and_accounts_are_looked_up() -> None:
    assert os.getuid() in set(users._running())
    assert {0, NOBODY} <= set(users._accounts())


def test_tasks_are_counted() -> None:
    assert users.tasks_of(os.getuid()) >= 1
    assert users.tasks_of(users.POOLS[0].stop) == 0
