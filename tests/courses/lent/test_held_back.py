"""A lent reference stays out of every document that a student can receive, however a module beside it tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.gradebook.store import Gradebook
from grader.isolation import tiers
from tests.courses.conftest import solution
from tests.courses.lent.channels import module, modules, told
from tests.courses.uses.building import Grade, wrote

pytestmark = pytest.mark.usefixtures("brief_search")
EVERY = modules()
FILES = ("github", "json", "junit", "gradescope", "autograding", "classroom50", "problems")


def documents(grader: Grade, out: Path, place: Path) -> str:
    """Return all that a gradebook gives: each export, each page, the history, and the verdicts that it keeps."""
    texts = []
    for form in ("csv", "json", "canvas", "moodle", "junit"):
        name = str(place / form)
        assert grader("class", "export", "--format", form, "--out", str(out), "--stage", "s04", name).code == 0
        texts.append((place / form).read_text())
    assert grader("class", "report", str(out), "--out", str(place / "pages")).code == 0
    texts += [path.read_text() for path in (place / "pages").rglob("*.html")]
    history = grader("class", "history", "--out", str(out))
    with Gradebook.open(out) as book:
        verdicts = [each.verdict for each in book.results()] + [each.verdict for each in book.waiting().values()]
    kept = [json.dumps(each) for each in verdicts]
    return "\n".join([*texts, history.out, history.err, *kept])


def policy(out: Path, text: str) -> None:
    out.mkdir(exist_ok=True)
    (out / "class.toml").write_text(text)


@pytest.mark.some_of(2, "grader/report", "grader/gradebook")
@pytest.mark.parametrize("feedback", ["full", "verdict"])
def test_no_document_of_a_class_holds_a_piece_of_it(
    grader: Grade, tmp_path: Path, tier: tiers.Tier, feedback: str
) -> None:
    handed, out = tmp_path / "handed", tmp_path / "out"
    handed.mkdir()
    for name, text in EVERY.items():
        (handed / f"{name}.py").write_text(text)
    (handed / "honest.py").write_text(solution("s04").read_text())
    policy(out, f'feedback = "{feedback}"\nlend = "always"\n')
    how = ("--stage", "s04", "--out", str(out), "--isolation", tier, "--require-isolation", tier)
    done = grader("class", "grade", str(handed), *how)
    assert (done.code, done.out) == (0, f"s04: 1 passed, {len(EVERY)} did not\n"), done.err
    assert told(documents(grader, out, tmp_path) + done.err) == []


@pytest.mark.full_matrix("grader/report", "grader/gradebook")
def test_of_their_own_module_a_class_is_told_all(grader: Grade, tmp_path: Path) -> None:
    """What the other tests here look for is found where nothing is lent, so that they look in the right places."""
    handed, out = tmp_path / "handed", tmp_path / "out"
    for name, text in EVERY.items():
        (handed / name).mkdir(parents=True)
        (handed / name / "graphs.py").write_text(solution("s03").read_text())
        (handed / name / "ladders.py").write_text(text)
    how = ("--isolation", "process", "--require-isolation", "process", "--out", str(out))
    done = grader("class", "grade", str(handed), "--stage", "s03", "--stage", "s04", *how)
    assert done.out.splitlines()[-1] == f"s04: 0 passed, {len(EVERY)} did not", done.err
    assert len(told(documents(grader, out, tmp_path))) > 5


@pytest.mark.some_of(3, "grader/report", "grader/submission")
@pytest.mark.parametrize("feedback", ["full", "verdict"])
@pytest.mark.parametrize("name", EVERY)
def test_no_report_of_a_check_holds_a_piece_of_it(
    grader: Grade, tmp_path: Path, name: str, feedback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {
        "CLASSROOM": "c", "ASSIGNMENT": "a", "OWNER": "o", "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "https://c",
        "RELEASE_URL": "https://r",
    }.items():  # fmt: skip
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    (tmp_path / "ladders.py").write_text(EVERY[name])
    reports = ",".join(["github", *(f"{form}={tmp_path / form}" for form in FILES[1:])])
    how = ("--submission", str(tmp_path / "ladders.py"), "--lend", "always", "--isolation", "process")
    done = grader("check", "s04", *how, "--feedback", feedback, "--format", reports, "-v")
    assert done.code == 1, done.err
    found = [path.read_text() for path in tmp_path.iterdir() if path.name in (*FILES, "summary")]
    assert len(found) == len(FILES) and told("\n".join([done.out, done.err, *found])) == []
    assert "the reference of s03" in done.out


def test_ones_own_check_is_told_all(check: Grade, root: Path) -> None:
    wrote(root, "s04", module("message"))
    assert told(check().out)
