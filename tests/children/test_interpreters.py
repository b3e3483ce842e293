"""One module starts the interpreters of the grader; what else starts a process stands here, with what it starts."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.places import HOUSE
from tests.test_flow import modules, own_name

OTHERS = {  # what else starts processes, and which
    "authoring.verify": "git",
    "children": "every interpreter",
    "classroom.pull": "git",
    "course.provenance": "git",
    "isolation.bubblewrap": "bwrap, to see whether it works",
    "report.terminal.pager": "a pager",
    "setup.making": "git",
    "setup.updating": "git",
    "submission.git": "git",
    "watching.keys": "an editor",
    "watching.tui": "an editor",
}
SPAWNING = {  # processes that multiprocessing starts, within `children.spawning`
    "authoring.proof": "gradings of trusted modules",
    "gradebook.process_pool": "gradings of a class",
}
STARTS = {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
MAY_START = re.compile(
    r"subprocess|asyncio|executable|multiprocessing|ProcessPoolExecutor|\bos\b\W*(?:import|\.(?:exec|spawn|p|s))"
)
OF_OS = ("exec", "spawn", "posix_spawn", "system", "popen", "startfile")
INTERPRETER = {"executable", "_base_executable", "_executable"}


def _calls(tree: ast.Module) -> set[str]:
    """Return what a module calls or names of all that starts a process, as module.name."""
    found = set()
    types = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript)
    }  # as in subprocess.Popen[str]
    for node in ast.walk(tree):
        if id(node) not in types and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            top, name = node.value.id, node.attr
            if (
                (top == "subprocess" and name in STARTS)
                or (top == "os" and name.startswith(OF_OS))
                or (top == "sys" and name in INTERPRETER)
                or (top == "asyncio" and name.startswith("create_subprocess"))
            ):
                found.add(f"{top}.{name}")
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "subprocess",
            "os",
            "sys",
            "multiprocessing",
            "asyncio",
        ):
            names = {alias.name for alias in node.names}
            wanted = {*STARTS, *INTERPRETER, "get_context", "Process", "Pool"}
            found |= {f"{node.module}.{name}" for name in names if name in wanted or name.startswith(OF_OS)}
        elif isinstance(node, ast.ImportFrom) and any(each.name == "ProcessPoolExecutor" for each in node.names):
            found.add("concurrent.futures.ProcessPoolExecutor")
        elif isinstance(node, ast.Constant) and node.value in INTERPRETER:
            found.add("sys.executable")
    return found


def test_one_place_starts_interpreters() -> None:
    texts = {own_name(path): path.read_text(encoding="utf-8") for path in modules()}
    found = {name: _calls(ast.parse(text)) for name, text in texts.items() if MAY_START.search(text)}
    starting = {name: calls for name, calls in found.items() if calls}
    interpreters = {name for name, calls in starting.items() if any(each.startswith("sys.") for each in calls)}
    assert interpreters == {"children"}
    spawning = {name for name, calls in starting.items() if any("multi" in each or "Pool" in each for each in calls)}
    assert spawning == set(SPAWNING)
    assert set(starting) == {*OTHERS, *SPAWNING}
    for name in SPAWNING:
        text = HOUSE.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        assert "with children.spawning(" in text, name


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.Popen(['a'])",
        "import os\nos.execv('a', ['a'])",
        "from os import posix_spawn",
        "import sys\nprint(sys.executable)",
        "from multiprocessing import get_context",
        "from concurrent.futures import ProcessPoolExecutor",
        "import sys\ngetattr(sys, '_base_executable')",
    ],
)
def test_what_starts_a_process_is_seen(text: str) -> None:
    assert MAY_START.search(text) and _calls(ast.parse(text))
