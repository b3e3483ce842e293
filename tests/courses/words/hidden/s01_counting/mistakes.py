"""Wrong ways to count and rank."""

from grader.mistakes import mistake


@mistake(
    criterion="count",
    replaces="count_words",
    text="Capitals are kept, so that The and the are two words.",
    fix="Turn the text into lower case first.",
)
def capitals_kept(text):
    counts = {}
    for word in "".join(sign if sign.isalpha() else " " for sign in text).split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@mistake(
    criterion="count",
    replaces="count_words",
    text="Marks stay at the words: 'cat,' is counted apart from 'cat'.",
    fix="Turn all that is no letter into a space before you split.",
)
def marks_kept(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@mistake(
    criterion="count",
    replaces="count_words",
    text="Every count is 1: it is set anew each time the word comes.",
    fix="Add 1 to the count that is there, and begin with 0.",
)
def each_counted_once(text):
    return {word: 1 for word in _words(text)}


@mistake(
    criterion="rank",
    replaces="most_common",
    text="The rarest words come first.",
    fix="Rank by the count downwards: -counts[word] in the key.",
)
def rarest_first(text, number):
    if number < 0:
        raise ValueError("number")
    counts = count_words(text)
    ranking = []
    while counts and len(ranking) < number:
        best = min(counts, key=lambda word: (counts[word], word))
        ranking.append((best, counts.pop(best)))
    return ranking


@mistake(
    criterion="rank",
    replaces="most_common",
    text="Of equally frequent words the last of the alphabet comes first.",
    fix="Rank by (-count, word), so that equals come in the order of the alphabet.",
)
def equals_backwards(text, number):
    if number < 0:
        raise ValueError("number")
    counts = count_words(text)
    ranking = []
    while counts and len(ranking) < number:
        best = max(counts, key=lambda word: (counts[word], word))
        ranking.append((best, counts.pop(best)))
    return ranking


@mistake(
    criterion="rank",
    replaces="most_common",
    text="Only the words are returned, without their counts.",
    fix="Append pairs: (word, count).",
)
def words_alone(text, number):
    if number < 0:
        raise ValueError("number")
    counts = count_words(text)
    ranking = []
    while counts and len(ranking) < number:
        best = min(counts, key=lambda word: (-counts[word], word))
        counts.pop(best)
        ranking.append(best)
    return ranking
