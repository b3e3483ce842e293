"""Wrong ways to build ladders."""

from grader.mistakes import mistake


@mistake(
    criterion="neighbours",
    replaces="neighbours",
    text="Every word is its own neighbour as well.",
    fix="Keep words at a distance of exactly 1: == 1, not <= 1.",
)
def itself_too(words):
    return {word: [other for other in words if edit_distance(word, other) <= 1] for word in words}


@mistake(
    criterion="neighbours",
    replaces="neighbours",
    text="Words that are two changes apart are neighbours, too.",
    fix="Compare with 1.",
)
def two_apart(words):
    return {word: [other for other in words if 1 <= edit_distance(word, other) <= 2] for word in words}


@mistake(
    criterion="neighbours",
    replaces="neighbours",
    text="Only words of the same length are neighbours.",
    fix="A letter may be added or taken away as well: edit_distance counts that.",
)
def same_length(words):
    return {
        word: [other for other in words if len(word) == len(other) and edit_distance(word, other) == 1]
        for word in words
    }


@mistake(
    criterion="fewest",
    replaces="fewest_changes",
    text="This counts the words of the ladder, not its steps.",
    fix="A ladder of two words has one step.",
)
def words_counted(words, start, end):
    steps = steps_from(neighbours(words), start)
    if end not in steps:
        raise ValueError("no ladder")
    return steps[end] + 1


@mistake(
    criterion="fewest",
    replaces="fewest_changes",
    text="These are the changes from one word to the other, whether or not the words between are in the list.",
    fix="Go through the graph of neighbours.",
)
def distance_alone(words, start, end):
    if end not in steps_from(neighbours(words), start):
        raise ValueError("no ladder")
    return edit_distance(start, end)


@mistake(
    criterion="fewest",
    replaces="fewest_changes",
    text="Where no ladder leads to the end, this returns a number.",
    fix="Raise a ValueError there.",
)
def no_refusal(words, start, end):
    return steps_from(neighbours(words), start).get(end, -1)
