"""A release of the real course, used as a learner, an instructor and someone who tampers with it would."""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.classroom.released import ENGINE, NAME, REFERENCE, Copy
from tests.conftest import need
from tests.support.authors_copy import AuthorsCopy
from tests.support.command import RUN
from tests.support.places import HIDDEN, ROOT

ABOUT = "grader/course", "grader/setup", "grader/authoring", "hatch_build.py", "pyproject.toml"
pytestmark = pytest.mark.full_matrix(*ABOUT)  # by default the walk through the installed wheel stands for it
IMPORTS = """
import importlib, pathlib, sys
home = pathlib.Path(sys.argv[1])
for path in sorted(home.rglob("grader/**/*.py")):
    name = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
    assert pathlib.Path(importlib.import_module(name).__file__).is_relative_to(home), name
"""


def imported(path: Path) -> set[str]:
    """Return the files of the grader that a module imports at its top, as paths below the course."""
    found = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}{more}" for node in found for more in ("", *(f".{alias.name}" for alias in node.names))}
    paths = {
        name.replace(".", "/") + end for name in names if name.startswith("grader.") for end in (".py", "/__init__.py")
    }
    return {path for path in paths if (ROOT / path).is_file()}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of s01 for self-study; beside it its grader, with the bytecode that is here of the same modules."""
    target = tmp_path_factory.mktemp("release") / "copy"
    command = [sys.executable, "-c", RUN, "release", str(target), "--self-paced", "--stages", "s01"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (target / ".grader" / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target.parent / ENGINE)
    for path in (target.parent / ENGINE / "grader").rglob("*.py"):
        own = ROOT / path.relative_to(target.parent / ENGINE)
        compiled = Path(importlib.util.cache_from_source(str(own)))
        if compiled.exists() and own.exists() and own.read_bytes() == path.read_bytes():
            shutil.copystat(own, path)  # bytecode knows its source by its time
            there = Path(importlib.util.cache_from_source(str(path)))
            there.parent.mkdir(exist_ok=True)
            shutil.copy2(compiled, there)
    return target


@pytest.fixture
def copy(released: Path, tmp_path: Path) -> Copy:
    """A fresh one of it."""
    return Copy(Path(shutil.copytree(released, tmp_path / "copy")), released.parent / ENGINE)


@pytest.fixture
def keyed(copy: Copy, tmp_path: Path) -> Copy:
    """A copy whose key lies elsewhere, as an instructor's does."""
    copy.key = copy.key.rename(tmp_path / "instructors.key")
    return copy


@pytest.mark.full_matrix("grader/course", "hatch_build.py")
def test_everything_in_a_copy_can_be_imported(copy: Copy) -> None:
    done = copy.python("-c", IMPORTS, str(copy.engine))
    assert done.returncode == 0, done.stderr


def test_what_modules_import_of_the_grader_is_in_a_copy(copy: Copy) -> None:
    wanted = {file for path in (copy.engine / "grader").rglob("*.py") for file in imported(path)}
    assert len(wanted) > 200 and not [file for file in wanted if not (copy.engine / file).is_file()]


def test_the_reference_passes_all_tests_there_and_is_shown_then(copy: Copy) -> None:
    assert copy.grader("solution", "s01").returncode == 3
    shutil.copy(REFERENCE, copy.module)
    done = copy.grader("check", "s01", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["passed"] and not found["public_only"] and not found["faults"]
    collected = copy.python("-m", "pytest", "--collect-only", "-q", f"stages/{NAME}/tests").stdout.splitlines()
    assert sum(row["tests_total"] for row in found["criteria"]) > sum("::" in line for line in collected) > 0
    assert copy.grader("solution", "s01").stdout == REFERENCE.read_text()


@pytest.mark.full_matrix("grader/course")
def test_a_known_mistake_is_named_there_as_it_is_here(copy: Copy, tmp_path: Path) -> None:
    wrong = REFERENCE.read_text() + "\n\ndef trace(a):\n    return a.sum()\n"
    copy.module.write_text(wrong)
    there = json.loads(copy.grader("check", "s01", "--json", "--seed", "7").stdout)
    command = [sys.executable, "-c", RUN, "check", "s01", "--json", "--seed", "7", "--submission", str(copy.module)]
    here = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout)
    assert not here["passed"]
    changing = ("duration_s", "file", "criteria", "provenance")
    assert {key: there[key] for key in there if key not in changing} == {
        key: here[key] for key in here if key not in changing
    }
    for mine, own in zip(there["criteria"], here["criteria"], strict=True):
        assert [{**each, "where": None} for each in mine.pop("failures")] == [
            {**each, "where": None} for each in own.pop("failures")
        ]
        assert mine == own


def test_without_the_key_public_tests_are_run_and_no_pass_is_recorded(keyed: Copy) -> None:
    shutil.copy(REFERENCE, keyed.module)
    done = keyed.grader("check", "s01")
    assert done.returncode == 0 and "Hidden tests run when you submit." in done.stdout
    stages = json.loads(keyed.grader("status", "--json").stdout)["stages"]
    assert [(each["id"], each["state"]) for each in stages] == [("s01", "public")]
    refused = keyed.grader("solution", "s01")
    assert refused.returncode == 4 and "are sealed" in refused.stderr and not refused.stdout
    alone = keyed.grader("solution", "s01", "trace", "--give-up", "--yes")
    assert alone.returncode == 4 and "is sealed" in alone.stderr and "instructor" in alone.stderr and not alone.stdout
    hints = [keyed.grader("hint", "s01", "trace").stdout for _ in range(3)]
    assert "ask your instructor" in hints[-1] and "--give-up" not in "".join(hints)


