"""Stage 18 explored: a GPT learns the course's sentences and continues a prompt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drawings.s18 import steps as s18
from grader.course.provided import data_beside
from grader.errors import UsageError
from grader.explore.example import example
from tests.explore.exploring import COURSE, charts, explored, images, parts, wrong_is_told

PATIENCE = 300.0  # seconds, for a training of one second


def test_the_reference_learns_and_finds_the_verb(tmp_path: Path) -> None:
    found = explored(tmp_path, "s18", seconds=PATIENCE)
    assert found.fine, parts(found)
    assert "“the cows near the old barn”" in found.given
    (loss,) = charts(found, "loss")["Cross-entropy of the next word"].series
    assert loss.y[-1] < 0.4 * loss.y[0]
    assert parts(found)["expected"].facts[0].text.startswith("next word: moo ")
    assert "moo (" in parts(found)["weights"].facts[0].text
    heads = images(found, "heads")
    assert list(heads) == [f"head {number}" for number in range(4)]
    for head in heads.values():
        assert head.row_names[:6] == head.column_names[:6] == ("the", "cows", "near", "the", "old", "barn")
        assert np.allclose(np.triu(head.values, 1), 0)
    assert len(parts(found)["samples"].facts) == 3


test_what_is_wrong_is_told = wrong_is_told("s18", [
    ("GPT.forward", "return _right(self, *args)[:, -1]", "model", "failed", "logits: shape (1, 26)"),
    ("GPT.forward", "return _right(self, *args) * np.nan", "model", "failed", "logits: all 156 values are NaN"),
    ("GPT.backward", "self.backward = None", "losses", "failed", "grads should be a dict"),
], seconds=PATIENCE)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [("the horse", "do not use the word horse"), (" ".join(["the"] * 13), "--words has 13 words: at most 11")],
)
def test_a_prompt_that_cannot_be_continued_is_refused(words: str, message: str) -> None:
    files = data_beside(COURSE.find("s18").folder)
    with pytest.raises(UsageError, match=message):
        s18.start(example(words, None, None), 0, files)


def test_a_prompt_of_ones_own_is_read() -> None:
    known = s18.start(example("the cow", None, None), 0, data_beside(COURSE.find("s18").folder))
    assert [known["words"][token] for token in known["prompt"][0]] == ["the", "cow"]
