"""The steps of an exploration in a terminal: what each shows, and nothing that controls the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from grader.explore.example import example
from grader.explore.model import Exploration, Fact, Part, Ran, StepResult, WeightMap
from grader.explore.terminal.heatmap import View
from grader.explore.terminal.telling import exploration_lines
from grader.outcome import Where
from grader.report.terminal.layout import Look
from grader.submission.parsing import Problem
from grader.tests.explore.terminal.maps import attention, both, plain

RAN = Ran("attention.py", "0" * 64, "process", None, None)
PART = Part(
    "raw", "scores(Q, K)", "scores", "passed", (4, 4), ("seq_q", "seq_k"), (Fact("range", (0, 1), "range [0, 1]"),)
)
EVIL = "\x1b[2J[red]\u202e"


def step(part: Part, notice: str | None = None) -> StepResult:
    return StepResult("raw-scores", "Raw scores", "What it means.", (part,), notice)


def exploration(*steps: StepResult, maps: tuple[WeightMap, ...] = (), words: str | None = None) -> Exploration:
    return Exploration("s15", "Attention", example(words, None, None), RAN, steps, maps)


def test_a_step_shows_call_numbers_shape_meaning_and_notice() -> None:
    lines = plain(exploration_lines(exploration(step(PART, "see this.")), View(Look(80), None)))
    assert lines[0].startswith("s15 · Attention, step by step")
    assert "1 of 1 steps" in lines[0]
    assert lines[1] == "    “The cat sat down”"
    assert lines[2] == "    4 words · 6 features each · 2 heads · words are queries, keys and values"
    assert "    down     0.5       0       0     0.5       1       1" in lines
    assert lines[-5:] == [
        "✓ 1 Raw scores",
        "    scores(Q, K)",
        "    range [0, 1]    shape (seq_q 4, seq_k 4)",
        "    What it means.",
        "    Notice: see this.",
    ]


def test_a_product_stays_a_product_in_ascii() -> None:
    part = replace(
        PART, code="dY · W_Oᵀ", facts=(Fact("a", (1,), "v · w 1"),), status="warning", message="it is 1·5 + 2·7"
    )
    lines = plain(exploration_lines(exploration(step(part)), View(Look(80, ascii=True), None)))
    assert "    dY * W_O^T" in lines
    assert any(line.startswith("    v * w 1") for line in lines) and "    it is 1 * 5 + 2 * 7" in lines


def test_what_comes_next_waits_or_went_wrong_is_said_at_the_right() -> None:
    where = Where("attention.py", 7)
    bare = replace(PART, shape=None, facts=())
    steps = [
        step(replace(bare, status="not_started", message="scores is not written yet", waits_for="scores", where=where)),
        step(replace(bare, status="not_started", message="mask is not written yet", waits_for="mask", where=where)),
        step(replace(bare, status="blocked", message="waits for scores", waits_for="scores")),
        step(replace(bare, status="timed_out", message="scores did not return within 10 s")),
        step(replace(PART, status="warning", message="rows should sum to 1", where=where)),
    ]
    found = replace(exploration(*steps), next_function="scores")
    lines = plain(exploration_lines(found, View(Look(80), None)))
    heads = [line.split("Raw scores")[1].strip() for line in lines if "Raw scores" in line]
    assert heads == ["comes next", "not written yet", "waits for scores", "timed out", "look here"]
    assert sum("scores is not written yet" in line for line in lines) == 1
    assert "    waits for scores" not in lines
    assert any(line.endswith("attention.py:7") for line in lines)


def test_nothing_that_a_module_says_controls_the_terminal() -> None:
    part = replace(PART, status="failed", message=EVIL, notes=(f"printed: {EVIL}",), where=Where(f"{EVIL}.py", 1))
    found = exploration(step(part), maps=(attention(1),), words=f"a{EVIL}")
    found = replace(found, title=EVIL)
    console = Console(width=80, markup=False, emoji=False, highlight=False, soft_wrap=True, color_system=None)
    with console.capture() as captured:
        for line in exploration_lines(found, View(Look(80), None)):
            console.print(line)
    text = captured.get()
    assert all(char == "\n" or char.isprintable() for char in text)
    assert "\\x1b[2J[red]" in text


def test_a_long_message_is_cut() -> None:
    part = replace(PART, status="failed", shape=None, facts=(), message="\n".join(["x" * 1000] * 50))
    assert len(exploration_lines(exploration(step(part)), View(Look(80), None))) < 45


def test_a_module_that_cannot_be_run_is_one_message() -> None:
    problem = Problem("syntax", "line 3: expected ':'", 3, "Add it.")
    lines = plain(exploration_lines(replace(exploration(), problem=problem), View(Look(80), None)))
    assert lines[-3:] == [
        "✗ attention.py:3 cannot be explored as it is", "    line 3: expected ':'", "    Add it.",
    ]  # fmt: skip


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("width", [24, 80, 120])
def test_the_whole_keeps_to_the_width(width: int, ascii_only: bool) -> None:
    found = exploration(step(PART, "see this"), maps=both(4))
    lines = exploration_lines(found, View(Look(width, ascii_only), None))
    assert max(line.cell_len for line in lines) <= width
    assert not ascii_only or all(line.plain.isascii() for line in lines)
