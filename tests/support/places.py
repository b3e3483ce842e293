"""The places of the grader and of the course that the tests are about."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "grader"
TESTS = ROOT / "tests"
HIDDEN = ROOT / "hidden"
