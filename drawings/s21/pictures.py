"""What the exploration of stage 21 draws of what its steps found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from drawings.s21.steps import EXPERTS, TOKENS, WEIGHTS
from grader.explore.model import Chart, Curves, Drawing, Image, Images, Known, Series, numbers, rows

TITLES: Mapping[str, str] = {
    "alone-before": "Before training",
    "alone-after": "After, without balancing",
    "balanced-after": "After, with balancing",
}
NAMES: Mapping[str, str] = {"alone": "without balancing", "balanced": "with balancing"}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return who serves which token before and after training, and losses and dropped tokens over training."""
    found: list[Drawing] = []
    shown = [name for name in TITLES if name in known]
    if shown:
        experts = tuple(f"expert {number}" for number in range(EXPERTS))
        groups = tuple(str(token // (TOKENS // 4)) if token % (TOKENS // 4) == 0 else "" for token in range(TOKENS))
        panels = tuple(Image(TITLES[name], rows(known[name]), experts, groups) for name in shown)
        caption = "Strong: served, weak: dropped. Tokens stand group by group; left alone, one expert is asked for all."
        found.append(
            Images("load", "The load of the experts", caption, "group of the token", "expert", panels, 0.0, 2.0)
        )
    trained = [name for name in WEIGHTS if f"{name}-losses" in known]
    if trained:
        x = numbers(np.arange(1.0, len(known[f"{trained[0]}-losses"]) + 1))
        panels_ = tuple(
            Chart(title, tuple(Series(NAMES[name], x, numbers(known[f"{name}-{what}"])) for name in trained))
            for what, title in (("losses", "Loss of the task"), ("dropped", "Share of the tokens dropped"))
        )
        caption = "Once the load is spread nearly every token is served, and the task's loss falls further."
        found.append(Curves("training", "Training", caption, "step", "value", panels_))
    return tuple(found)
