"""The text that stage s18 trains on is the one that its generator makes, and what is said of it holds."""

from __future__ import annotations

import pytest

from hidden.s18_decoder_and_generation import sentences


def test_the_file_is_what_the_generator_makes() -> None:
    assert sentences.TARGET.read_text(encoding="utf-8") == sentences.text()


def test_another_seed_makes_another_text() -> None:
    small, smaller = (14, 2, 4), (13, 2, 4)
    assert sentences.text(1, small) != sentences.text(2, small) != sentences.text(2, smaller)


@pytest.mark.parametrize("seed", range(3))
def test_no_sentence_stands_in_two_parts(seed: int) -> None:
    sizes = (140, 20, 40)
    lines = sentences.text(seed, sizes).splitlines()
    assert len(lines) == sum(sizes)
    training, choosing, held_out = set(lines[:140]), set(lines[140:160]), set(lines[160:])
    assert training.isdisjoint(choosing) and training.isdisjoint(held_out) and choosing.isdisjoint(held_out)


@pytest.mark.parametrize("seed", range(3))
def test_the_verb_follows_from_the_first_noun(seed: int) -> None:
    says = dict(zip(sentences.NOUNS, sentences.VERBS, strict=True))
    for line in sentences.text(seed, (140, 20, 40)).splitlines():
        words = line.split()
        place, noun = next((n, word) for n, word in enumerate(words) if word.removesuffix("s") in says)
        is_plural = noun.endswith("s")
        assert words[-2:] == [says[noun.removesuffix("s")] + "s" * (not is_plural), "."]
        assert 4 <= len(words) - 2 - place <= 10
