"""Made-up submissions of a stage: right in several styles, half done, wrong with a known cause, broken and hostile."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.answers import alternative_sources, load_mistakes, reference_source
from grader.course.stage import Stage

# Kinds by their number in every twenty submissions.
MIXES: Mapping[str, Mapping[str, int]] = {
    "mix": {"right": 9, "half": 4, "wrong": 5, "broken": 1, "hostile": 1},
    "styles": {"right": 20},
    "equal": {"reference": 20},
    "half": {"half": 20},
    "wrong": {"wrong": 20},
    "broken": {"broken": 20},
    "hostile": {"hostile": 20},
}
BROKEN = ("\n)\n", "\nimport no_such_module\n", "\nraise ValueError\n")  # added to the end of a right module
# The bodies of the first function of a hostile module. A process of plain pytest can bear the first ones.
BEARABLE = {
    "leaves": "import os; os._exit(0)",
    "exits": "raise SystemExit(0)",
    "prints": "print('x' * 10_000_000)",
    "reads": "import os; return [os.listdir(each[0]) for each in os.walk('/proc/self')][:0]",
}
ACTS = {
    **BEARABLE,
    "spins": "while True: pass",
    "forks": "import os\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "swells": "held = []\n    while True: held.append(bytearray(b'x' * (64 << 20)))",
    "sleeps": "import time; time.sleep(86400)",
    "floods": "while True: print('x' * 65536)",
    "fills": "for n in range(64):\n        try: open(f'{n}', 'wb').write(bytes(4 << 20))\n        except OSError: pass"
    "\n    while True: pass",
    "kills": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
}


@dataclass(frozen=True)
class MadeUp:
    """A submission: its name, what kind it is, and its text, which no other submission has."""

    name: str
    kind: str
    text: str


def made_up(stage: Stage, mix: str, number: int, acts: Mapping[str, str] = BEARABLE) -> list[MadeUp]:
    """Return so many submissions of a mix, the same in every run.

    Every twenty have the shares of the mix, so a larger class begins with the submissions of a smaller one. acts are
    the bodies that hostile ones have, in turn.
    """
    texts = {kind: _texts(stage, kind, acts) for kind in MIXES[mix]}
    kinds = _kinds(MIXES[mix])
    chosen = [next(kinds) for _ in range(number)]
    return [MadeUp(f"s{place:05d}", kind, f"{next(texts[kind])}\n# {place}\n") for place, kind in enumerate(chosen)]


def hand_in(submissions: list[MadeUp], folder: Path) -> None:
    """Write each submission into a folder, as `grader class grade` takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in submissions:
        (folder / f"{each.name}.py").write_text(each.text, encoding="utf-8")


def hostile_text(stage: Stage, act: str) -> str:
    """Return a right module but for its first function, which has this body."""
    return f"{reference_source(stage)}\n\ndef {_functions(stage)[0]}(*given, **named):\n    {act}\n"


def _kinds(shares: Mapping[str, int]) -> Iterator[str]:
    chance = random.Random(1)
    while True:
        kinds = [kind for kind, share in shares.items() for _ in range(share)]
        chance.shuffle(kinds)
        yield from kinds


def _texts(stage: Stage, kind: str, acts: Mapping[str, str]) -> Iterator[str]:
    """Yield texts of a kind without end; each kind has a random generator of its own."""
    chance = random.Random(kind)
    reference = reference_source(stage)
    styles = [reference, *alternative_sources(stage).values()]
    functions, mistakes = _functions(stage), load_mistakes(stage) if kind == "wrong" else ()
    place = 0
    while True:
        match kind:
            case "right":
                yield styles[place % len(styles)]
            case "half":
                begun = chance.randint(len(functions) // 4, 3 * len(functions) // 4)
                body = "(*given, **named):\n    raise NotImplementedError"
                yield reference + "".join(f"\n\ndef {name}{body}\n" for name in functions[begun:])
            case "wrong":
                yield f"{reference}\n\n{chance.choice(mistakes).source}"
            case "broken":
                yield reference + BROKEN[place % len(BROKEN)]
            case "hostile":
                yield hostile_text(stage, list(acts.values())[place % len(acts)])
            case _:
                yield reference
        place += 1


def _functions(stage: Stage) -> list[str]:
    """Return the functions of the checklist in its order, without members of classes."""
    return list(dict.fromkeys(name for row in stage.criteria for name in row.functions if "." not in name))
