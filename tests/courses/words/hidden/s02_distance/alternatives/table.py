"""With the whole table, from the ends of both words."""


def edit_distance(a, b):
    table = {(len(a), j): len(b) - j for j in range(len(b) + 1)}
    table |= {(i, len(b)): len(a) - i for i in range(len(a) + 1)}
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            near = table[i + 1, j + 1] if a[i] == b[j] else 1 + table[i + 1, j + 1]
            table[i, j] = min(near, 1 + table[i + 1, j], 1 + table[i, j + 1])
    return table[0, 0]


def closest(word, words):
    pairs = [(edit_distance(word, other), place) for place, other in enumerate(words)]
    if pairs:
        return words[min(pairs)[1]]
    raise ValueError("closest needs words")
