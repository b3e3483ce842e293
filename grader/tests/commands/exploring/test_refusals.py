"""What cannot be explored or drawn: each mistake is named, with its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.tests.commands.exploring.typed import PLAIN, Grader


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("s08",), "s08 has nothing to draw or explore", "These can be explored: s01, s02"),
        (
            ("s11", "--words", "a b"),
            "--words is about a sentence, which s15, s16, s17 and s19 explore",
            "`grader explore s11` alone shows it",
        ),
        (("s11", "--input", "a.npz"), "--input is about a sentence", "`grader explore s11` alone shows it"),
        (("s11", "--heads", "2"), "--heads is about a sentence", "`grader explore s11` alone shows it"),
        (("s11", "--example", "banks"), "--example is about a sentence", "`grader explore s11` alone shows it"),
        (("s15", "--example", "cats"), "there is no example 'cats'", "lesson, identity, banks"),
        (("s18", "--words", "the horse"), "do not use the word horse", "They use ., bark, barks, barn"),
        (("s18", "--heads", "2"), "--heads is about a sentence", "`grader explore s18` alone shows it"),
        (("s18", "--words", ""), "--words holds no word", "--words"),
        (("s99",), "'s99' is not a stage", "The stages are"),
        (("s15", "--words", " "), "--words holds no word", "--words"),
        (("s15", "--heads", "4"), "4 heads cannot share 6 features", "--heads may be 1, 2, 3, 6"),
        (("s15", "--heads", "0"), "0", "grader explore -h"),
        (("s15", "--input", "nowhere.npz"), "nowhere.npz does not exist", "np.savez"),
        (("s15", "--input", "README.md"), "README.md is not an .npz file", "np.savez"),
        (("s15", "--png", "."), ". is a folder", "picture.png"),
        (("s15", "--isolation", "moat"), "'moat' is not an isolation tier", "auto, bubblewrap, landlock or process"),
    ],
)
def test_a_mistake_on_the_command_line_is_named(
    run: Grader, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err.replace("\n", " ")


def test_a_module_that_is_not_there_is_named(run: Grader, tmp_path: Path) -> None:
    done = run("s15", submission=tmp_path / "nothing.py")
    assert (done.code, done.out) == (5, "")
    assert "nothing.pydoesnotexist" in "".join(done.err.split())  # wherever a long path breaks


def test_without_matplotlib_a_picture_is_refused_before_anything_runs(
    run: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.explore.picture.find_spec", lambda name: None)
    monkeypatch.setattr("grader.explore.session.explore", lambda *_: pytest.fail("it ran"))
    done = run("s15", "--png", str(tmp_path / "a.png"))
    assert (done.code, done.out) == (2, "")
    assert "hint: `uv sync --extra plot` installs it" in done.err


def test_a_fault_of_the_grader_has_its_own_exit_code(run: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("drawings.s15.steps.span", faulty)
    done = run("s15", *PLAIN)
    assert (done.code, done.out) == (4, "")
    assert "a fault of the grader, not of your code" in done.err
