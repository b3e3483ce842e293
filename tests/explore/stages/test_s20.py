"""Stage 20 explored: patches, kernels, a model that learns digits, and what its class token looks at."""

from __future__ import annotations

import numpy as np
import pytest

from drawings.s20 import steps as s20
from grader.explore.model import Exploration
from tests.explore.exploring import charts, drawing, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    return explored(tmp_path_factory.mktemp("right"), "s20", seed=1)


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train a little only: what is tested is what is told of other steps, or of a training that fails."""
    monkeypatch.setattr(s20, "STEPS_TAKEN", 4)


def test_the_reference_is_cut_into_patches_and_learns(right: Exploration) -> None:
    assert right.fine, parts(right)
    cut = {title: np.array(image.values) for title, image in images(right, "patches").items()}
    assert cut["image"].shape == (8, 8)
    np.testing.assert_allclose(cut["first 8 patches"][1], cut["image"][:2, 2:4].ravel())
    np.testing.assert_allclose(cut["first 8 patches"][4], cut["image"][2:4, :2].ravel())
    (loss,) = charts(right, "loss")["Cross-entropy"].series
    assert np.mean(loss.y[-10:]) < 0.5 * np.mean(loss.y[:10])
    facts = {fact.name: fact.values for fact in parts(right)["training"].facts}
    assert facts["right"][0] > 0.5


def test_maps_of_the_class_token_lie_below_their_digits(right: Exploration) -> None:
    panels = {title: np.array(image.values) for title, image in images(right, "rollout").items()}
    assert list(panels) == ["a 2", "a 4", "a 7", "map of 2", "map of 4", "map of 7"]
    for digit in (2, 4, 7):
        shown = panels[f"map of {digit}"]
        assert shown.shape == (8, 8) and shown.max() == 1
        np.testing.assert_array_equal(shown[::2, ::2], shown[1::2, 1::2])
    assert len(images(right, "kernels")) == 6
    (share,) = (fact.values[0] for fact in parts(right)["training"].facts if fact.name == "right")
    assert f"gets {share:.0%} of other digits right" in drawing(right, "rollout").caption


test_what_is_wrong_is_told = pytest.mark.usefixtures("few_steps")(wrong_is_told("s20", [
    ("patchify", "return args[0].reshape(_right(*args).shape)", "patches", "warning", "pieces of lines"),
    ("patchify", "return _right(*args)[:, ::-1]", "patches", "warning", "windows in reading order"),
    ("unpatchify", "return _right(*args)[:, :, ::-1]", "back", "warning", "the image that was cut"),
    ("PatchEmbedding", "return 3", "embedding", "failed", "PatchEmbedding(…) is int"),
    ("ViT", "return 3", "model", "failed", "ViT(…) is int"),
    ("attention_rollout", "return _right(args[0][::-1])", "rollout", "warning", "in reverse"),
    ("attention_rollout", "return 2 * _right(*args)", "rollout", "warning", "plus the identity"),
    ("class_token_map", "return 2 * _right(*args)", "map", "warning", "over its sum"),
    ("PatchEmbedding.kernels", "return -_right(self)", "embedding", "warning", "a convolution with kernels()"),
    ("ViT.backward", "return _right(self, -args[0])", "training", "warning", "has each gradient its sign"),
    ("ViT.load", "return None", "training", "warning", "does load reach every part"),
    ("ViT.backward", "return None", "training", "failed", "grads should have the keys of params"),
    ("ViT.backward", "self._grads = {'a': 1}", "training", "failed", "a dict of arrays was expected"),
    ("ViT.forward", "x = _right(self, *args); self.attention_weights *= 2; return x", "model", "warning",
     "should sum to 1"),
],))  # fmt: skip
