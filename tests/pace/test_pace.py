"""How much of the full matrix a run covers, and what its workers share."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock, Timeout

from grader.isolation import tiers
from tests.pace import changed, matrix, memory, options
from tests.pace.shared import compiled_once, made_once
from tests.support.places import ROOT

WEB = ROOT / "tests" / "web" / "test_browser.py"
TOP = ROOT / "tests" / "test_road.py"


@pytest.mark.parametrize(
    ("test", "about", "file", "expected"),
    [
        (WEB, (), "grader/web/pages.py", True),
        (WEB, (), "tests/web/made.py", True),
        (WEB, (), "tests/web/test_browser.py", True),
        (WEB, (), "grader/webbing.py", False),
        (WEB, (), "grader/watching/plain.py", False),
        (WEB, ("stages",), "stages/s01_matrix_operations/README.md", True),
        (TOP, ("hatch_build.py",), "hatch_build.py", True),
        (TOP, ("hatch_build.py",), "tests/test_flow.py", False),
        (TOP, (), "tests/test_road.py", True),
        (Path("/elsewhere/test_a.py"), (), "grader/web/pages.py", False),
    ],
)
def test_a_test_is_about_its_room_and_what_its_mark_names(
    test: Path, about: tuple[str, ...], file: str, expected: bool
) -> None:
    assert changed.concerned(test, about, {file, "README.md"}) == expected
    assert not changed.concerned(test, about, ())


def test_files_that_differ_from_a_commit_are_found_committed_or_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    for name in ("kept.py", "committed.py", "edited.py"):
        (tmp_path / name).write_text("x = 1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "committed.py").write_text("x = 2\n")
    git("commit", "-qam", "second")
    (tmp_path / "edited.py").write_text("x = 2\n")
    assert changed.since("HEAD~1", tmp_path) == {"committed.py", "edited.py"}


def test_a_commit_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match="--changed-since nowhere: "):
        changed.since("nowhere", tmp_path)


def test_what_a_mark_of_the_full_matrix_names_is_there() -> None:
    named = re.compile(r"pytest\.mark\.(?:full_matrix|some_of)\(([^)]*)\)")
    marks = [
        (path, mark) for path in (ROOT / "tests").rglob("test_*.py") for mark in named.findall(path.read_text("utf-8"))
    ]
    places = [(path.name, place) for path, mark in marks for place in re.findall(r'"([^"]+)"', mark)]
    assert len(places) > 10
    assert [(name, place) for name, place in places if not (ROOT / place).exists()] == []


MANY = options.cores() + 2


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
        (["tests"], MANY),
        (["tests/report"], MANY),
        (["."], MANY),
        (["tests/test_flow.py"], 0),
        (["tests/report/test_junit.py::test_c"], 0),
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
        "tests.pace.options",
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


PACKED = """
from tests.pace import memory
kept = [object() for _ in range(1_000_000)]
before = list(map(id, kept))
memory.pack()
assert list(map(id, kept)) == before and len(set(before)) == len(before)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells its regions there")
def test_only_ones_own_memory_is_asked_for() -> None:
    found = list(memory.own())
    assert found and all(start < end for start, end in found)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux packs")
def test_what_is_packed_stays_as_it_is() -> None:
    subprocess.run([sys.executable, "-c", PACKED], cwd=ROOT, check=True)


class Factory:
    """Stands in for pytest's own, in the worker of a run."""

    def __init__(self, base: Path) -> None:
        self.base = base

    def getbasetemp(self) -> Path:
        self.base.mkdir(exist_ok=True)
        return self.base


def test_workers_of_a_run_have_one(tmp_path: Path) -> None:
    made: list[Path] = []
    found = [made_once(Factory(tmp_path / f"popen-gw{k}"), "thing", made.append) for k in (0, 1)]  # type: ignore[arg-type]
    assert found == made * 2 and made[0].is_dir() and made[0].parent == tmp_path


def test_without_workers_it_lies_with_what_else_the_run_makes(tmp_path: Path) -> None:
    found = made_once(Factory(tmp_path / "pytest-3"), "thing", lambda folder: None)  # type: ignore[arg-type]
    assert found.parent == tmp_path / "pytest-3"


def test_where_making_it_fails_the_next_makes_it_from_the_beginning(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space")

    def makes(folder: Path) -> None:
        (folder / "whole").touch()

    with pytest.raises(OSError, match="no space"):
        made_once(Factory(tmp_path / "popen-gw0"), "thing", fails)  # type: ignore[arg-type]
    found = made_once(Factory(tmp_path / "popen-gw1"), "thing", makes)  # type: ignore[arg-type]
    assert [each.name for each in found.iterdir()] == ["whole"]


def test_in_a_fresh_clone_one_worker_collects_first_and_then_all_do(tmp_path: Path) -> None:
    lock, compiled = tmp_path / "lock", tmp_path / "__pycache__"
    with compiled_once(lock, compiled), pytest.raises(Timeout), FileLock(lock, timeout=0):
        pass
    compiled.mkdir()
    with compiled_once(lock, compiled), FileLock(lock, timeout=10):
        pass
