"""Hidden tests of stage s23: the rolling cache, and token by token."""

import itertools

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array, unchanged
from hidden.s23_modern_decoder import oracles
from hidden.s23_modern_decoder.oracles import WRONG_IDS, Sizes, block, block_shapes, draw_model, gpt, parts
from stages.s18_decoder_and_generation.decoder import generate

pytestmark = pytest.mark.values

PIECES = [(1, 1, 1, 1, 1, 1, 1), (5, 1, 1), (2, 4, 1, 3), (3, 2), (1, 7)]


def draw_pieces(rng, lengths, batch=2, heads=2, d=3, d_v=2):
    """Return (keys, values) for each length."""
    return [tuple(rng.normal(size=(batch, heads, new, size)) for size in (d, d_v)) for new in lengths]


def check_kept(cache, pieces, window):
    """Compare what a cache keeps with the last positions of all that was appended."""
    for name, which in (("keys", 0), ("values", 1)):
        whole = np.concatenate([piece[which] for piece in pieces], axis=2)
        kept = whole if window is None else whole[:, :, -window:]
        assert_array(getattr(cache, name), kept, name=name, axes="batch head position feature")
    assert_equal(cache.length, sum(piece[0].shape[2] for piece in pieces), name="length")


@pytest.mark.criterion("rolling-cache")
class TestRollingCache:
    @pytest.mark.parametrize("window", [1, 2, 3, 6, None])
    @pytest.mark.parametrize("lengths", PIECES, ids=str)
    def test_what_is_kept_and_what_is_seen(self, learner, rng, lengths, window):
        cache, pieces = learner.RollingCache(window), draw_pieces(rng, lengths)
        assert_equal(cache.length, 0, name="length at first")
        for number, piece in enumerate(pieces):
            before = [np.concatenate([each[which] for each in pieces[:number]], axis=2) for which in (0, 1) if number]
            with unchanged(*piece):
                seen = parts(cache.append(*piece), ("keys", "values"))
            for which, name in enumerate(("keys", "values")):
                kept = before[which][:, :, -(window or 100) :] if number else piece[which][:, :, :0]
                assert_array(
                    seen[which], np.concatenate([kept, piece[which]], axis=2), name=f"{name} that append gives"
                )
            check_kept(cache, pieces[: number + 1], window)

    def test_nothing_is_kept_of_an_argument_that_is_changed_later(self, learner, rng):
        cache, (piece, later) = learner.RollingCache(2), draw_pieces(rng, (3, 1))
        cache.append(*piece)
        cache.append(*later)
        check_kept(cache, [piece, later], 2)

    def test_without_a_window_all_is_kept(self, learner, rng):
        cache, pieces = learner.RollingCache(), draw_pieces(rng, (2, 1, 4))
        for piece in pieces:
            cache.append(*piece)
        check_kept(cache, pieces, None)

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        cache, pieces = learner.RollingCache(2), draw_pieces(rng, (1, 2))
        for keys, values in pieces:
            cache.append(keys.astype("f4"), values.astype("f4"))
        assert_array(cache.keys, pieces[1][0].astype("f4"), dtype="float32", name="keys")

    @pytest.mark.refusals
    def test_what_does_not_fit(self, learner, rng):
        for window in (0, -1, 2.0):
            with pytest.raises(ValueError):
                learner.RollingCache(window)
        ((keys, values),) = draw_pieces(rng, (2,))
        flat = [(keys[0], values[0]), (keys[..., 0], values), (keys, values[..., 0])]
        for wrong in [*flat, (keys, values[:, :1]), (keys[:, :, :1], values), (keys[:1], values)]:
            with pytest.raises(ValueError):
                learner.RollingCache(3).append(*wrong)


SEVERAL = [Sizes(), Sizes(window=2), Sizes(depth=3, dim=4, num_heads=1, num_kv_heads=1, window=3, base=30.0)]


