"""What stage s23's README says of its text and of what was measured holds: its tables are read and recomputed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import pytest

from grader.course.manifest import load_course
from illustrations.references import reference
from tests.support.places import ROOT

COURSE = load_course(ROOT)
LENGTH, BATCH, RATE = 24, 8, 0.015
CLOSE = 0.1  # of a perplexity after training: additions in another order lead elsewhere

Batch = tuple[Any, Any]


def table(beginning: str) -> list[list[str]]:
    """Return the cells of the rows below the table's head that begins so."""
    page = COURSE.find("s23").readme_path.read_text(encoding="utf-8")
    lines = page[page.index(beginning) :].splitlines()[2:]
    rows = lines[: next(n for n, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def text(stage: str) -> bytes:
    return (COURSE.find(stage).folder / "data" / "sentences.txt").read_bytes()


def test_the_text_is_that_of_s18() -> None:
    assert text("s23") == text("s18")


@pytest.mark.parametrize("row", table("| depth | size of the stream"), ids=lambda row: row[0])
def test_new_models_begin_as_the_table_says(row: list[str], is_full: bool) -> None:
    if int(row[0]) > 8 and not is_full:
        pytest.skip("many blocks are built with --all-tiers alone")
    sizes, first = zip(*(beginning(int(row[0]), scaled=False, seed=seed) for seed in range(10)), strict=True)
    scaled_sizes, scaled_first = zip(*(beginning(int(row[0]), scaled=True, seed=s) for s in range(10)), strict=True)
    found = [median(each) for each in (sizes, first, scaled_sizes, scaled_first)]
    assert found == pytest.approx([float(cell) for cell in row[1:]], abs=0.006)


def beginning(depth: int, scaled: bool, seed: int) -> tuple[float, float]:
    """Return the root mean square of what leaves the last block of a new model, and its first loss."""
    s23, rng = reference("s23"), np.random.default_rng(seed)
    model = s23.ModernGPT(26, depth, 32, 4, 2, 88, rng)
    if scaled:
        s23.scaled_initialisation(model, depth, rng)
    ids = rng.integers(0, 26, size=(8, LENGTH + 1))
    x = model.params["token_embedding"][ids[:, :-1]]
    for block in model.blocks:
        x = block.forward(x)
    loss, _ = s23.cross_entropy_loss(model.forward(ids[:, :-1]), ids[:, 1:])
    return float(np.sqrt((x**2).mean())), float(loss)


def test_perplexities_are_those_of_the_table(is_full: bool) -> None:
    rows = {row[0]: [float(cell) for cell in row[1:]] for row in table("| model | median | best | worst |")}
    s18, s23 = reference("s18"), reference("s23")
    words, training, held_out = read()
    makers: dict[str, Any] = {
        "s18's GPT": lambda rng: s18.GPT(words, LENGTH, 1, 32, 4, rng),
        "ModernGPT": lambda rng: s23.ModernGPT(words, 1, 32, 4, 2, 108, rng),
    }
    for name, (middle, best, worst) in rows.items():
        found = [trained(makers[name], training, held_out, seed) for seed in range(24 if is_full else 1)]
        assert best - CLOSE <= min(found) <= max(found) <= worst + CLOSE
        assert not is_full or median(found) == pytest.approx(middle, abs=CLOSE)
    sizes = {sum(value.size for value in make(None).params.values()) for make in makers.values()}
    assert sizes == {14368}


def read() -> tuple[int, Any, Any]:
    """Return how many tokens there are, and both parts of the text."""
    lines = [[".", *line.split()[:-1]] for line in text("s23").decode().splitlines()]
    index = {word: place for place, word in enumerate(sorted({word for line in lines for word in line}))}
    parts = [np.array([index[word] for line in part for word in line]) for part in (lines[:700], lines[800:])]
    return len(index), parts[0], parts[1]


def trained(make: Any, training: Any, held_out: Any, seed: int) -> float:
    """Return the perplexity on the held-out text after 150 steps of AdamW."""
    s05, s23 = reference("s05"), reference("s23")
    model = make(np.random.default_rng(seed))
    drawn = batches(np.random.default_rng(seed + 100), training)
    s23.train(model, drawn, s05.adamw_step, lambda step: s05.warmup_cosine(step + 1, RATE, 15, 150), 150)
    stretches = np.stack([held_out[at : at + LENGTH + 1] for at in range(0, len(held_out) - LENGTH, LENGTH)])
    loss, _ = s23.cross_entropy_loss(model.forward(stretches[:, :-1]), stretches[:, 1:])
    return float(np.exp(loss))


def batches(rng: np.random.Generator, ids: Any) -> Iterator[Batch]:
    """Yield (ids, targets) from places of the text drawn at random, for ever."""
    while True:
        stretches = ids[rng.integers(0, len(ids) - LENGTH, size=BATCH)[:, None] + np.arange(LENGTH + 1)]
        yield stretches[:, :-1], stretches[:, 1:]


def test_what_is_kept_of_a_token_in_llama_2() -> None:
    page = COURSE.find("s23").readme_path.read_text(encoding="utf-8")
    told = [float(each) for each in re.findall(r"([\d.]+) MB", page)]
    assert told == pytest.approx([2 * 80 * heads * 128 * 2 / 1e6 for heads in (64, 8)], abs=0.03)


@pytest.mark.parametrize("row", table("| base | pairs that complete no turn"), ids=lambda row: row[0])
def test_slow_pairs_are_as_slow_as_the_table_says(row: list[str]) -> None:
    rates = float(row[0].replace(",", "")) ** (-np.arange(0, 64, 2) / 64)
    assert int(row[1]) == int((rates * 4096 < 2 * np.pi).sum())
    assert [float(cell) for cell in row[2:]] == pytest.approx([rates[-1] * 4095, rates[-1] * 32767], abs=0.0006)
