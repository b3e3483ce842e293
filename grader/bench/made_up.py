"""A class that is made up: modules of a stage that are right, nearly right, broken, endless or hostile."""

from __future__ import annotations

import random
from collections.abc import Mapping

from grader.course.answers import load_mistakes, reference_source
from grader.course.stage import Stage

SHARES = {"right": 45, "half": 20, "wrong": 25, "broken": 4, "hanging": 3, "hostile": 3}  # percent
QUICK = {"right": 45, "half": 20, "wrong": 25, "broken": 10}
# What a hostile module does in its first function. Graders that do not confine a module can bear the first set only.
HARMLESS = {"leaves": "import os; os._exit(0)"}
ATTACKS = {
    **HARMLESS,
    "forks": "import os\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "swells": "held = []\n    while True: held.append(bytearray(b'x' * (64 << 20)))",
    "sleeps": "import time; time.sleep(86400)",
    "floods": "while True: print('x' * 65536)",
    "kills": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
}


def submissions(
    stage: Stage, number: int, hostile: Mapping[str, str] = HARMLESS, shares: Mapping[str, int] = SHARES
) -> list[tuple[str, str]]:
    """Return kind and text of that many modules, each text another, the same ones in every run.

    The kinds come in those shares, at least one of each where there is room; hostile is what those of that
    kind do, one after the other.
    """
    chance = random.Random(1)  # nosec B311 # made-up submissions, the same each time
    kinds = [kind for kind, share in shares.items() for _ in range(max(1, round(number * share / 100)))]
    kinds = (kinds + ["right"] * number)[:number] if len(kinds) <= number else chance.sample(kinds, number)
    chance.shuffle(kinds)
    found, done = [], 0
    for place, kind in enumerate(kinds):
        if kind == "hostile":
            does, done = list(hostile.values())[done % len(hostile)], done + 1
            text = attacking(stage, does)
        else:
            text = _text(stage, kind, chance)
        found.append((kind, f"{text}\n# {place}\n"))
    return found


def attacking(stage: Stage, does: str) -> str:
    """Return a right module but for its first function, whose body is what it does."""
    name = next(name for row in stage.criteria for name in row.functions if "." not in name)
    return f"{reference_source(stage)}\n\ndef {name}(*given, **named):\n    {does}\n"


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
    return attacking(stage, "while True: pass")
