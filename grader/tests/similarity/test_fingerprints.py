"""Fingerprints: a shared run is found wherever it stands, and a short one never."""

from __future__ import annotations

import random

import pytest

from grader.similarity.fingerprints import MOST_PLACES, WINDOW, K, fingerprints, runs


def row(count: int, seed: int) -> list[str]:
    drawn = random.Random(seed)
    return [f"{seed}-{drawn.randrange(10**6)}" for _ in range(count)]


def test_a_rolling_hash_is_that_of_each_run_by_itself() -> None:
    kinds = row(40, 1)
    assert runs(kinds) == [runs(kinds[at : at + K])[0] for at in range(40 - K + 1)]


@pytest.mark.parametrize("length", [0, 1, K - 1])
def test_a_row_that_is_too_short_has_none(length: int) -> None:
    assert runs(row(length, 1)) == []
    assert fingerprints(row(length, 1)) == {}


@pytest.mark.parametrize("length", [K, K + 1, K + WINDOW - 1])
def test_a_short_row_has_one_at_least(length: int) -> None:
    assert fingerprints(row(length, 1))


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_two_rows_share_is_found_wherever_it_stands(seed: int) -> None:
    shared = row(K + WINDOW - 1, 1000 + seed)
    one = row(seed * 7, 1) + shared + row(30, 2)
    other = row(90, 3) + shared + row(seed, 4)
    assert set(fingerprints(one)) & set(fingerprints(other))


def test_less_than_a_run_is_not_found() -> None:
    shared = row(K - 1, 5)
    one, other = row(30, 1) + shared + row(30, 2), row(30, 3) + shared + row(30, 4)
    assert not set(runs(one)) & set(runs(other))


def test_places_are_where_the_run_stands() -> None:
    kinds = row(60, 1)
    hashes = runs(kinds)
    assert all(hashes[place] == value for value, places in fingerprints(kinds).items() for place in places)


def test_what_repeats_without_end_is_remembered_in_few_places() -> None:
    assert [len(places) for places in fingerprints(["x"] * 500).values()] == [MOST_PLACES]
