"""Blocks without a look for garbage."""

from __future__ import annotations

import gc

import pytest

from grader.garbage import uncollected


def test_no_garbage_is_looked_for_meanwhile() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_inner_of_two_blocks_leaves_the_outer_one_as_it_is() -> None:
    with uncollected():
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ValueError, match="meanwhile"), uncollected():
        raise ValueError("meanwhile")
    assert gc.isenabled()


def test_what_stays_is_never_looked_at_again() -> None:
    before = gc.get_freeze_count()
    with uncollected(stays=True):
        ring: list[object] = []
        ring.append(ring)
    assert gc.get_freeze_count() > before
    assert not any(each is ring for each in gc.get_objects())


def test_what_stays_of_a_block_within_another_is_never_looked_at_again() -> None:
    with uncollected():
        with uncollected(stays=True):
            ring: list[object] = []
            ring.append(ring)
        assert not any(each is ring for each in gc.get_objects())
