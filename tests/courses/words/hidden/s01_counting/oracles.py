"""Texts whose counts are known, because they are made of them."""

LETTERS = "abcdefgh"


def draw_counts(rng):
    """Return some words with how often each is to stand in a text; some counts are equal."""
    number = int(rng.integers(4, 8))
    words = [LETTERS[place] * int(rng.integers(1, 4)) for place in rng.permutation(len(LETTERS))[:number]]
    counts = dict(zip(words, (int(count) for count in rng.integers(1, 4, number)), strict=True))
    return counts | {words[0]: 2, words[1]: 2, words[2]: 5}


def text_of(counts, rng):
    """Return a text of these words in any order, with capitals and marks between."""
    words = [word for word, count in counts.items() for _ in range(count)]
    drawn = [words[place] for place in rng.permutation(len(words))]
    return ", ".join(word.upper() if rng.random() < 0.5 else f"{word}!" for word in drawn)


def ranking_of(counts):
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
