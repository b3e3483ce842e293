"""The trainings behind the capstone's pictures, kept in trainings.json beside this file.

    uv run --group dev python -m illustrations.trainings

takes them anew, in about fifteen minutes of one core: both models as capstone.toml has them, with two seeds, and that
of s23 in three sizes, each for three lengths with a schedule of its own.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from grader.capstone.plan import FOLDER, CapstoneManifest, read_plan
from grader.course.provided import serving_stage
from grader.course.table import read_toml
from illustrations.references import ROOT, course

KEPT = Path(__file__).with_name("trainings.json")
COMMAND = "uv run --group dev python -m illustrations.trainings"
SIZES = {16: 52, 32: 104, 64: 208}  # hidden units of each block's MLP by the number of features
STEPS = (300, 900, 2700)
SEEDS = (22, 23)  # the first is the capstone's own
KEYS = ("parameters", "steps", "tokens", "held_out", "perplexity")
STRETCH = 10  # steps whose mean loss is kept


def plan() -> CapstoneManifest:
    """Return the course's own capstone."""
    return read_plan(course())


@contextmanager
def script(of: CapstoneManifest) -> Iterator[Any]:
    """Give the functions of the capstone's script, on the references."""
    names: dict[str, Any] = {}
    with serving_stage(of.stage):
        exec(compile(of.source, of.stage.module, "exec"), names)
        yield SimpleNamespace(**names)


def settings(of: CapstoneManifest, model: str, **changed: object) -> dict[str, Any]:
    """Return what the script is handed for one of the models, with what is changed."""
    models: Any = read_toml(course().root / FOLDER / "capstone.toml", "capstone.toml")["models"]
    return {**of.settings, **models[model], "model": model, "own_loop": False, **changed}


def trained(steps: int, model: str, seed: int, **changed: object) -> dict[str, Any]:
    """Train a model for so many steps; return its size, its losses, the seconds, and its loss on what was held out."""
    of = plan()
    given = settings(of, model, **changed)
    with script(of) as functions:
        prepared = functions.prepare(*of.parts, given)
        state = functions.begin(prepared, given, seed)
        began = time.process_time()
        state, losses = functions.advance(state, prepared, given, seed, 0, steps, steps)
        seconds = time.process_time() - began
        held_out = functions.measure(state, prepared, given)
    means = np.array(losses).reshape(-1, STRETCH).mean(axis=1)
    return {
        "parameters": sum(value.size for value in state["params"].values()),
        "steps": steps,
        "tokens": steps * given["batch"] * given["context_length"],
        "losses": [round(float(mean), 4) for mean in means],
        "training": round(float(means[-1]), 4),  # the loss of the last steps
        "held_out": round(held_out, 4),
        "perplexity": round(math.exp(held_out), 3),
        "seconds": round(seconds),
    }


def measured() -> dict[str, Any]:
    """Take all trainings."""
    every = {model: [trained(plan().steps, model, seed) for seed in SEEDS] for model in ("s18", "s23")}
    models = {
        model: {**found[0], "perplexities": [each["perplexity"] for each in found]} for model, found in every.items()
    }
    sizes = []
    for dim, hidden in SIZES.items():
        for steps in STEPS:
            is_own = models["s23"]["steps"] == steps and dim == 64
            found = models["s23"] if is_own else trained(steps, "s23", SEEDS[0], dim=dim, hidden=hidden)
            keys = (*KEYS, "training") if steps == STEPS[-1] else KEYS  # where a text may have been learnt by heart
            sizes.append({"dim": dim, **{key: found[key] for key in keys}})
            print(sizes[-1], flush=True)
    return {"command": COMMAND, "tokens_of_a_story": tokens_of_a_story(), "models": models, "sizes": sizes}


def tokens_of_a_story() -> float:
    """Return how many tokens a story has on average, its line's end among them."""
    of = plan()
    with script(of) as functions:
        prepared = functions.prepare(*of.parts, settings(of, of.model))
    return round(sum(len(prepared[part]) for part in ("training", "held_out")) / len(of.text.splitlines()), 2)


@cache
def kept() -> Any:
    """Return the numbers as they are kept."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    KEPT.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8", newline="\n")
    print(KEPT.relative_to(ROOT).as_posix())
