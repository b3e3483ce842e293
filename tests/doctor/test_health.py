"""`grader doctor`: what it finds of the machine, its tiers, and a course."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from grader import cli
from grader.doctor import guards, health
from grader.doctor.health import Finding, examine
from grader.errors import CourseError, IsolationRefused
from grader.isolation import tiers
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import finding_lines
from grader.sandbox.process import LoadFailed
from grader.setup.wheel import source_of, wheel_files, wheel_path
from grader.submission.parsing import Problem
from tests.support.places import HIDDEN, ROOT

STAGE = "s01_matrix_operations"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of one stage, with hidden files of its own beside it."""
    shutil.copytree(ROOT / "stages" / STAGE, tmp_path / "stages" / STAGE)
    shutil.copytree(HIDDEN / STAGE, tmp_path / "hidden" / STAGE)
    (tmp_path / "pyproject.toml").write_text('[tool.grader]\npackages = ["numpy"]\n', encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def examined() -> list[Finding]:
    """What is found in this course."""
    return list(examine(ROOT, "utf-8", 100, True))


@pytest.mark.full_matrix("grader/isolation")
def test_python_packages_and_tiers_are_all_looked_at(examined: list[Finding]) -> None:
    found = {finding.topic: finding for finding in examined}
    assert {
        "python",
        *health.PACKAGES,
        *(f"isolation {tier}" for tier in tiers.TIERS),
        "terminal",
        "stages",
        "progress",
    } <= set(found)
    assert found["python"].what.startswith(".".join(map(str, sys.version_info[:3])))
    assert found["numpy"].what == metadata.version("numpy")
    assert found["isolation process"].level == "ok"


def test_this_course_is_consistent(examined: list[Finding]) -> None:
    assert [finding.level for finding in examined if finding.topic == "stages"] == ["ok"]
    of_the_course = [finding for finding in examined if finding.topic.split()[0] in ("course", "stages")]
    assert [finding for finding in of_the_course if finding.level != "ok"] == []


def test_an_old_python_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LEAST_PYTHON", (4, 0))
    assert health._python().level == "broken"


def test_a_missing_package_is_broken_and_says_what_to_do() -> None:
    finding = health._package("no-such-package-anywhere")
    assert (finding.level, finding.what, finding.remedy) == ("broken", "is not installed", "Run `uv sync`.")


def test_a_terminal_in_the_c_locale_is_told_what_it_lacks() -> None:
    found = health._terminal("utf-8", 100, True, plain=True)
    assert (found.level, "only ASCII" in found.remedy) == ("warning", True)


@pytest.mark.parametrize(
    ("encoding", "width", "level"),
    [("utf-8", 80, "ok"), ("ascii", 80, "warning"), ("", 80, "warning"), ("utf-8", 60, "warning")],
)
def test_a_poor_terminal_is_a_warning(encoding: str, width: int, level: str) -> None:
    assert health._terminal(encoding, width, True).level == level


def test_a_finding_shows_its_remedy_below_it_in_the_same_column() -> None:
    finding = Finding("isolation bubblewrap", "warning", "is unavailable: " + "reason " * 10, "Install it.")
    lines = [line.plain for line in finding_lines(finding, Look(80))]
    assert lines[0].startswith("! isolation bubblewrap   is unavailable: reason")
    assert lines[-1] == " " * 25 + "Install it."
    assert max(map(len, lines)) <= 80


def isolation(monkeypatch: pytest.MonkeyPatch, missing: dict[str, str], *found: guards.Guard) -> dict[str, Finding]:
    monkeypatch.setattr(tiers, "why_missing", missing.get)
    monkeypatch.setattr(guards, "try_out", lambda tier: found)
    return {finding.topic.removeprefix("isolation "): finding for finding in health._isolation()}


def test_the_strongest_tier_that_works_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {})
    assert [found[tier].what for tier in tiers.TIERS] == ["works, and checks use it", "works", "works"]


