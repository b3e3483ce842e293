"""What a module draws without a seed is the same in each test and each process, and new within one test."""

from __future__ import annotations

import time

import numpy as np
import pytest

from grader.sandbox.connection import RemoteModule
from grader.worker.draws import Draws
from tests.conftest import Start
from tests.support.patience import SLACK

SOURCE = """
import random
import numpy as np
LOADED = float(np.random.default_rng().random()), float(np.random.rand()), random.random()
def loaded(): return LOADED
def generator(): return float(np.random.default_rng().random())
def bits(): return int(np.random.PCG64().random_raw())
def sequence(): return float(np.random.Generator(np.random.MT19937(np.random.SeedSequence())).random())
def old_functions(): return float(np.random.rand())
def of_python(): return random.random()
"""
DRAWING = ("generator", "bits", "sequence", "old_functions", "of_python")


@pytest.fixture(scope="module")
def drawn(start: Start) -> list[dict[str, tuple[float, float]]]:
    """What each function draws, twice, in a test of its own: in two processes, and in each in two tests."""
    found = []
    for _ in range(2):
        process = start(SOURCE, "process", call_seconds=SLACK).process
        for _ in range(2):
            told = {}
            for name in ("loaded", *DRAWING):
                connection = process.open(time.monotonic() + 3 * SLACK)
                function = getattr(RemoteModule(connection, "small.py"), name)
                told[name] = function(), function()
                connection.end()
                process.done(connection)
            found.append(told)
        process.kill()
    return found


@pytest.mark.parametrize("function", ["loaded", *DRAWING])
def test_each_test_begins_from_the_same_numbers(drawn: list[dict[str, tuple[float, float]]], function: str) -> None:
    assert len({each[function] for each in drawn}) == 1


@pytest.mark.parametrize("function", DRAWING)
def test_within_a_test_the_numbers_are_new_ones(drawn: list[dict[str, tuple[float, float]]], function: str) -> None:
    first, second = drawn[0][function]
    assert first != second


def test_a_copy_goes_on_from_where_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.random.bit_generator, "randbits", None)
    first = Draws()

    def drawn(draws: Draws) -> float:
        draws.use()
        return float(np.random.default_rng().random())

    drawn(first)
    second = first.copied()
    assert drawn(first) == drawn(second) != drawn(first)
