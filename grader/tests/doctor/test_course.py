"""What the doctor says of a course: each file that is missing or broken, by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.doctor import health
from grader.doctor.health import Finding
from grader.errors import CourseError
from grader.setup.wheel import source_of, wheel_files, wheel_path
from grader.tests.doctor.conftest import STAGE


def of_course(root: Path) -> list[Finding]:
    return list(health._course(root))


def broken(root: Path) -> str:
    return "\n".join(finding.what for finding in of_course(root) if finding.level == "broken")


def test_a_whole_course_is_one_line(course: Path) -> None:
    stages, progress = of_course(course)
    assert (stages.level, progress.level) == ("ok", "ok")
    assert stages.what.startswith("1 in ")


def test_a_manifest_with_mistakes_names_each(course: Path) -> None:
    (course / "stages" / STAGE / "stage.toml").write_text("schema = 1\n", encoding="utf-8")
    found = of_course(course)
    assert len(found) > 3
    assert {finding.level for finding in found} == {"broken"}


def test_no_course_is_a_finding_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(start: Path) -> Path:
        raise CourseError("no course here", "Go to one.")

    monkeypatch.setattr(health, "find_course_root", nowhere)
    assert of_course(tmp_path) == [Finding("course", "broken", "no course here", "Go to one.")]


def remove_readme(root: Path) -> None:
    (root / "stages" / STAGE / "README.md").unlink()


def remove_module(root: Path) -> None:
    (root / "stages" / STAGE / "matrices.py").unlink()


@pytest.mark.parametrize(("damage", "file"), [(remove_readme, "README.md"), (remove_module, "matrices.py")])
def test_a_file_that_a_learner_can_lose_is_a_warning(course: Path, damage: Callable[[Path], None], file: str) -> None:
    damage(course)
    finding = of_course(course)[0]
    assert (finding.level, finding.what) == ("warning", f"stages/{STAGE}/{file} is missing")
    assert finding.remedy.endswith(" puts it back.")


def test_a_row_without_a_test_is_broken(course: Path) -> None:
    for path in (course / "hidden" / STAGE).glob("test_*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace('"one-hot"', '"two-hot"'), encoding="utf-8")
    assert "one-hot has no hidden test" in broken(course)
    assert "'two-hot', which is not a row" in broken(course)


def test_a_mark_that_a_function_computes_may_be_of_any_row(course: Path) -> None:
    for path in (course / "hidden" / STAGE).glob("test_*.py"):
        text = path.read_text(encoding="utf-8").replace('pytest.mark.criterion("one-hot")', 'row("hot")')
        made = 'def row(name):\n    return pytest.mark.criterion(f"one-{name}")\n'
        path.write_text(text.replace("import pytest\n", f"import pytest\n{made}", 1), encoding="utf-8")
        assert made in path.read_text(encoding="utf-8")
    assert broken(course) == ""


def test_a_test_file_that_is_no_python_counts_for_nothing(course: Path) -> None:
    for path in (course / "stages" / STAGE / "tests").glob("test_*.py"):
        path.write_text("def (", encoding="utf-8")
    assert "dot-product has no public test" in broken(course)


def test_a_solution_that_lacks_a_function_is_broken(course: Path) -> None:
    path = course / "hidden" / STAGE / "solution.py"
    path.write_text(path.read_text(encoding="utf-8").replace("def trace(", "def trail("), encoding="utf-8")
    assert "the solution does not define trace" in broken(course)


@pytest.mark.parametrize("text", ["def (", "@mistake(criterion=1 + 1)\ndef f(): ...\n"])
def test_mistakes_that_cannot_be_read_are_broken(course: Path, text: str) -> None:
    (course / "hidden" / STAGE / "mistakes.py").write_text(text, encoding="utf-8")
    assert broken(course)


def test_a_disk_that_is_full_is_noticed(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    finding = of_course(course)[-1]
    assert (finding.topic, finding.level) == ("progress", "broken")
    assert finding.what == f"{course} cannot be written: No space left on device"


def test_a_damaged_progress_file_is_a_warning(course: Path) -> None:
    (course / ".grader").mkdir()
    (course / ".grader" / "progress.json").write_text("{", encoding="utf-8")
    finding = of_course(course)[-1]
    assert (finding.topic, finding.level) == ("progress", "warning")
    assert "progress.damaged-" in finding.what


def test_the_wheel_that_a_folder_brings_is_compared_with_its_hash(course: Path) -> None:
    for name, data in wheel_files({"grader/__init__.py": b""}).items():
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_bytes(data)
    with (course / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{source_of('attention-grader')}\n")
    assert [each.level for each in of_course(course) if each.topic == "wheel"] == ["ok"]
    (course / wheel_path("attention-grader")).write_bytes(b"another")
    (found,) = (each for each in of_course(course) if each.topic == "wheel")
    assert found.level == "broken" and found.remedy
