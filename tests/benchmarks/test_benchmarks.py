"""Each benchmark runs in a small course with the least that it can measure, and what it prints is complete."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.graders import OTHERS, PACKAGES
from benchmarks.processor import EVENT
from benchmarks.result import Ratio, ratio
from benchmarks.submissions import MIXES, made_up
from grader.course.answers import alternative_sources
from grader.course.manifest import load_course
from grader.course.stage import Stage
from tests.support.command import Place
from tests.support.places import ROOT

# Counts what getrusage does, and answers on the pipes of --control; for machines without perf.
PERF = f"""#!{sys.executable}
import os, subprocess, sys, threading

options, command = sys.argv[2 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
named = dict(option.partition("=")[::2] for option in options)
if "--control" in named:
    control, reply = (os.open(path, os.O_RDWR) for path in named["--control"].removeprefix("fifo:").split(","))

    def answer():
        while os.read(control, 64):
            os.write(reply, b"ack\\n")

    threading.Thread(target=answer, daemon=True).start()
code = subprocess.call(command)
used = os.times()
with open(named["--output"], "w") as file:
    file.write(f"{{1e3 * (used.children_user + used.children_system)}},msec,{EVENT},,,,\\n")
sys.exit(code)
"""


@pytest.fixture
def course(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A small course in which benchmarks are run."""
    if sys.platform != "linux":
        pytest.skip("perf counts on Linux")
    if shutil.which("perf") is None:
        (tmp_path / "perf").write_text(PERF, encoding="utf-8")
        (tmp_path / "perf").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(place.root)
    return place


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run a benchmark and return its document; a goal may be missed here."""
    assert main([*arguments, "--json"]) in (0, 1)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["values"] and all(math.isfinite(value) for value in found["values"].values())
    return found


@pytest.mark.full_matrix("benchmarks")
def test_a_cold_check_beside_every_grader_that_is_installed(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "cold", "s01", "--runs", "1")
    names = [name for name in OTHERS if name not in PACKAGES or find_spec(PACKAGES[name])]
    assert [(each["of"], each["to"]) for each in found["ratios"]] == [("check", name) for name in names]
    assert set(found["values"]) == {"check", *names} and min(found["values"].values()) > 0.05


@pytest.mark.full_matrix("benchmarks")
def test_a_stub_beside_the_right_module(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "stub", "s01", "--runs", "1")
    assert set(found["values"]) == {"stub", "right module"} and found["ratios"][0]["at_most"] == 0.6


@pytest.mark.full_matrix("benchmarks")
def test_all_stages_and_their_sum(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "all")
    assert {"s01", "s02"} < set(found["facts"]) and set(found["values"]) == {"check", "pytest"}


@pytest.mark.full_matrix("benchmarks")
def test_a_submission_in_a_class_beside_plain_pytest(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--low", "1", "--high", "3", "--sample", "2")
    found = measured(capsys, "class", "s01", "--mix", "styles", "--runs", "1", "--beside", "pytest", *sizes)
    assert found["facts"]["passed"] == {"class": 3, "pytest": 2}
    assert found["ratios"][0]["at_least"] == 2.5


@pytest.mark.full_matrix("benchmarks")
def test_two_jobs_beside_one(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "jobs", "s01", "--mix", "equal", "--runs", "1", "--low", "1", "--high", "9")
    assert set(found["values"]) == {"1 job", "2 jobs"}


@pytest.mark.full_matrix("benchmarks")
def test_saves_in_watch_beside_cold_checks(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "watch", "s01", "--runs", "1", "--saves", "1")
    assert len(found["ratios"]) == 4 and len(found["values"]) == 8


@pytest.mark.full_matrix("benchmarks")
def test_what_a_million_submissions_cost(course: Place, capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, "million", "s01", "--low", "1", "--high", "30", "--mix", "broken", "--cpu", "0.36")
    assert found["values"]["core hours of a million"] == 100.0
    assert found["values"]["gradebook, bytes of a submission"] > 500


def test_without_perf_the_error_says_how_to_install_it(
    course: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["stub", "s01"]) == 2
    assert "apt-get install linux-perf" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", [("3", "2"), ("2", "2")])
def test_the_second_class_has_to_be_larger(
    course: Place, capsys: pytest.CaptureFixture[str], sizes: tuple[str, str]
) -> None:
    assert main(["million", "s01", "--low", sizes[0], "--high", sizes[1]]) == 2
    assert f"{sizes[0]} and {sizes[1]} submissions" in capsys.readouterr().err


@pytest.fixture(scope="module")
def stage() -> Stage:
    return load_course(ROOT).find("s15")


def test_every_twenty_submissions_have_the_shares_of_the_mix(stage: Stage) -> None:
    kinds = [each.kind for each in made_up(stage, "mix", 60)]
    for first in range(0, 60, 20):
        assert Counter(kinds[first : first + 20]) == MIXES["mix"]


def test_a_larger_class_begins_with_the_smaller_one_and_no_text_comes_twice(stage: Stage) -> None:
    small, large = made_up(stage, "mix", 20), made_up(stage, "mix", 60)
    assert large[:20] == small and len({each.text for each in large}) == 60


def test_right_modules_come_in_all_styles(stage: Stage) -> None:
    number = 1 + len(alternative_sources(stage))
    texts = {each.text.rpartition("\n# ")[0] for each in made_up(stage, "styles", 3 * number)}
    assert number == 7 and len(texts) == number


@pytest.mark.parametrize("kind", ["half", "wrong", "hostile", "equal"])
def test_what_is_not_broken_compiles(stage: Stage, kind: str) -> None:
    for each in made_up(stage, kind, 20):
        compile(each.text, each.name, "exec")


def test_a_ratio_is_taken_pair_by_pair() -> None:
    found = ratio({"a": [1.0, 3.0, 8.0], "b": [2.0, 2.0, 2.0]}, "a", "b", at_most=1.0)
    assert (found.median, found.least, found.most, found.is_met) == (1.5, 0.5, 4.0, False)
    assert Ratio("a", "b", 2.5, 2.0, 3.0, at_least=2.5).is_met
