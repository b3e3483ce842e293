"""Which version is the newer one."""

from __future__ import annotations

import pytest

from grader.course.versions import is_newer


@pytest.mark.parametrize(
    ("newer", "older"), [("0.10.0", "0.9.1"), ("1.0", "0.99"), ("1.0.1", "1"), ("0.2.0", "0.2.0rc1"), ("1b2", "1a9")]
)
def test_numbers_are_compared_as_numbers_and_a_release_follows_its_pre_releases(newer: str, older: str) -> None:
    assert is_newer(newer, older) and not is_newer(older, newer)


@pytest.mark.parametrize(("one", "other"), [("1.0", "1.0.0"), ("0.1.0", "0.1.0"), ("tomorrow", "1.0"), ("1.0", "")])
def test_neither_is_newer_where_they_are_equal_or_unreadable(one: str, other: str) -> None:
    assert not is_newer(one, other) and not is_newer(other, one)
