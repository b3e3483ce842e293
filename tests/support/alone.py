"""Runs a piece of code in an interpreter of its own, for what a process does to itself for good."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from typing import Any

from tests.support.places import ROOT

GIVEN = """
import ctypes

def is_open():
    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 1  # PR_GET_DUMPABLE: others of this user may look into it

def tried(function, *arguments):
    try:
        return function(*arguments)
    except BaseException as error:
        return type(error).__name__
"""


def alone(code: str, *arguments: str, seconds: float = 120) -> Any:
    """Run code in a new process and return the literal that it printed last; arguments are its sys.argv[1:]."""
    text = f"{GIVEN}\n{textwrap.dedent(code)}"
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout.strip().splitlines()[-1])
