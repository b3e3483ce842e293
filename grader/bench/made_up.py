"""A class that is made up: modules of a stage that are right, nearly right, broken, endless or hostile."""

from __future__ import annotations

import random

from grader.course.answers import load_mistakes, reference_source
from grader.course.stage import Stage

SHARES = {"right": 45, "half": 20, "wrong": 25, "broken": 4, "hanging": 3, "hostile": 3}  # percent


def submissions(stage: Stage, number: int) -> list[tuple[str, str]]:
    """Return kind and text of that many modules, each text another, the same ones in every run.

    The kinds come in the shares of SHARES, at least one of each where there is room.
    """
    chance = random.Random(1)  # nosec B311 # made-up submissions, the same each time
    kinds = [kind for kind, share in SHARES.items() for _ in range(max(1, round(number * share / 100)))]
    kinds = (kinds + ["right"] * number)[:number] if len(kinds) <= number else chance.sample(kinds, number)
    chance.shuffle(kinds)
    return [(kind, f"{_text(stage, kind, chance)}\n# {place}\n") for place, kind in enumerate(kinds)]


def _text(stage: Stage, kind: str, chance: random.Random) -> str:
    reference = reference_source(stage)
    match kind:
        case "right":
            return reference
        case "half":
            functions = [name for row in stage.criteria for name in row.functions if "." not in name]
            left = chance.sample(functions, len(functions) // 2)
            body = "(*given, **named):\n    raise NotImplementedError"
            return reference + "".join(f"\n\ndef {name}{body}\n" for name in left)
        case "wrong":
            return f"{reference}\n\n{chance.choice(load_mistakes(stage)).source}"
        case "broken":
            return reference[: len(reference) // 2] + "\n)"
    name = next(name for row in stage.criteria for name in row.functions if "." not in name)
    does = "while True: pass" if kind == "hanging" else "import os; os._exit(0)"
    return f"{reference}\n\ndef {name}(*given, **named):\n    {does}\n"
