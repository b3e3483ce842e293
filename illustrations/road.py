"""Draw docs/road.svg, the road of stages in the README: `uv run --group dev python -m illustrations.road`."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from illustrations.canvas import Canvas
from illustrations.references import ROOT, course

PICTURE = Path(__file__).parents[1] / "docs" / "road.svg"
WIDTH, HIGH, BOX = 372, 50, 32  # of the picture, of a part, and of a stage
LEFT, TOP = 14, 24
MILESTONES = {"s12": "your network", "s15": "who attends to whom", "s18": "a GPT that writes"}
_PART = re.compile(r"^\| ([IV]+\. [^|]+) \| (s\d+)(?: to (s\d+))? \|", re.MULTILINE)


def parts() -> dict[str, list[str]]:
    """Return the stages of each part, as stages/README.md has them."""
    stages = [stage.id for stage in course().stages]
    found = _PART.findall((ROOT / "stages" / "README.md").read_text(encoding="utf-8"))
    return {name: stages[stages.index(first) : stages.index(last or first) + 1] for name, first, last in found}


def drawn() -> Canvas:
    """Draw a row of stages for each part, and the capstone that they lead to."""
    found = parts()
    canvas = Canvas(TOP + HIGH * len(found) + 52, "The road: the stages of the course in their parts", WIDTH)
    for number, (name, stages) in enumerate(found.items()):
        y = TOP + HIGH * number
        canvas.text(LEFT, y, name, "t", 12.5, "start", bold=True)
        reached = [stage for stage in stages if stage in MILESTONES]
        for down, stage in enumerate(reversed(reached)):
            canvas.text(WIDTH - LEFT, y + 22 * down, f"{stage}: {MILESTONES[stage]}", "m", 12, "end")
        for place, stage in enumerate(stages):
            x = LEFT + place * (BOX + 8)
            canvas.rect(x, y + 7, BOX, 22, "a" if stage in MILESTONES else "g", corner=4)
            canvas.text(x + BOX / 2, y + 22, stage, "p" if stage in MILESTONES else "t", 12, bold=stage in MILESTONES)
        for before, _ in pairwise(range(len(stages))):
            x = LEFT + before * (BOX + 8) + BOX
            canvas.path([(x, y + 18), (x + 8, y + 18)], "m", 1.5)
    y = TOP + HIGH * len(found)
    canvas.rect(LEFT, y - 6, WIDTH - 2 * LEFT, 30, "a", corner=4)
    canvas.text(WIDTH / 2, y + 14, "capstone: a language model of your stages", "p", 12.5, bold=True)
    return canvas


if __name__ == "__main__":
    PICTURE.write_text(drawn().svg(), encoding="utf-8", newline="\n")