@pytest.mark.criterion("cache")
class TestTokenByToken:
    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    @pytest.mark.parametrize("lengths", PIECES[:3], ids=str)
    def test_block(self, learner, rng, sizes, lengths):
        p, x = oracles.draw(rng, block_shapes(sizes)), rng.normal(size=(2, sum(lengths), sizes.dim))
        made = learner.ModernBlock(*sizes.of_block, rng, **sizes.options)
        made.params = p
        outside = oracles.closest(made.forward(x), lambda outside: block(x, p, sizes, outside))
        expected, cache = block(x, p, sizes, outside), None
        for start, end in itertools.pairwise((0, *np.cumsum(lengths).tolist())):
            with unchanged(x):
                output, cache = parts(made.forward_with_cache(x[:, start:end], cache), ("output", "cache"))
            assert_array(output, expected[:, start:end], terms=20, name=f"output of positions {start} to {end - 1}")
            assert_equal(cache.length, end, name="length of the cache")
            kept = min(end, sizes.window or end)
            shape = (2, sizes.num_kv_heads, kept, sizes.dim // sizes.num_heads)
            assert_shape(cache.keys, shape, name="keys in the cache")

    @pytest.mark.parametrize("sizes", SEVERAL, ids=str)
    @pytest.mark.parametrize("lengths", PIECES[:3], ids=str)
    def test_model(self, learner, rng, sizes, lengths):
        model, p = draw_model(learner, rng, sizes)
        ids, cache = rng.integers(0, 7, size=(2, sum(lengths))), None
        outside = oracles.closest(model.forward(ids), lambda outside: gpt(ids, p, sizes, outside))
        expected = gpt(ids, p, sizes, outside)
        for start, end in itertools.pairwise((0, *np.cumsum(lengths).tolist())):
            found = model.forward_with_cache(ids[:, start:end], cache)
            logits, cache = parts(found, ("logits", "cache"))
            assert_array(logits, expected[:, start:end], terms=20, name=f"logits of tokens {start} to {end - 1}")
            assert_equal(len(cache), sizes.depth, name="length of the list of caches")
            kept = end if sizes.window is None else min(end, sizes.window)
            for each in cache:
                assert_equal(each.length, end, name="length of a cache")
                shape = (2, sizes.num_kv_heads, kept, sizes.dim // sizes.num_heads)
                assert_shape(each.keys, shape, name="keys in a cache")

    def test_a_pass_with_a_cache_leaves_backward_alone(self, learner, rng):
        sizes = SEVERAL[0]
        model, p = draw_model(learner, rng, sizes)
        ids, grad_logits = rng.integers(0, 7, size=(1, 3)), rng.normal(size=(1, 3, 7))
        model.forward_with_cache(rng.integers(0, 7, size=(2, 2)))
        outside = oracles.closest(model.forward(ids), lambda outside: gpt(ids, p, sizes, outside))
        model.backward(grad_logits)
        expected = oracles.numerical_gradients(lambda p: gpt(ids, p, sizes, outside), grad_logits, p, ["norm.gamma"])
        oracles.assert_grads(model.grads, expected, list(p))

    @pytest.mark.parametrize("sizes", SEVERAL[:2], ids=str)
    def test_generate_of_s18_takes_the_model(self, learner, rng, sizes):
        model, p = draw_model(learner, rng, sizes)
        ids = rng.integers(0, 7, size=(2, 3))
        written = plain_array(generate(model, ids, 5, lambda logits: np.argmin(plain_array(logits), axis=-1)))
        for step in range(3, 8):
            expected = gpt(written[:, :step], p, sizes)[:, -1].argmin(axis=-1)
            assert_equal(written[:, step].tolist(), expected.tolist(), name=f"token {step} that s18's generate writes")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        model, _ = draw_model(learner, rng, SEVERAL[1])
        for wrong in WRONG_IDS:
            with pytest.raises(ValueError):
                model.forward_with_cache(np.array(wrong))
        _, cache = model.forward_with_cache(np.array([[1, 2, 3]]))
        for wrong in (np.array([[4, 7]]), np.zeros((1, 0), dtype=int)):
            with pytest.raises(ValueError):
                model.forward_with_cache(wrong, cache)
