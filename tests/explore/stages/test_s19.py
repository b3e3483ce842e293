"""Stage 19 explored: a sentence that a trained Transformer reverses, and where it looked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drawings.s19.steps import start
from grader.errors import UsageError
from grader.explore.example import example
from grader.explore.model import Images
from tests.explore.exploring import charts, drawing, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")

WORDS = example("one two three", None, None)


def test_the_reference_reverses_a_sentence_and_looks_where_the_words_stand(tmp_path: Path) -> None:
    found = explored(tmp_path, "s19", sentence=WORDS)
    assert found.fine, parts(found)
    assert parts(found)["alignment"].facts[0].text == "written: three two one (end)"
    (loss,) = charts(found, "loss")["Reversed sentences"].series
    assert loss.y[-1] < 0.7 < 1.5 < loss.y[0]
    alignment = drawing(found, "alignment")
    assert isinstance(alignment, Images)
    heads = images(found, "alignment")
    assert list(heads) == ["Head 0", "Head 1"]
    assert heads["Head 0"].row_names == ("three", "two", "one", "(end)")
    assert heads["Head 0"].column_names == ("one", "two", "three", "(end)")
    mean = np.mean([image.values for image in heads.values()], axis=0)
    assert (mean[:3].argmax(axis=1) == [2, 1, 0]).all()


test_what_is_wrong_is_told = wrong_is_told("s19", [
    ("label_smoothing_gradient", "return -_right(*args)", "losses", "warning", "the loss should fall"),
    ("label_smoothing_loss", "return None", "losses", "failed", "None where a number was expected"),
    ("Transformer.params", "pass", "losses", "failed", "params should be a dict"),
    ("CrossAttention.forward", "return _right(self, *args[:2])", "padding", "warning", "padding should get no weight"),
    ("CrossAttention", "return 3", "look-up", "failed", "is int, where an object of one of your classes"),
], sentence=WORDS)  # fmt: skip


def test_heads_that_do_not_divide_the_usual_features_get_more_of_them() -> None:
    for heads in (1, 2, 3, 6):
        assert start(example("one two three", None, heads), 0)["dim"] == 24
    assert start(replace(WORDS, heads=5), 0)["dim"] == 25


def test_a_long_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the sentence has 11 words: at most 10"):
        explored(tmp_path, "s19", sentence=example("a b c d e f g h i j k", None, None))
