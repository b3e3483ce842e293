"""`grader capstone` as it is typed: killed and gone on with, stopped, as JSON, and every mistake named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.capstone.conftest import Small, small
from tests.support.command import RUN, Here, Place
from tests.support.patience import SLACK

__all__ = ["small"]  # a fixture that pytest finds here
PLAIN = ("--isolation", "process")
SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.capstone").joinpath("capstone.schema.json").read_text("utf-8")
)


def checked(text: str) -> Any:
    """Return a document that the schema accepts."""
    found = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def arrays(path: Path) -> dict[str, bytes]:
    """Return what a checkpoint holds, but for its header, which tells how long it took."""
    with np.load(path) as found:
        return {name: found[name].tobytes() for name in found.files if name != "header"}


def ended(place: Place, small: Small, by: signal.Signals) -> tuple[int, str]:
    """Start a training that takes a while, end it once a checkpoint stands there; return exit code and stderr."""
    variables = {**os.environ, "PYTHONPATH": str(place.package.parent), "PYTHONUTF8": "1"}
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # not in the background
    command = [sys.executable, "-c", heard + RUN, "capstone", *PLAIN]
    process = subprocess.Popen(
        command, cwd=place.root, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        latest = time.monotonic() + SLACK
        while not small.checkpoints.file.exists() and process.poll() is None and time.monotonic() < latest:
            time.sleep(0.02)
        time.sleep(0.05)
        process.send_signal(by)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, said


@pytest.mark.full_matrix("grader/capstone")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such end")
def test_a_training_that_was_killed_ends_with_the_same_bits(place: Place, small: Small, here: Here) -> None:
    small.change(small.manifest, "pause = 0.0", "pause = 0.04")
    small.change(small.manifest, "steps = 6", "steps = 14")
    code, _ = ended(place, small, signal.SIGKILL)
    reached = small.checkpoints.read()
    assert code == -signal.SIGKILL and reached is not None and 2 <= reached.step < 14
    done = here("capstone", "--json", *PLAIN)
    found = checked(done.out)
    assert (done.code, found["begun_at"], found["steps"]) == (0, reached.step, 14)
    assert f"Training goes on from step {reached.step} of 14." in done.err
    resumed = arrays(small.checkpoints.file)
    straight = here("capstone", "--fresh", "--json", *PLAIN)
    assert arrays(small.checkpoints.file) == resumed
    assert {**checked(straight.out), "begun_at": 0, "seconds": 0} == {**found, "begun_at": 0, "seconds": 0}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_leaves_a_good_checkpoint_and_says_so(place: Place, small: Small) -> None:
    small.change(small.manifest, "pause = 0.0", "pause = 0.2")
    code, said = ended(place, small, signal.SIGINT)
    reached = small.checkpoints.read()
    assert code == 130 and reached is not None
    assert f"Step {reached.step} of 6 is kept: `grader capstone` goes on from there." in said
    assert said.rstrip().endswith("stopped") and "Traceback" not in said


def test_a_training_that_fails_says_why_and_what_is_kept(small: Small, here: Here) -> None:
    small.change(small.script, "losses.append(", "losses.append(float('nan')) if first >= 2 else losses.append(")
    done = here("capstone", *PLAIN)
    assert done.code == 1 and "error: the loss of step 3 is nan" in done.err
    assert "Step 2 of 6 is kept: `grader capstone` goes on from there." in done.err


def test_a_training_and_what_is_written_afterwards(small: Small, here: Here) -> None:
    done = here("capstone", *PLAIN)
    assert done.code == 0 and "Made of s01: the reference's" in done.out and "What it writes" in done.out
    assert done.err.startswith("Made of s01: the reference's")  # known before minutes pass
    assert "table of triples (trigram)" in done.out and "6 of 6 steps" in done.err
    done = here("capstone", "generate", "ba", "--tokens", "4", "--seed", "5", *PLAIN)
    assert done.code == 0 and done.out.startswith("ba") and len(done.out) == 7 and done.err == ""
    again = checked(here("capstone", "generate", "ba", "--tokens", "4", "--seed", "5", "--json", *PLAIN).out)
    assert (again["text"], again["step"], again["tokens"]) == (done.out.strip(), 6, 4)


def test_the_model_that_was_chosen_and_whose_loop_trains_it_are_told(small: Small, here: Here) -> None:
    text = small.manifest.read_text("utf-8")
    small.manifest.write_text(f'model = "big"\nloop = "s01"\n{text}\n[models.big]\nwidth = 3\n', "utf-8")
    done = here("capstone", "--json", *PLAIN)
    found = checked(done.out)
    assert (done.code, found["model"], found["loop"]) == (0, "big", "script")
    assert "The model is that of big." in done.err and "yours takes its place once your s01 has passed" in done.err
    small.change(small.manifest, 'model = "big"', 'model = "bug"')
    done = here("capstone", *PLAIN)
    assert done.code != 0 and "model: 'bug' is none of big" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("generate", "ba", "--temperature", "0"), "--temperature 0 is not a positive number"),
        (("generate", "ba", "--temperature", "nan"), "--temperature nan is not a positive number"),
        (("generate", "ba", "--tokens", "0"), "--tokens"),
        (("generate", "b" * 10_001), "the prompt has 10001 characters"),
        (("generate", "\udcff"), "the prompt is not valid UTF-8"),
        (("generate", "ba"), "there is no trained model yet"),
        (("generate",), "PROMPT"),
        (("--fresh", "generate", "ba"), "--fresh is about training"),
        (("train",), "no such command"),
    ],
)
def test_a_command_that_makes_no_sense_is_told_why(
    small: Small, here: Here, arguments: tuple[str, ...], told: str
) -> None:
    done = here("capstone", *arguments)
    assert done.code == 2 and told in done.err and done.out == ""


def test_a_course_without_a_capstone_is_told_so(here: Here) -> None:
    done = here("capstone")
    assert done.code == 2 and "Small numbers has no capstone" in done.err


def test_help_says_how_training_goes_on(here: Here) -> None:
    done = here("capstone", "--help")
    assert done.code == 0 and "goes on from the last checkpoint" in " ".join(done.out.split())
    assert "capstone" in here("--help").out