def test_in_a_copy_for_oneself_a_function_is_shown_after_the_last_hint(copy: Copy) -> None:
    for _ in range(3):
        copy.grader("hint", "s01", "trace")
    shown = copy.grader("solution", "s01", "trace", "--give-up", "--yes")
    assert shown.returncode == 0 and "def trace" in shown.stdout and "def transpose" not in shown.stdout
    assert "1 seen" in copy.grader("status").stdout


@pytest.mark.full_matrix("grader/course")
def test_whoever_has_the_key_grades_what_was_handed_in(keyed: Copy) -> None:
    shutil.copy(REFERENCE, keyed.root / "handed_in.py")
    arguments = "check", "s01", "--submission", "handed_in.py"
    assert keyed.grader(*arguments).returncode == 4
    done = keyed.grader(*arguments, "--key-file", str(keyed.key), "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["passed"]


@pytest.mark.full_matrix("grader/course")
def test_the_shipped_key_is_out_of_reach_of_a_learners_module(copy: Copy) -> None:
    need("bubblewrap")
    copy.module.write_text(f"{copy.module.read_text()}\n\ndef trace(A):\n    return open({str(copy.key)!r})\n")
    done = copy.grader("check", "s01", "--json", "--isolation", "bubblewrap")
    assert done.returncode == 1 and "FileNotFoundError" in done.stdout


@pytest.mark.some_of(4, "grader/course")
@pytest.mark.parametrize("spoilt", ["altered", "cut off", "missing", "no bundle"])
def test_a_bundle_that_is_not_what_was_sealed_is_our_fault(copy: Copy, spoilt: str) -> None:
    data = copy.bundle.read_bytes()
    shutil.copy(REFERENCE, copy.module)
    if spoilt == "missing":
        copy.bundle.unlink()
    else:
        middle = len(data) // 2
        changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        copy.bundle.write_bytes({"altered": changed, "cut off": data[:-1], "no bundle": b"pass\n"}[spoilt])
    done, doctor = copy.graders(("check", "s01", "--json"), ("doctor", "--json"))
    assert done.returncode == 4 and f"{NAME}.sealed" in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
    assert not (copy.root / ".grader" / "progress.json").exists()
    assert f"{NAME}.sealed" in doctor.stdout


def test_what_a_learner_does_first_works(copy: Copy) -> None:
    first = ((), ("status",), ("show", "s01"), ("hint", "s01", "matmul"), ("start", "s01"), ("--help",))
    for done in copy.graders(*first):
        assert done.returncode == 0, (done.args, done.stderr)
        assert "demo" not in done.stdout
    copy.module.write_text("x = 1\n")
    reset, doctor = copy.graders(("reset", "s01", "--yes"), ("doctor",))
    assert reset.returncode == 0 and "NotImplementedError" in copy.module.read_text()
    assert "README, stub, public tests and sealed ones" in " ".join(doctor.stdout.split()), doctor.stdout


def test_what_needs_the_authors_copy_says_so(copy: Copy) -> None:
    for done in copy.graders(("release", "x", "--self-paced"), ("course", "verify"), ("demo",)):
        assert done.returncode == 2 and "learner's copy" in " ".join(done.stderr.split()), done.args


@pytest.mark.full_matrix("grader/course")
def test_public_tests_run_in_plain_pytest(copy: Copy) -> None:
    shutil.copy(REFERENCE, copy.module)
    done = copy.python("-m", "pytest", "-q", f"stages/{NAME}/tests")
    assert done.returncode == 0, done.stdout


@pytest.mark.full_matrix("grader/course")
def test_keys_and_receipts_work_there(copy: Copy, tmp_path: Path) -> None:
    keys, receipt = tmp_path / "keys", tmp_path / "receipt.json"
    assert copy.grader("keys", "new", str(keys)).returncode == 0
    shutil.copy(REFERENCE, copy.module)
    done = copy.grader("check", "s01", "--receipt", str(receipt), "--signing-key", str(keys / "signing.key"))
    assert done.returncode == 0, done.stderr
    module = f"stages/{NAME}/matrices.py"
    done = copy.grader("verify", str(receipt), "--public-key", str(keys / "signing.pub"), "--submission", module)
    assert done.returncode == 0 and done.stdout.startswith("valid: s01 passed")


def test_a_leak_in_the_authors_own_files_stops_a_release(tmp_path: Path) -> None:
    author = AuthorsCopy(tmp_path / "author")
    shutil.copy(ROOT / "LICENSE", author.root)
    oracle = HIDDEN / NAME / "oracles.py"
    line = next(
        line for line in oracle.read_text().splitlines() if line.strip().startswith("return ") and len(line) > 50
    )
    with (author.root / "grader" / "table.py").open("a") as file:
        file.write(f"\n\ndef forgotten(x):\n    {line.strip()}\n")
    done = author.run("release", str(tmp_path / "copy"), "--self-paced")
    told = " ".join(done.stderr.split())
    assert done.returncode == 4 and f"grader/table.py holds hidden text: hidden/{NAME}/oracles.py:" in told
    assert not (tmp_path / "copy").exists()
