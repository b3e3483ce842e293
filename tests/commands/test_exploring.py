"""`grader explore`: text, pictures, documents, and what is refused."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema
import numpy as np
import pytest

from drawings.plans import PLANS
from grader.explore.example import example
from grader.explore.exploration_json import _drawing, exploration_document
from grader.explore.model import Exploration, ExplorationRun, PartStatus
from grader.isolation.tiers import TIERS
from grader.report.document import dumps
from grader.submission.parsing import Problem
from tests.explore.exploring import COURSE, STAGES, explored
from tests.explore.test_terminal import ALL, BLANKS, GRAPHS
from tests.support.command import Command
from tests.support.command import Done as Printed
from tests.support.places import HIDDEN, ROOT


@pytest.fixture
def run(command: Command, monkeypatch: pytest.MonkeyPatch) -> Grader:
    """Run the command in this process, on the real course."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")

    def explore(*arguments: str, submission: Path = REFERENCE) -> Done:
        done = command("explore", *arguments, "--submission", str(submission))
        return Done(done.code, done.out, done.err)

    return explore


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is written of the reference and the sentence of the lesson, and accepted by the schema."""
    found: dict[str, Any] = json.loads(dumps(exploration_document(explored(tmp_path_factory.mktemp("s15"), "s15"))))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


REFERENCE = HIDDEN / "s15_attention" / "solution.py"
SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.explore").joinpath("exploration.schema.json").read_text("utf-8")
)
PLAIN = ("--isolation", "process")


class Done(Printed):
    """What the command left behind."""

    @property
    def json(self) -> Any:
        """The document, if the schema accepts it."""
        found = json.loads(self.out)
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
        return found


Grader = Callable[..., Done]


def test_the_document_holds_words_steps_ranges_and_weights(run: Grader) -> None:
    found = run("s15", *PLAIN, "--json").json
    assert (found["schema"], found["stage"], found["fine"], found["seed"]) == (4, "s15", True, 0)
    assert found["words"] == ["The", "cat", "sat", "down"]
    assert found["inputs"]["Q"][0] == [1.0, 0.5, 0.0, 0.5, 0.0, 0.0]
    first = found["steps"][0]["parts"][0]
    assert first["facts"] == [{"name": "range", "values": [0.5, 2.5], "text": "range [0.500, 2.500]"}]
    assert (first["shape"], first["axes"]) == ([4, 4], ["seq_q", "seq_k"])
    causal = np.array(next(each["weights"] for each in found["maps"] if each["id"] == "causal"))
    np.testing.assert_allclose(causal.sum(axis=1), 1)
    assert not np.triu(causal, 1).any()


def test_what_went_wrong_is_in_the_document_too(run: Grader, tmp_path: Path) -> None:
    file = tmp_path / "attention.py"
    file.write_text("def attention_weights(scores):\n    return 1 / 0\n", encoding="utf-8")
    done = run("s15", *PLAIN, "--json", submission=file)
    parts = {part["id"]: part for step in done.json["steps"] for part in step["parts"]}
    assert (done.code, parts["weights"]["status"], parts["raw"]["status"]) == (1, "blocked", "failed")
    file.write_text("def f(:\n", encoding="utf-8")
    done = run("s15", *PLAIN, "--json", submission=file)
    assert (done.code, done.json["problem"]["kind"], done.json["steps"]) == (1, "syntax", [])


def test_the_schema_is_a_schema_and_knows_every_status_tier_and_kind_of_problem() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    definitions = SCHEMA["$defs"]
    named = {name for part in get_args(PartStatus) for name in get_args(part)}
    assert set(definitions["status"]["enum"]) == named
    assert {*TIERS} <= {*definitions["exploration"]["properties"]["isolation"]["examples"]}
    assert set(definitions["problem"]["properties"]["kind"]["enum"]) == set(get_args(get_type_hints(Problem)["kind"]))


def test_the_schema_describes_every_key_that_is_written(document: dict[str, Any]) -> None:
    step = document["steps"][0]
    part = step["parts"][0]
    written = {
        "exploration": document, "step": step, "part": part, "fact": part["facts"][0], "map": document["maps"][0],
    }  # fmt: skip
    for name, each in written.items():
        definition = SCHEMA["$defs"][name]
        assert set(definition["properties"]) == set(definition["required"]) == set(each), name


def test_the_schema_describes_every_key_of_every_kind_of_drawing() -> None:
    for each in ALL:
        written = _drawing(each)
        jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{written['kind']}"}).validate(written)
        definition = SCHEMA["$defs"][written["kind"]]
        assert set(definition["properties"]) == set(definition["required"]) == set(written)


def test_a_cell_without_a_value_is_null_and_edges_are_pairs_of_places() -> None:
    assert _drawing(BLANKS)["panels"][0]["values"] == [[19.0, None], [None, None]]
    graph = _drawing(GRAPHS)["panels"][0]
    assert graph["edges"] == [[0, 1], [1, 2], [1, 2], [1, 3], [2, 3]]
    assert graph["nodes"][1] == {"name": "a = 3·x", "column": 1, "row": 1, "value": 6.0, "gradient": 13.0}


@pytest.mark.parametrize("wrong", [{"schema": 2}, {"isolation": "none"}, {"maps": None}, {"heads": 0}])
def test_the_schema_refuses_what_is_wrong(document: dict[str, Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate({**document, **wrong})


def test_half_characters_do_not_reach_the_document() -> None:
    found = Exploration(
        "s15", "t", example("a\udcff", None, None), ExplorationRun("f.py", "0" * 64, "process", None, None)
    )
    assert exploration_document(found)["words"] == ["a?"]


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


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("s08",), "s08 has nothing to draw or explore", "These can be explored: s01, s02"),
        (
            ("s11", "--words", "a b"),
            "--words is about a sentence, which s15, s16, s17 and s19 explore",
            "`grader explore s11` alone shows it",
        ),
        (("s11", "--input", "a.npz"), "--input is about a sentence", "`grader explore s11` alone shows it"),
        (("s11", "--heads", "2"), "--heads is about a sentence", "`grader explore s11` alone shows it"),
        (("s11", "--example", "banks"), "--example is about a sentence", "`grader explore s11` alone shows it"),
        (("s15", "--example", "cats"), "there is no example 'cats'", "lesson, identity, banks"),
        (("s18", "--words", "the horse"), "do not use the word horse", "They use ., bark, barks, barn"),
        (("s18", "--heads", "2"), "--heads is about a sentence", "`grader explore s18` alone shows it"),
        (("s18", "--words", ""), "--words holds no word", "--words"),
        (("s99",), "'s99' is not a stage", "The stages are"),
        (("s15", "--words", " "), "--words holds no word", "--words"),
        (("s15", "--heads", "4"), "4 heads cannot share 6 features", "--heads may be 1, 2, 3, 6"),
        (("s15", "--heads", "0"), "0", "grader explore -h"),
        (("s15", "--input", "nowhere.npz"), "nowhere.npz does not exist", "np.savez"),
        (("s15", "--input", "README.md"), "README.md is not an .npz file", "np.savez"),
        (("s15", "--png", "."), ". is a folder", "picture.png"),
        (("s15", "--isolation", "moat"), "'moat' is not an isolation tier", "auto, bubblewrap, landlock or process"),
    ],
)
def test_a_mistake_on_the_command_line_is_named(
    run: Grader, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err.replace("\n", " ")


def test_a_module_that_is_not_there_is_named(run: Grader, tmp_path: Path) -> None:
    done = run("s15", submission=tmp_path / "nothing.py")
    assert (done.code, done.out) == (5, "")
    assert "nothing.pydoesnotexist" in "".join(done.err.split())  # wherever a long path breaks


def test_without_matplotlib_a_picture_is_refused_before_anything_runs(
    run: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.explore.picture.find_spec", lambda name: None)
    monkeypatch.setattr("grader.explore.session.explore", lambda *_: pytest.fail("it ran"))
    done = run("s15", "--png", str(tmp_path / "a.png"))
    assert (done.code, done.out) == (2, "")
    assert "hint: `uv sync --extra plot` installs it" in done.err


def test_a_fault_of_the_grader_has_its_own_exit_code(run: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("drawings.s15.steps.span", faulty)
    done = run("s15", *PLAIN)
    assert (done.code, done.out) == (4, "")
    assert "a fault of the grader, not of your code" in done.err


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


@pytest.mark.some_of(2, "grader/explore", "grader/report")
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


def test_each_step_is_drawn_beside_the_numbers_and_without_matplotlib_these_are_left(
    run: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("s15", *PLAIN, "--each", str(tmp_path)).code == 0
    assert {"04-attention-weights.svg", "exploration.json"} < set(os.listdir(tmp_path))
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.setattr("grader.commands.exploring.find_spec", lambda name: None)
    assert run("s15", *PLAIN, "--each", str(bare), "--words", "so it is").code == 0
    assert os.listdir(bare) == ["exploration.json"]
    assert json.loads((bare / "exploration.json").read_text(encoding="utf-8"))["words"] == ["so", "it", "is"]
