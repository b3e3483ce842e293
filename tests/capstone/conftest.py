"""A capstone that trains in no time: its script builds on a stage of two functions, and its model is six numbers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.capstone.checkpoint import Checkpoints
from grader.capstone.plan import FOLDER, read_plan
from grader.capstone.session import Setting
from grader.course.manifest import load_course
from grader.progress.store import Store
from grader.progress.workspace import equipped
from grader.submission import Snapshot
from tests.support.command import Place

MANIFEST = """\
schema = 1
title = "Six numbers"
script = "train.py"
data = "data/text.txt"
uses = ["s01"]
seed = 3
held_out = 0.5
steps = 6
chunk = 2
prompt = "ab"
tokens = 3
temperature = 0.5

[settings]
pause = 0.0

[limits]
call_seconds = 20
"""
SCRIPT = """\
import time

import numpy as np

from stages.s01_numbers.numbers_ import double


def prepare(training, held_out, settings):
    ids, others = (np.array([ord(each) for each in text]) for text in (training, held_out))
    return {"vocabulary_size": 128, "training": ids, "held_out": others}


def begin(prepared, settings, seed):
    rng = np.random.default_rng(seed)
    return {"params": {"w": rng.normal(size=(2, 3)).T}, "optimizer": (np.float32(0.5), [None, True, 3])}


def advance(state, prepared, settings, seed, first, count, total):
    w, losses = state["params"]["w"], []
    for step in range(first, first + count):
        w = 0.9 * w + double(np.random.default_rng([seed, step]).normal(size=w.shape))
        losses.append(float(abs(w).sum()))
        time.sleep(settings["pause"])
    optimizer = (np.float32(state["optimizer"][0] / 3), [None, True, first + count])
    return {"params": {"w": w}, "optimizer": optimizer}, losses


def measure(state, prepared, settings):
    return 1.0


def write(state, prepared, settings, prompt, tokens, temperature, seed):
    return prompt + "".join(np.random.default_rng(seed).choice(list("abc"), size=tokens))
"""


@dataclass(frozen=True)
class Small:
    """The course in which the capstone stands, and its parts to change."""

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / FOLDER / "capstone.toml"

    @property
    def script(self) -> Path:
        return self.root / FOLDER / "train.py"

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.root)

    def change(self, path: Path, old: str, new: str) -> None:
        """Replace a part of a file, which has to be there."""
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def setting(self) -> Setting:
        """Return what training takes, as the command would put it together."""
        course = load_course(self.root)
        plan = read_plan(course)
        digest = hashlib.sha256(plan.source).hexdigest()
        script = Snapshot("train.py", plan.source, digest, plan.stage.module_path, f"{FOLDER}/train.py")
        snapshot = equipped(course, Store(self.root), plan.stage, script, None, {})
        return Setting(plan, snapshot, "process", self.checkpoints, course)


@pytest.fixture
def small(place: Place) -> Small:
    """A course with a capstone, whose only stage lends its reference."""
    found = Small(place.root)
    (found.root / FOLDER / "data").mkdir(parents=True)
    (found.root / FOLDER / "data" / "text.txt").write_text("abcabcabd\nabcabdabc\n", encoding="utf-8")
    found.manifest.write_text(MANIFEST, encoding="utf-8")
    found.script.write_text(SCRIPT, encoding="utf-8")
    stage = found.root / "stages" / "s01_numbers" / "stage.toml"
    found.change(stage, "requires = []", "requires = []\nlends = true")
    return found
