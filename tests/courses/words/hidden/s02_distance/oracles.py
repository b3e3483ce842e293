"""Words with a known number of changes between them, and the distance by its definition."""


def draw_word(rng, least=0, most=6):
    return "".join("abc"[letter] for letter in rng.integers(0, 3, int(rng.integers(least, most + 1))))


def distance(a, b):
    """Return the distance from the definition: the cheapest way for the first letters, and then the rest."""
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
