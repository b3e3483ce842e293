"""Write data/sentences.txt of this stage: sentences whose last word is settled by the noun that they begin with.

    uv run python -m hidden.s18_decoder_and_generation.sentences

A sentence is a subject, one place or two, and what the subject does: "the dogs near the old barn often bark ." Which
verb it is, bark or barks or moo, follows from the subject alone, four to ten words earlier, so that no table of the
last word or two can tell. The same seed gives the same file; a test holds it equal.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "stages" / "s18_decoder_and_generation" / "data" / "sentences.txt"
SEED, COUNT = 18, 1000

NOUNS = ("dog", "cat", "cow", "duck")
VERBS = ("bark", "purr", "moo", "quack")
ADJECTIVES = ("old", "small")
PLACES = ("near", "behind")
THINGS = ("barn", "pond")
ADVERBS = ("often", "now")


def noun_phrase(rng: np.random.Generator, noun: str) -> list[str]:
    """Return the article, at times an adjective, and the noun."""
    adjective = [str(rng.choice(ADJECTIVES))] if rng.random() < 0.3 else []
    return ["the", *adjective, noun]


def sentence(rng: np.random.Generator) -> str:
    """Return one sentence; its words and its full stop are separated by spaces."""
    kind, is_plural = int(rng.integers(len(NOUNS))), bool(rng.integers(2))
    words = noun_phrase(rng, NOUNS[kind] + "s" * is_plural)
    for _ in range(1 + int(rng.random() < 0.1)):
        words += [str(rng.choice(PLACES)), *noun_phrase(rng, str(rng.choice(THINGS)))]
    if rng.random() < 0.3:
        words.append(str(rng.choice(ADVERBS)))
    return " ".join([*words, VERBS[kind] + "s" * (not is_plural), "."])


def text(seed: int = SEED, count: int = COUNT) -> str:
    """Return the whole text, a sentence a line."""
    rng = np.random.default_rng(seed)
    return "".join(f"{sentence(rng)}\n" for _ in range(count))


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
