"""Write data/sentences.txt of this stage: sentences whose last word is settled by the noun that they begin with.

    uv run python -m hidden.s18_decoder_and_generation.sentences

A sentence is a subject, one place or two, and what the subject does: "the dogs near the old barn often bark ." Which
verb it is, bark or barks or moo, follows from the subject alone, four to ten words earlier, so that no table of the
last word or two can tell. Short sentences come up several times, as they do in any text.

The lines come in three parts: those to train on, those to choose by, and those that are held out. Parts are made of
different sentences, not of lines: all lines of one sentence are in the same part, so that a model cannot have read
what it is measured by. The same seed gives the same file; tests hold it equal, and the parts disjoint.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "stages" / "s18_decoder_and_generation" / "data" / "sentences.txt"
SEED = 18
PARTS = (700, 100, 200)  # lines to train on, to choose by, and held out
TENTHS = (0, 0, 0, 0, 0, 0, 0, 1, 2, 2)  # of each ten different sentences, in the order they come up, the part of each

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


def text(seed: int = SEED, parts: tuple[int, ...] = PARTS) -> str:
    """Return the whole text, a sentence a line, one part after the other; parts are their numbers of lines.

    A sentence that comes up for the first time is given a part; when it comes up again it goes there too, until the
    part is full.
    """
    rng = np.random.default_rng(seed)
    part_of: dict[str, int] = {}
    lines: list[list[str]] = [[] for _ in parts]
    while any(len(found) < size for found, size in zip(lines, parts, strict=True)):
        drawn = sentence(rng)
        part = part_of.setdefault(drawn, TENTHS[len(part_of) % len(TENTHS)])
        if len(lines[part]) < parts[part]:
            lines[part].append(f"{drawn}\n")
    return "".join(line for found in lines for line in found)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
