"""CI runs the grader's own tests in a new order each time; whoever runs the tests of a stage has them in theirs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

SCRIPTS = [ROOT / ".ci" / "run", ROOT / ".ci" / "matrix", *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
FILE = "".join(f"def test_{number}(): pass\n" for number in range(9))


def order(folder: Path, *options: str) -> tuple[str, list[str]]:
    """Return what the head of a run says of the order, and the order in which two files' tests are run."""
    for name in ("a", "b"):
        (folder / f"test_{name}.py").write_text(FILE, encoding="utf-8")
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-p", "no:cacheprovider", "-v", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--numprocesses=0", *settings, str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "18 passed" in done.stdout, done.stdout + done.stderr
    seed = re.search(r"--random-order-seed=(\d+)", done.stdout)
    return seed[1] if seed else "", re.findall(r"test_([ab]\.py::test_\d) PASSED", done.stdout)


@pytest.mark.full_matrix("pyproject.toml", "tests/pace")
def test_the_seed_in_the_head_of_a_run_repeats_its_order(tmp_path: Path) -> None:
    _, written = order(tmp_path)
    seed, drawn = order(tmp_path, "--random-order")
    assert written == sorted(drawn) != drawn
    assert order(tmp_path, f"--random-order-seed={seed}") == (seed, drawn)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_no_run_in_ci_has_the_order_of_the_files(script: Path) -> None:
    runs = re.findall(r"^.*\brun\b.* pytest(?: .*)?$", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert [line for line in runs if "--random-order" not in line] == []
    assert runs or script.name not in ("run", "matrix", "ci.yml")
