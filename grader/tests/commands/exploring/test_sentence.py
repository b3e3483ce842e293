"""A sentence through attention, as text and as pictures: words of one's own, and what a terminal can show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.tests.commands.exploring.typed import PLAIN, REFERENCE, Grader
from grader.tests.support.places import ROOT

HALF = ROOT / "demo" / "attention.py"


def test_the_reference_shows_steps_and_maps_within_80_columns(run: Grader) -> None:
    done = run("s15", *PLAIN)
    assert (done.code, "error" in done.err) == (0, False)
    for text in ("range [0.500, 2.500]", "rows' sums 1.000 1.000 1.000 1.000", "██1.00      0"):
        assert text in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert "\x1b" not in done.out


def test_a_half_finished_module_leads_on(run: Grader) -> None:
    done = run("attention", *PLAIN, submission=HALF)
    assert done.code == 1
    assert "each head should hold 3 features of every word, in their order" in done.out
    assert "split_heads: `grader check s15 --only split-heads` says more." in done.err


def test_a_stub_says_which_function_comes_next_and_draws_nothing(run: Grader, tmp_path: Path) -> None:
    stub = ROOT / "stages" / "s15_attention" / "attention.py"
    done = run("s15", *PLAIN, "--png", str(tmp_path / "a.png"), submission=stub)
    assert done.code == 1
    assert "Comes next: compute_attention_scores.\n`grader hint s15 attention-scores` helps." in done.err
    assert "no picture was written" in done.err
    assert os.listdir(tmp_path) == []


def test_pictures_are_drawn_and_named(run: Grader, tmp_path: Path) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    done = run("s15", *PLAIN, "--png", str(png), "--svg", str(svg), "--json")
    assert done.code == 0
    assert done.json["pictures"] == [str(png), str(svg)]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert ">down</text>" in svg.read_text(encoding="utf-8")
    assert f"Drawn:{png}" in done.err.replace("\n", "").replace(" ", "")


def test_words_heads_and_files_of_ones_own(run: Grader, tmp_path: Path) -> None:
    file = tmp_path / "mine.npz"
    np.savez(file, embeddings=np.eye(3), words=["x", "y", "z"])
    found = run("s15", *PLAIN, "--input", str(file), "--heads", "3", "--json").json
    assert (found["words"], found["heads"], len(found["maps"])) == (["x", "y", "z"], 3, 8)
    found = run("s15", *PLAIN, "--words", "a b", "--json").json
    assert (found["words"], found["key_words"], found["heads"]) == (["a", "b"], None, 2)


def test_queries_that_meet_other_keys_are_shown_and_drawn(run: Grader, tmp_path: Path) -> None:
    file, svg = tmp_path / "cross.npz", tmp_path / "a.svg"
    np.savez(file, Q=np.eye(3, 4), K=np.eye(5, 4), V=np.eye(5, 4), words=list("abc"), key_words=list("vwxyz"))
    done = run("s15", *PLAIN, "--input", str(file), "--svg", str(svg))
    assert done.code == 0
    assert "“a b c” looks at “v w x y z”" in done.out
    assert "3 queries · 5 keys · 4 features each · 2 heads" in done.out
    drawn = svg.read_text(encoding="utf-8")
    assert "3 queries, 5 keys, 4 features" in drawn
    for text in ("Last key masked", "Head 1, projected", "Scores", "Mask"):
        assert f">{text}</text>" in drawn
    found = run("s15", *PLAIN, "--example", "identity", "--json").json
    assert found["words"] == ["0", "1", "2"]
    assert "each query matches its own key best: 0.45." in found["steps"][3]["notice"]


def test_words_that_stand_twice_are_told_apart_by_nothing(run: Grader) -> None:
    done = run("s15", *PLAIN, "--example", "banks")
    assert "cannot tell one bank from the other" in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("environment", [{"LANG": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_plain_terminal_gets_plain_characters(environment: dict[str, str]) -> None:
    variables = {name: value for name, value in os.environ.items() if name not in ("LANG", "LC_ALL", "PYTHONUTF8")}
    code = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"
    arguments = ["explore", "s15", *PLAIN, "--submission", str(REFERENCE)]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=variables | {"COLUMNS": "80", **environment},
        capture_output=True, cwd=ROOT, check=True,
    )  # fmt: skip
    assert done.stdout.isascii()
    assert b"##1.00      0      0      0" in done.stdout
