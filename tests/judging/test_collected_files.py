"""Tests that lie in memory are collected and run as those of files are, and nothing of them is left behind."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.course.import_guard import Sources, serving, set_aside
from grader.judging.pytest_suite import MemoryFiles

TOPICS = "hidden.s90_small"
OWN = Sources({f"{TOPICS}.oracles": lambda: "VALUE = 7\n", f"{TOPICS}.__init__": str})


class Watcher:
    """A pytest plugin that keeps what was reported."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.told: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.outcomes[report.nodeid.partition("::")[2]] = report.outcome
            self.told[report.nodeid.partition("::")[2]] = str(report.longrepr or "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcomes[report.nodeid.rpartition("/")[2]] = "not collected"
            self.told[report.nodeid.rpartition("/")[2]] = str(report.longrepr)


def run(folder: Path, sources: Mapping[str, str], *files: Path) -> Watcher:
    """Run sources, which stand for files of folder/tests, and then files."""
    named = {folder / "tests" / name: text for name, text in sources.items()}
    watcher, memory = Watcher(), MemoryFiles(folder, named)
    options = ["-c", "/dev/null", "--rootdir", str(folder), "-p", "no:cacheprovider", "-p", "no:terminal"]
    options += ["--import-mode=importlib"]  # the other way puts the folder on sys.path, and leaves it there
    options += ["-p", "no:unraisableexception"]  # collects garbage ten times, among all that these tests have loaded
    places = memory.places([*map(str, named), *map(str, files)])
    try:
        pytest.main([*options, *places], plugins=[watcher, memory])
    finally:
        for name in [each for each in sys.modules if each.startswith("sealed_")]:
            del sys.modules[name]
    return watcher


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stage's folder with a test file that must never be run."""
    (tmp_path / "stage" / "tests").mkdir(parents=True)
    (tmp_path / "stage" / "tests" / "test_edited.py").write_text("def test_edited():\n    pass\n")
    return tmp_path / "stage"


def test_functions_classes_and_parameters_are_collected_and_nothing_of_the_folder(folder: Path) -> None:
    source = (
        "import pytest\n\ndef test_a():\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n\n"
        '@pytest.mark.parametrize("n", [1, 2])\ndef test_d(n):\n    assert n < 2\n'
    )
    assert run(folder, {"test_one.py": source}).outcomes == {
        "test_a": "passed",
        "TestB::test_c": "passed",
        "test_d[1]": "passed",
        "test_d[2]": "failed",
    }


def test_a_failed_assert_tells_what_it_compared(folder: Path) -> None:
    found = run(folder, {"test_one.py": "def test_a():\n    value = 3\n    assert value == 4\n"})
    assert "assert 3 == 4" in found.told["test_a"]


def test_nothing_is_written_and_no_source_is_shown(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    found = run(folder, {"test_one.py": "def test_a():\n    swordfish = 1\n    assert not swordfish\n"})
    assert sorted(folder.rglob("*")) == before
    assert found.outcomes == {"test_a": "failed"}


def test_files_are_run_after_what_lies_in_memory(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "test_other.py"
    other.write_text("def test_other():\n    pass\n")
    assert list(run(folder, {"test_one.py": "def test_a():\n    pass\n"}, other).outcomes) == ["test_a", "test_other"]


def test_without_sources_the_folder_is_left_to_pytest(folder: Path) -> None:
    file = folder / "tests" / "test_edited.py"
    assert run(folder, {}, file).outcomes == {"test_edited": "passed"}


@pytest.mark.parametrize(
    ("source", "said"), [("def test_a(:\n", "SyntaxError"), ("import nowhere_at_all\n", "nowhere")]
)
@pytest.mark.some_of(2)
def test_a_source_that_cannot_be_run_is_not_collected(folder: Path, source: str, said: str) -> None:
    found = run(folder, {"test_broken.py": source, "test_one.py": "def test_a():\n    pass\n"})
    assert found.outcomes["test_broken.py"] == "not collected" and said in found.told["test_broken.py"]


def test_a_dataclass_finds_its_module(folder: Path) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\n\n@dataclass\nclass Case:\n"
        "    n: int = field(default=1)\n\ndef test_a():\n    assert Case().n == 1\n"
    )
    assert run(folder, {"test_one.py": source}).outcomes == {"test_a": "passed"}


def test_tests_import_what_lies_in_memory(folder: Path) -> None:
    source = (
        f"from {TOPICS} import oracles\nfrom {TOPICS}.oracles import VALUE\n\ndef test_a():\n    assert VALUE == 7\n"
    )
    with serving(OWN):
        assert run(folder, {"test_one.py": source}).outcomes == {"test_a": "passed"}


def test_texts_go_before_files_of_the_same_name_and_are_forgotten() -> None:
    name = "hidden.s01_matrix_operations.oracles"
    own = importlib.import_module(name)
    with serving(Sources({name: lambda: "VALUE = 7\n"})):
        assert importlib.import_module(name).VALUE == 7
    assert sys.modules[name] is own and importlib.import_module(name) is own
    assert sys.modules["hidden.s01_matrix_operations"].oracles is own


def test_what_is_set_aside_is_imported_anew_and_back_again() -> None:
    name = "hidden.s01_matrix_operations.oracles"
    own = importlib.import_module(name)
    with set_aside({"hidden"}):
        assert name not in sys.modules
        assert importlib.import_module(name) is not own
    assert sys.modules[name] is own and importlib.import_module(name) is own


def test_what_was_imported_from_texts_is_gone_afterwards() -> None:
    with serving(OWN):
        importlib.import_module(f"{TOPICS}.oracles")
    assert not [name for name in sys.modules if name.startswith(TOPICS)]
    with pytest.raises(ImportError):
        importlib.import_module(f"{TOPICS}.oracles")


def test_what_is_not_among_the_texts_is_not_found_there() -> None:
    with serving(OWN), pytest.raises(ImportError):
        importlib.import_module(f"{TOPICS}.solution")


def test_the_finder_goes_even_where_the_run_fails() -> None:
    before = list(sys.meta_path)
    with pytest.raises(RuntimeError), serving(OWN):
        raise RuntimeError
    assert sys.meta_path == before
