"""A call that does not return in time: what `grader check` and the pages of a class tell of its loop."""

from __future__ import annotations

import pytest

from grader.tests.support.command import NUMBERS, Place

ENDLESS = NUMBERS.replace("    return 2 * x", "    n = 1\n    while n > 0:\n        n = n + x\n    return n")
SAID = "double was still in the loop of line 9 after 200,000 steps: `while n > 0`."


@pytest.fixture
def hanging(place: Place) -> Place:
    """A course in whose first stage a call may take a second, and a module that loops for ever."""
    manifest = place.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n[limits]\ncall_seconds = 1.0\n", encoding="utf-8")
    place.numbers.write_text(ENDLESS, encoding="utf-8")
    return place


def with_feedback(place: Place, level: str) -> None:
    manifest = place.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(f'feedback = "{level}"\n' + manifest.read_text(encoding="utf-8"), encoding="utf-8")


def test_the_terminal_names_the_loop_and_its_line(hanging: Place) -> None:
    done = hanging.run("check", "s01", "--isolation", "process", COLUMNS="80")
    assert done.code == 1
    said = " ".join(done.out.split())
    assert SAID.replace("`", "") in said.replace("`", "") and "numbers_.py:9" in done.out
    assert "did not return within 1 s" in said
    assert "The last check: double was still in the loop of line 9" in " ".join(hanging.run("hint", "s01").out.split())


def test_json_has_it_as_the_cause(hanging: Place) -> None:
    double, quadruple = hanging.run("check", "s01", "--isolation", "process", "--json").json["criteria"]
    assert (double["status"], quadruple["status"]) == ("timed_out", "blocked")
    first = double["failures"][0]
    assert first["where"].endswith("numbers_.py:9") and first["cause"]["text"] == SAID
    assert (first["cause"]["id"], first["cause"]["criterion"]) == ("long-loop", "double")
    assert [each["cause"] for each in double["failures"][1:]] == [None]


@pytest.mark.parametrize("level", ["hint", "verdict"])
def test_less_feedback_names_no_cause(hanging: Place, level: str) -> None:
    with_feedback(hanging, level)
    done = hanging.run("check", "s01", "--isolation", "process", "--json")
    (double, _) = done.json["criteria"]
    assert double["status"] == "timed_out" and "still in the loop" not in done.out
    assert not any(each["cause"] for each in double["failures"])


def test_a_module_that_loops_while_it_is_loaded(hanging: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.process.LOAD_SECONDS", 1.0)
    hanging.numbers.write_text(f"{NUMBERS}\n\nfor n in iter(int, 1):\n    n = n + 1\n", encoding="utf-8")
    done = hanging.run("check", "s01", "--isolation", "process")
    said = " ".join(done.out.split())
    assert "numbers_.py:16 cannot be graded as it is" in said
    assert "still in the loop of line 16 after 200,000 steps" in said
