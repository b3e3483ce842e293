"""What stages without a sentence draw: documents, pictures, 80 columns, seeds."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from drawings.plans import PLANS
from grader.tests.commands.exploring.typed import PLAIN, Grader
from grader.tests.explore.exploring import COURSE, STAGES
from grader.tests.support.places import ROOT


@pytest.mark.full_matrix("drawings", "grader/explore", "hidden/s16_attention_layer")
def test_a_layer_is_explored_step_by_step_within_80_columns(run: Grader, tmp_path: Path) -> None:
    png, solution = tmp_path / "a.png", next(ROOT.glob("hidden/s16_*/solution.py"))
    done = run("s16", *PLAIN, "--png", str(png), submission=solution)
    assert (done.code, png.read_bytes()[:4]) == (0, b"\x89PNG")
    assert "20 of 20 steps" in done.out
    assert done.out.count("relative error ") >= 13
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_seed_where_nothing_is_random_is_told_to_change_nothing(run: Grader) -> None:
    done = run("s11", *PLAIN, "--seed", "3", submission=next(ROOT.glob("hidden/s11_*/solution.py")))
    assert done.code == 0
    assert "Nothing in s11 is drawn at random: --seed 3 changes nothing." in done.err


def test_blocks_are_explored_with_a_seed(run: Grader) -> None:
    found = run("s17", *PLAIN, "--seed", "3", "--json", submission=next(ROOT.glob("hidden/s17_*/solution.py"))).json
    assert (found["fine"], found["seed"], len(found["maps"])) == (True, 3, 4)


DRAWN = sorted(stage for stage in set(PLANS) & STAGES if not PLANS[stage].of_sentence)


@pytest.mark.some_of(22, "drawings", "grader/explore", "stages", "hidden")
@pytest.mark.parametrize("stage", DRAWN)
def test_what_a_stage_draws_is_in_its_document_and_in_its_pictures(run: Grader, tmp_path: Path, stage: str) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    solution = next(ROOT.glob(f"hidden/{stage}_*/solution.py"))
    done = run(stage, *PLAIN, "--json", "--png", str(png), "--svg", str(svg), submission=solution)
    found = done.json
    assert (done.code, found["fine"], found["words"], found["inputs"], found["maps"]) == (0, True, [], None, [])
    assert found["given"].endswith(PLANS[stage].given)
    assert found["seed"] == (0 if PLANS[stage].random else None)
    assert png.read_bytes().startswith(b"\x89PNG")
    drawn = svg.read_text(encoding="utf-8")
    for each in found["drawings"]:
        assert f">{html.escape(each['title'], quote=False)}</text>" in drawn
        assert each["caption"].endswith(".")
        assert each["kind"] == "graphs" or (each["x_name"] and each["y_name"])


@pytest.mark.some_of(6, "drawings", "grader/explore", "stages", "hidden")
@pytest.mark.parametrize("stage", DRAWN)
def test_what_a_stage_draws_fits_into_80_columns(run: Grader, stage: str) -> None:
    done = run(stage, *PLAIN, submission=next(ROOT.glob(f"hidden/{stage}_*/solution.py")))
    assert (done.code, "error" in done.err) == (0, False)
    assert max(map(len, done.out.splitlines())) <= 80
    assert done.out.count("Notice: ") >= 2
    assert "\x1b" not in done.out


def test_half_written_activations_lead_on(run: Grader, tmp_path: Path) -> None:
    if "s11" not in STAGES:
        pytest.skip("no stage s11 here")
    file = tmp_path / "activations.py"
    text = COURSE.find("s11").module_path.read_text(encoding="utf-8")
    file.write_text(f"{text}\n\ndef relu(z):\n    return np.maximum(z, 0)\n", encoding="utf-8")
    done = run("s11", *PLAIN, submission=file)
    assert done.code == 1
    assert "Activations and their slopes" in done.out
    assert "Comes next: relu_derivative.\n`grader hint s11" in done.err
