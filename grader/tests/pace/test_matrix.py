"""By default each test runs in one tier, and none is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.isolation import tiers
from grader.tests.pace import matrix, options
from grader.tests.support.places import ROOT

MANY = options.cores() + 1


def marked(name: str) -> Any:
    return SimpleNamespace(name=name, args=("grader/web",) if name == "full_matrix" else (3, "stages"))


def item(name: str, marks: tuple[str, ...] = (), **params: object) -> Any:
    """Return a stand-in for a test with these parameters; its marks say what it is about."""
    return SimpleNamespace(
        path=Path("test_a.py"),
        name=f"{name}[{params}]",
        originalname=name,
        callspec=SimpleNamespace(params=params),
        get_closest_marker=lambda mark: marked(mark) if mark in marks else None,
    )


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The tiers that work on a machine that a test makes up."""
    found: set[str] = set(tiers.TIERS)
    monkeypatch.setattr(matrix, "why_missing", lambda tier: None if tier in found else "it is missing")
    return found


def test_each_test_is_run_in_the_strongest_tier_that_works(works: set[str]) -> None:
    works.discard("bubblewrap")
    items = [item("f", tier=tier, case=case) for case in (1, 2) for tier in tiers.TIERS]
    kept, left = matrix.one_tier_each(items)
    assert [matrix.parameters(each) for each in kept] == [{"tier": "landlock", "case": case} for case in (1, 2)]
    assert len(left) == 4


def test_one_that_names_weaker_tiers_alone_is_run_in_those(works: set[str]) -> None:
    kept, left = matrix.one_tier_each([item("f", tier="process"), item("g", isolation="landlock")])
    assert len(kept) == 2 and not left and works


def test_one_without_a_tier_or_for_every_tier_is_kept(works: set[str]) -> None:
    plain = [item("f", case="process"), item("g", tier="of another kind")]
    every = [item("h", ("every_tier",), tier=tier) for tier in tiers.TIERS]
    kept, left = matrix.one_tier_each([*plain, *every])
    assert kept == [*plain, *every] and not left and works


def test_one_of_the_full_matrix_is_left_and_takes_no_weaker_tier_with_it(works: set[str]) -> None:
    full = [item("f", ("full_matrix",), tier="bubblewrap"), item("g", ("full_matrix",), case=1)]
    plain = [item("f", tier="landlock"), item("g", case=2)]
    assert matrix.sampled([*full, *plain]) == (plain, full) and works


def test_of_some_every_so_many_sets_of_parameters_are_run(works: set[str]) -> None:
    items = [item("f", ("some_of",), case=case) for case in range(5)] + [item("g", ("some_of",), case=0)]
    kept, left = matrix.sampled(items)
    assert kept == [items[0], items[3], items[5]] and left == [items[1], items[2], items[4]] and works


def test_what_is_about_something_that_changed_is_run(works: set[str]) -> None:
    full, some = item("f", ("full_matrix",), case=1), [item("g", ("some_of",), case=case) for case in range(3)]
    for file, kept in (("stages/s01/README.md", some), ("grader/web/pages.py", [full, some[0]]), ("x.py", some[:1])):
        assert matrix.sampled([full, *some], frozenset({file}))[0] == kept
    assert works


def test_where_no_tier_works_one_is_left_to_tell_why(works: set[str]) -> None:
    works.clear()
    kept, _ = matrix.one_tier_each([item("f", tier=tier) for tier in tiers.TIERS])
    assert [matrix.tier_of(each) for each in kept] == [tiers.TIERS[0]]


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        (["grader/tests"], MANY),
        (["grader/tests/report"], MANY),
        (["."], MANY),
        (["grader/tests/test_flow.py"], 0),
        (["grader/tests/report/test_junit.py::test_c"], 0),
        (["stages/s15_attention/tests"], 0),
        (["hidden/s15_attention"], 0),
    ],
)
def test_folders_of_the_grader_s_own_tests_are_worth_workers(
    arguments: list[str], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    config: Any = SimpleNamespace(args=arguments)
    assert options.pytest_xdist_auto_num_workers(config) == workers


@pytest.mark.full_matrix("pyproject.toml")
def test_pytest_takes_the_number_of_workers_from_here(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(tmp_path),
        "-p",
        "no:cacheprovider",
        "-p",
        "grader.tests.pace.options",
    ]
    alone = ["--rootdir", str(tmp_path), "--confcutdir", str(tmp_path)]  # else it goes through all folders above
    settings = ["-n", "auto", "-c", os.devnull, *alone]
    done = subprocess.run([*command, *settings], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "workers" not in done.stdout, done.stdout  # xdist alone starts one for each core


@pytest.mark.full_matrix("pyproject.toml")
@pytest.mark.parametrize("arguments", [("--seeds", "2"), ("--all-tiers", "--seeds=2"), ("--changed-since", "HEAD")])
def test_options_are_known_wherever_their_values_stand(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", *arguments, "--help", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "--changed-since=COMMIT" in done.stdout, done.stderr
