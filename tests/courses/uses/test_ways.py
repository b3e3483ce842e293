"""A stage that builds on earlier ones gets the same verdict in every way of grading, and none runs a file of theirs."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.isolation import tiers
from tests.courses.conftest import WORDS
from tests.courses.uses.ways import Ways
from tests.support.places import ROOT

# Stages of this course with uses, and what refuses everything where a submission fails. Every way searches for causes,
# which takes minutes where most of a stage's tests need that function.
STAGES = {"s18": "GPT", "s19": "beam_search", "s20": "ViT", "s21": "MoELayer", "s23": "train"}
pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="each way is one of a system that forks")


def made(course: Path, stage: str, refuses: str, folder: Path) -> Ways:
    """Return a course in a folder of its own, the submission in it, and earlier files that say where they run."""
    ignored = shutil.ignore_patterns("__pycache__", ".grader", "pictures", "tests.key")
    for name in ("stages", "hidden", "drawings", "demo"):
        if (course / name).is_dir():
            shutil.copytree(course / name, folder / "course" / name, ignore=ignored)
    shutil.copyfile(course / "pyproject.toml", folder / "course" / "pyproject.toml")
    ways = Ways(folder / "course", stage, refuses, folder)
    ways.plant()
    return ways


def expect_same_everywhere(ways: Ways, monkeypatch: pytest.MonkeyPatch, with_dask: bool) -> None:
    monkeypatch.syspath_prepend(str(ways.root))  # as an editable install does
    found = {name: way() for name, way in ways.all.items()}
    if with_dask:
        found["dask"] = ways.dask()
    assert len({tuple(rows.items()) for rows in found.values()}) == 1, found
    passed = list(found["check"].values()).count("passed")
    assert (passed == len(ways.stage.criteria)) is ways.is_right and passed > 0
    assert ways.serve() == passed
    assert not ways.marker.exists()


@pytest.mark.full_matrix("grader/judging", "grader/course", "grader/gradebook", "grader/submission", "grader/watching")
@pytest.mark.parametrize("is_right", [False, True], ids=["fails", "right"])
def test_of_a_small_course(is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect_same_everywhere(
        made(WORDS, "s04", "" if is_right else "fewest_changes", tmp_path), monkeypatch, with_dask=False
    )


@pytest.mark.full_matrix("grader/judging", "grader/course", "grader/gradebook")
@pytest.mark.parametrize("is_right", [False, True], ids=["fails", "right"])
@pytest.mark.parametrize("stage", STAGES)
def test_of_this_course(stage: str, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_dask = find_spec("distributed") is not None
    expect_same_everywhere(made(ROOT, stage, "" if is_right else STAGES[stage], tmp_path), monkeypatch, with_dask)


def test_each_stage_with_uses_is_among_them() -> None:
    found = [path.parent.name.partition("_")[0] for path in sorted(ROOT.glob("stages/*/stage.toml"))
             if "\nuses = [" in path.read_text(encoding="utf-8")]  # fmt: skip
    assert found == list(STAGES)
