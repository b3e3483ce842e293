"""Stage 19 explored: a sentence that a trained Transformer reverses, and where it looked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drawings.s19.steps import start
from grader.course.stage import Limits
from grader.errors import UsageError
from grader.explore.example import example
from grader.explore.model import Exploration, Images
from grader.explore.session import explore
from grader.submission import take
from grader.submission.earlier import used_modules
from tests.explore.exploring import COURSE, broken, charts, drawing, images, parts, reference

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")

WORDS = "one two three"


def explored(folder: Path, text: str, words: str = WORDS) -> Exploration:
    """Explore a module's text with a sentence in a plain process."""
    stage = replace(COURSE.find("s19"), limits=Limits(120, 60, 1024))
    file = folder / stage.module
    file.write_text(text, encoding="utf-8")
    snapshot = replace(take(stage, file, COURSE.root), uses=used_modules(stage))
    return explore(COURSE, stage, snapshot, example(words, None, None), 0, "process")


def test_the_reference_reverses_a_sentence_and_looks_where_the_words_stand(tmp_path: Path) -> None:
    found = explored(tmp_path, reference("s19"))
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


def test_a_stub_begins_with_cross_attention(tmp_path: Path) -> None:
    reference("s19")
    found = explored(tmp_path, COURSE.find("s19").module_path.read_text(encoding="utf-8"))
    assert (found.fine, found.drawings) == (False, ())
    assert (found.next_function or "").startswith("CrossAttention")


@pytest.mark.some_of(3)
@pytest.mark.parametrize(
    ("function", "body", "part", "status", "message"),
    [
        ("label_smoothing_gradient", "return -_right(*args)", "losses", "warning", "the loss should fall"),
        ("label_smoothing_loss", "return None", "losses", "failed", "None where a number was expected"),
        ("Transformer.params", "pass", "losses", "failed", "params should be a dict"),
        ("CrossAttention.forward", "return _right(*args[:3])", "padding", "warning", "padding should get no weight"),
        ("CrossAttention", "return 3", "look-up", "failed", "is int, where an object of one of your classes"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, function: str, body: str, part: str, status: str, message: str) -> None:
    text = broken("s19", function, body)
    if "." in function:
        name = function.replace(".", "_")
        text = (
            f"{reference('s19')}\n\n_right = {function}\n\n\ndef {name}(*args):\n    {body}\n\n\n{function} = {name}\n"
        )
    found = explored(tmp_path, text)
    assert (found.fine, parts(found)[part].status) == (False, status)
    assert message in parts(found)[part].message


def test_heads_that_do_not_divide_the_usual_features_get_more_of_them() -> None:
    for heads in (1, 2, 3, 6):
        assert start(example(WORDS, None, heads), 0)["dim"] == 24
    assert start(replace(example(WORDS, None, 1), heads=5), 0)["dim"] == 25


def test_a_long_sentence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the sentence has 11 words: at most 10"):
        explored(tmp_path, reference("s19"), "a b c d e f g h i j k")
