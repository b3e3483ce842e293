"""What a training looks like: within the terminal's width, in ASCII where it has to be, and true."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from grader.capstone.session import Moment, Perplexities, TrainingResult
from grader.capstone.showing import about, moment_lines, outcome_lines, progress, recent, span, telling, whose
from grader.explore.cells import View
from grader.report.terminal.layout import Look

LOSSES = tuple(6 * math.exp(-step / 100) for step in range(430))
MOMENT = Moment(430, 1200, LOSSES, 86.0)


def setting(*sources: str, model: str = "", loop: str = "") -> Any:
    uses = [SimpleNamespace(use=SimpleNamespace(stage=f"s{n:02}", source=each)) for n, each in enumerate(sources, 1)]
    plan = SimpleNamespace(title="A model", model=model, loop=loop)
    own_loop = any(each.use.stage == loop and each.use.source == "own" for each in uses)
    return SimpleNamespace(plan=plan, own_loop=own_loop, snapshot=SimpleNamespace(uses=uses))


def outcome(perplexity: float) -> TrainingResult:
    text = "In the evening \x1b[31mshe walks\n" * 9
    return TrainingResult(MOMENT, perplexity, Perplexities(90.0, 4.0, 2.5), 600, 400, text)


@pytest.mark.parametrize("width", [30, 60, 80, 200])
@pytest.mark.parametrize("plain", [False, True])
def test_lines_stay_within_the_terminal(width: int, plain: bool) -> None:
    view = View(Look(width, plain), None)
    found = moment_lines("A model", MOMENT, view) + outcome_lines(setting("own", "reference"), outcome(2.0), view)
    assert max(len(line.plain.rstrip()) for line in found) <= width
    text = "\n".join(line.plain for line in found)
    assert "\x1b" not in text and (text.isascii() or not plain)


def test_how_far_it_is_in_words() -> None:
    assert progress(MOMENT) == "430 of 1200 steps · 1 min 26 s, about 2 min 34 s left"
    assert progress(Moment(0, 5, (), 0.0)) == "0 of 5 steps"
    assert recent(Moment(2, 5, (2.0, 1.0), 1.0)) == " · loss 1.500" and recent(Moment(0, 5, (), 0.0)) == ""
    assert span(0.2) == "0 s"


def test_whose_modules_are_used_is_told() -> None:
    assert whose(setting("own", "reference", "own", "given")) == (
        "Made of s01, s03: yours · s02: the reference's · s04: given by the course"
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("own", "Your own loop, that of s02, trains it."),
        ("reference", "The capstone's loop trains it; yours takes its place once your s02 has passed."),
    ],
)
def test_which_model_and_whose_loop_is_told(source: str, told: str) -> None:
    one = setting("own", source, model="s01", loop="s02")
    assert list(about(one))[1:] == ["The model is that of s01.", told]
    assert told in " ".join(
        " ".join(line.plain for line in outcome_lines(one, outcome(2.0), View(Look(80), None))).split()
    )
    assert len(list(about(setting("own", source)))) == 1


@pytest.mark.parametrize(("perplexity", "told"), [(2.0, "1.25 times better"), (2.6, "Tables of triples do better")])
def test_the_model_is_called_better_only_where_it_is(perplexity: float, told: str) -> None:
    lines = outcome_lines(setting("own"), outcome(perplexity), View(Look(80), None))
    assert told in " ".join(" ".join(line.plain for line in lines).split())


def test_where_nobody_watches_there_are_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with telling("A model", View(Look(80), None)) as tell:
        for step in range(101):
            tell(Moment(step, 100, tuple([1.0] * step), float(step)))
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 21 and "\x1b" not in said.err
