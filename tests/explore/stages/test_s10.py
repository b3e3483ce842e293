"""Stage 10 explored: ids, pieces, training, and a map on which words of one kind lie together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, stubbed, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 5])
def test_the_reference_gathers_words_of_one_kind(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s10", seed=seed)
    assert found.fine, parts(found)
    assert found.ran.seed == seed
    before, panel = maps(found, "map").values()
    assert before.title == "Before training"
    kinds = [np.array([points.x, points.y]).T for points in panel.points]
    assert [len(each) for each in kinds] == [4, 4, 4, 4]
    middles = np.array([each.mean(axis=0) for each in kinds])
    for number, places in enumerate(kinds):
        distances = np.linalg.norm(places[:, None] - middles, axis=2)
        assert (distances.argmin(axis=1) == number).all()
    (loss,) = charts(found, "loss")["Training"].series
    assert loss.y[-1] < 0.7 * loss.y[0]
    (pieces,) = charts(found, "pieces")["Byte pair encoding"].series
    assert pieces.y[-1] < 0.4 * pieces.y[0]


def test_a_stub_s_last_step_waits_for_the_vocabulary(tmp_path: Path) -> None:
    found = stubbed(tmp_path, "s10")
    assert parts(found)["near"].waits_for == "build_vocabulary"


test_what_is_wrong_is_told = wrong_is_told("s10", [
    ("build_vocabulary", "return list(args[0])", "vocabulary", "failed", "a dict from token to id"),
    ("encode", "return _right(*args) * 0", "ids", "failed", "should have the id"),
    ("byte_pair_merges", "return [(300, 1)]", "merges", "failed", "only ids 0 to 255 exist by then"),
    ("bpe_decode", "return 'no'", "lengths", "warning", "should give the text back"),
    ("skip_gram_pairs", "return _right(*args)[:-1]", "pairs", "failed", "shape"),
    ("negative_sampling_loss", "return _right(*args)[0] * np.nan, _right(*args)[1]", "table", "failed", "nan"),
    ("negative_sampling_loss", "l, g = _right(*args); return l, {k: -v for k, v in g.items()}", "table", "failed",
     "the gradients say"),
    ("nearest_neighbors", "i, s = _right(*args); return i[::-1], s[::-1]", "near", "warning", "largest first"),
])  # fmt: skip
