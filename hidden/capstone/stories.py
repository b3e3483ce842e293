"""Write data/stories.txt of the capstone: short stories in which what was said early is taken up again later.

    uv run python -m hidden.capstone.stories

Somebody of a name lives somewhere, has a thing of a colour and an animal, meets a friend, and gives or loses the thing.
Name, pronoun, colour and animal return many words later, so that a table of the last two tokens cannot tell them. The
same seed gives the same file; a test holds it equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "stages" / "capstone" / "data" / "stories.txt"
SEED, COUNT = 22, 900

PEOPLE = {
    **dict.fromkeys(("Mia", "Ada", "Lena", "Ruth"), ("she", "her")),
    **dict.fromkeys(("Tom", "Ben", "Omar", "Finn"), ("he", "his")),
}
ANIMALS = {"dog": "barks", "cat": "purrs", "duck": "quacks", "goat": "bleats"}
COLOURS = ("red", "blue", "green", "yellow", "white")
THINGS = ("kite", "drum", "lamp", "boat", "book", "coat")
HOMES = ("river", "forest", "harbour", "hill", "mill")
PLACES = ("market", "school", "bridge", "garden")
WEATHER = ("It rains", "The sun shines", "Snow falls", "The wind blows")


@dataclass(frozen=True)
class Cast:
    """Who and what one story is about."""

    hero: str
    friend: str
    thing: str
    animal: str
    home: str
    place: str


def cast(rng: np.random.Generator) -> Cast:
    """Draw who and what a story is about; the friend is somebody else than the hero."""
    hero, friend = rng.choice(list(PEOPLE), size=2, replace=False)
    thing = f"{rng.choice(COLOURS)} {rng.choice(THINGS)}"
    drawn = [str(rng.choice(names)) for names in (list(ANIMALS), HOMES, PLACES)]
    return Cast(str(hero), str(friend), thing, *drawn)


def beginning(who: Cast, rng: np.random.Generator) -> list[str]:
    """Return the sentences that say what there is."""
    name, (she, her) = who.hero, PEOPLE[who.hero]
    lives = rng.choice([f"{name} lives near the {who.home}.", f"Near the {who.home} lives {name}."])
    has = rng.choice([f"{she.capitalize()} has a {who.thing} and a {who.animal}.",
                      f"{she.capitalize()} owns a {who.thing}, and {her} {who.animal} is always there."])  # fmt: skip
    return [str(lives), str(has)]


def middle(who: Cast, rng: np.random.Generator) -> list[str]:
    """Return the sentences in which hero and friend meet, at times with a word about the weather or the animal."""
    she = PEOPLE[who.hero][0]
    told = [f"{rng.choice(WEATHER)}."] if rng.random() < 0.5 else []
    told.append(f"Today {she} takes the {who.thing} to the {who.place} and meets {who.friend}.")
    if rng.random() < 0.6:
        told.append(f"The {who.animal} comes too and {ANIMALS[who.animal]}.")
    if rng.random() < 0.4:
        told.append(f'"What a fine {who.thing.split()[1]}," says {who.friend}.')
    return told


def end(who: Cast, rng: np.random.Generator) -> list[str]:
    """Return the sentences that say where the thing stays, and how the day ends."""
    her = PEOPLE[who.hero][1]
    if rng.random() < 0.5:
        told = [f"{who.hero} gives the {who.thing} to {who.friend}.", f"Now {who.friend} has the {who.thing}."]
    else:
        told = [f"{who.hero} loses the {who.thing}.", f"{who.friend} finds the {who.thing} near the {who.place}."]
    return [*told, f"In the evening {who.hero} walks home to the {who.home} with {her} {who.animal}."]


def story(rng: np.random.Generator) -> str:
    """Return one story, on a line of its own."""
    who = cast(rng)
    return " ".join([*beginning(who, rng), *middle(who, rng), *end(who, rng)])


def text(seed: int = SEED, count: int = COUNT) -> str:
    """Return the whole text, a story a line."""
    rng = np.random.default_rng(seed)
    return "".join(f"{story(rng)}\n" for _ in range(count))


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
