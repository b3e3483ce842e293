"""Wrong ways to measure distances."""

from grader.mistakes import mistake


@mistake(
    criterion="distance",
    replaces="edit_distance",
    text="A changed letter costs 2, as if it were taken away and added again.",
    fix="Let the diagonal cost 1 where the letters differ.",
)
def change_costs_two(a, b):
    above = list(range(len(b) + 1))
    for row, letter in enumerate(a, 1):
        current = [row]
        for column, other in enumerate(b, 1):
            changed = above[column - 1] + 2 * (letter != other)
            current.append(min(changed, above[column] + 1, current[-1] + 1))
        above = current
    return above[-1]


@mistake(
    criterion="distance",
    replaces="edit_distance",
    text="Letters are compared place by place, so that one added letter shifts all that follow.",
    fix="Let each cell of a table choose between adding, taking away and changing a letter.",
)
def place_by_place(a, b):
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


@mistake(
    criterion="distance",
    replaces="edit_distance",
    text="The first row of the table is all zeros: letters that b begins with cost nothing.",
    fix="Begin with 0, 1, 2, … in the first row: that many letters are added to an empty word.",
)
def free_beginning(a, b):
    above = [0] * (len(b) + 1)
    for row, letter in enumerate(a, 1):
        current = [row]
        for column, other in enumerate(b, 1):
            changed = above[column - 1] + (letter != other)
            current.append(min(changed, above[column] + 1, current[-1] + 1))
        above = current
    return above[-1]


@mistake(
    criterion="closest",
    replaces="closest",
    text="This is the farthest word.",
    fix="Take the least distance: min, not max.",
)
def farthest(word, words):
    if not words:
        raise ValueError("words")
    return max(words, key=lambda other: edit_distance(word, other))


@mistake(
    criterion="closest",
    replaces="closest",
    text="Of words that are equally near the last is taken.",
    fix="Keep the first one: replace it only by a word that is nearer (<, not <=).",
)
def last_of_equals(word, words):
    if not words:
        raise ValueError("words")
    best = words[0]
    for other in words:
        if edit_distance(word, other) <= edit_distance(word, best):
            best = other
    return best


@mistake(
    criterion="closest",
    replaces="closest",
    text="Only the lengths of the words are compared.",
    fix="Compare with edit_distance.",
)
def nearest_length(word, words):
    if not words:
        raise ValueError("words")
    return min(words, key=lambda other: abs(len(word) - len(other)))
