"""All of it written here, with nothing of earlier stages."""


def neighbours(words):
    return {word: [other for other in words if _is_near(word, other)] for word in words}


def _is_near(a, b):
    if len(a) > len(b):
        a, b = b, a
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b, strict=True)) == 1
    return len(b) == len(a) + 1 and any(b[:place] + b[place + 1 :] == a for place in range(len(b)))


def fewest_changes(words, start, end):
    graph, level, steps, seen = neighbours(words), [start], 0, {start}
    while level:
        if end in level:
            return steps
        level = [other for word in dict.fromkeys(level) for other in graph[word] if other not in seen]
        seen |= set(level)
        steps += 1
    raise ValueError("no ladder")