def test_a_missing_tier_is_a_warning_with_its_reason_where_another_works(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {"bubblewrap": "bwrap is not installed"})
    missing = found["bubblewrap"]
    assert (missing.level, missing.what) == ("warning", "is unavailable: bwrap is not installed")
    assert "other people's files" in missing.remedy
    assert found["landlock"].what == "works, and checks use it"


def test_by_default_only_the_tier_that_checks_use_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(tiers, "why_missing", {"bubblewrap": "bwrap is not installed"}.get)

    def try_out(tier: str) -> tuple[guards.Guard, ...]:
        tried.append(tier)
        return ()

    monkeypatch.setattr(guards, "try_out", try_out)
    found = [finding.what for finding in health._isolation(every=False)]
    assert tried == ["landlock"] and found[1] == "works, and checks use it"
    assert "`grader doctor --every-tier` tries it" in found[2]


def test_where_bubblewrap_is_not_installed_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = isolation(monkeypatch, {"bubblewrap": "bwrap is not installed"})
    assert found["bubblewrap"].remedy.endswith("make it work: `apt-get install bubblewrap`, as root.")


def test_no_tier_at_all_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {"bubblewrap": "x", "landlock": "y", "process": "z"})
    assert [each.level for each in found.values()] == ["warning", "warning", "broken"]


def test_what_a_tier_holds_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = guards.Guard("no TCP", True, True), guards.Guard("no UDP", False, False)
    found = isolation(monkeypatch, {}, *tried)["process"]
    assert found.what == "works. Tried and blocked: no TCP. It does not promise: no UDP"
    assert (found.level, found.guards) == ("ok", tried)


def test_a_promise_that_is_not_kept_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolation(monkeypatch, {}, guards.Guard("no TCP", True, True), guards.Guard("no UDP", False, True))
    landlock = found["landlock"]
    assert (landlock.level, landlock.what) == ("warning", "works. Tried and blocked: no TCP. It fails at: no UDP")
    assert "other people's files" in landlock.remedy and len(landlock.guards) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (IsolationRefused("no process can be started"), "no process can be started"),
        (OSError("no more files"), "no more files"),
        (LoadFailed(Problem("import-error", "NumPy is missing", None, None)), "NumPy is missing"),
    ],
)
def test_a_tier_in_which_no_probe_starts_does_not_count(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, said: str
) -> None:
    def refuse(tier: str) -> tuple[guards.Guard, ...]:
        raise failure

    monkeypatch.setattr(tiers, "why_missing", {}.get)
    monkeypatch.setattr(guards, "try_out", refuse)
    found = list(health._isolation())
    assert [each.what for each in found] == [f"is unavailable: {said}"] * 3
    assert found[-1].level == "broken"


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
    assert "'two-hot', which is not a criterion" in broken(course)


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


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, course: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run `grader doctor` in the course; returns the exit code and what it printed."""
    monkeypatch.chdir(course)
    monkeypatch.setattr(health, "_isolation", lambda every: iter([Finding("isolation process", "ok", "works")]))

    def run(*options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["grader", "doctor", *options])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return int(left.value.code or 0), capsys.readouterr().out

    return run


def test_the_command_prints_findings_and_ends_with_0_where_all_works(run: Callable[..., tuple[int, str]]) -> None:
    code, out = run()
    assert code == 0
    assert "isolation process" in out


def test_the_command_ends_with_4_where_something_is_broken(run: Callable[..., tuple[int, str]], course: Path) -> None:
    (course / "stages" / STAGE / "stage.toml").write_text("id = [", encoding="utf-8")
    code, out = run("--json")
    document = json.loads(out)
    assert (code, document["healthy"], document["schema"]) == (4, False, 1)
    assert {"topic", "level", "what", "remedy", "guards", "promises"} == set(document["findings"][0])
    assert document["findings"][-1]["topic"] == "course"
