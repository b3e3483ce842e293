"""The suite's own options, as a plugin: a conftest is read too late for an option whose value stands apart."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

OWN = Path(__file__).resolve().parents[1]  # the grader's own tests
DEVELOPMENT = "hypothesis"  # is among what only they need

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # uncompiled, each process that is started takes twice as long
sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Have assertions of the tests alone rewritten: the grader is a plugin itself, and all of its modules would be."""
    named = early_config.known_args_namespace.file_or_dir or ["."]
    if any(is_own(Path(each.partition("::")[0])) for each in named) and not importlib.util.find_spec(DEVELOPMENT):
        what = f"{DEVELOPMENT} is not installed, and the grader's own tests need it."
        raise pytest.UsageError(f"{what} Run `uv run --group dev pytest` instead.")
    rewritten: set[str] = getattr(early_config.pluginmanager.rewrite_hook, "_must_rewrite", set())
    rewritten.discard("grader")
    rewritten.add("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("matrix", "how much of the full matrix is run")
    group.addoption("--all-tiers", action="store_true", help="run each test in every isolation tier that it names")
    group.addoption("--changed-since", metavar="COMMIT", help="run the full matrix of what differs from a commit, too")
    group.addoption("--seeds", type=int, default=1, help="how many seeds each reference is graded with")


@pytest.hookimpl(wrapper=True)  # comes before xdist, which reads these options here
def pytest_cmdline_main(config: pytest.Config) -> Iterator[None]:
    """Ask xdist, where it is installed, for workers; without it, tests run in this process."""
    if config.getoption("numprocesses", 0) is None and not hasattr(config, "workerinput"):  # a worker starts none
        config.option.numprocesses = "auto"
        config.option.dist = "worksteal"
    return (yield)


@pytest.hookimpl(tryfirst=True, optionalhook=True)  # xdist has an answer of its own, which would be taken
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Ask for workers where folders of the grader's own tests are run; tests and files that are named need none.

    A stage's tests are its learner's: they run in this process, in order, with prints and a debugger.
    There are two more than cores: with one more, three kept 1.5 of two cores busy, since tests wait for processes and
    for limits. Each further one would collect all of the tests once more, which takes 6 seconds of a processor.
    """
    folders = [Path(each) for each in config.args if "::" not in each and not each.endswith(".py")]
    return cores() + 2 if any(is_own(each) for each in folders) else 0


def is_own(place: Path) -> bool:
    """Return True for a place in the folder of the grader's own tests, or around it."""
    place = place.resolve()
    return place.is_relative_to(OWN) or OWN.is_relative_to(place)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
