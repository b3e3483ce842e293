"""Hidden tests of stage s20: images cut into patches, and put together again."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape, unchanged
from hidden.s20_vision_transformer import oracles
from hidden.s20_vision_transformer.oracles import CUTS

pytestmark = pytest.mark.values
NOT_IMAGES = [(4, 4), (1, 4, 4), (1, 1, 1, 4, 4)]
NOT_SIZES = [3, 8, 0, -2]


@pytest.mark.criterion("patchify")
class TestPatchify:
    @pytest.mark.parametrize("shape, size", CUTS, ids=str)
    def test_any_images(self, learner, rng, shape, size):
        images = rng.normal(size=shape)
        assert_array(learner.patchify(images, size), oracles.cut(images, size))

    @pytest.mark.dtype
    def test_numbers_keep_their_dtype(self, learner, rng):
        images = rng.normal(size=(2, 2, 4, 6)).astype(np.float32)
        assert_array(learner.patchify(images, 2), oracles.cut(images, 2), dtype=np.float32)

    @pytest.mark.purity
    def test_images_stay_as_they_are(self, learner, rng):
        images = rng.normal(size=(2, 2, 4, 6))
        with unchanged(images):
            assert_shape(learner.patchify(images, 2), (2, 6, 8))

    @pytest.mark.refusals
    def test_what_cannot_be_cut_is_refused(self, learner, rng):
        for shape in NOT_IMAGES:
            with pytest.raises(ValueError):
                learner.patchify(rng.normal(size=shape), 2)
        for size in NOT_SIZES:
            for shape in ((1, 1, 4, 9), (1, 1, 9, 4), (1, 1, 4, 4)):
                with pytest.raises(ValueError):
                    learner.patchify(rng.normal(size=shape), size)


@pytest.mark.criterion("unpatchify")
class TestUnpatchify:
    @pytest.mark.parametrize("shape, size", CUTS, ids=str)
    def test_patches_of_any_images(self, learner, rng, shape, size):
        images = rng.normal(size=shape)
        assert_array(learner.unpatchify(oracles.cut(images, size), size, shape[1:]), images)

    def test_it_is_the_inverse_of_patchify(self, learner, rng):
        patches = rng.normal(size=(2, 6, 18))
        images = learner.unpatchify(patches, 3, (2, 6, 9))
        assert_shape(images, (2, 2, 6, 9))
        assert_array(learner.patchify(images, 3), patches, name="patchify of the result")

    @pytest.mark.dtype
    def test_numbers_keep_their_dtype(self, learner, rng):
        images = rng.normal(size=(2, 2, 4, 6)).astype(np.float32)
        assert_array(learner.unpatchify(oracles.cut(images, 2), 2, (2, 4, 6)), images, dtype=np.float32)

    @pytest.mark.purity
    def test_patches_stay_as_they_are(self, learner, rng):
        patches = rng.normal(size=(2, 6, 8))
        with unchanged(patches):
            assert_shape(learner.unpatchify(patches, 2, (2, 4, 6)), (2, 2, 4, 6))

    @pytest.mark.refusals
    def test_patches_of_other_images_are_refused(self, learner, rng):
        for shape in (
            (2, 6, 4),
            (2, 4, 8),
            (2, 8, 6),
            (2, 12, 4),
            (2, 3, 16),
            (6, 8),
            (12, 8),
            (1, 2, 6, 8),
            (2, 2, 3, 8),
        ):
            with pytest.raises(ValueError):
                learner.unpatchify(rng.normal(size=shape), 2, (2, 4, 6))
        for size in NOT_SIZES:
            with pytest.raises(ValueError):
                learner.unpatchify(rng.normal(size=(1, 4, 4)), size, (1, 4, 4))
