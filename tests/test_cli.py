"""The command `grader`: where a learner stands, mistakes on the command line, faults, help and completion."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import grader
from grader.cli import Group
from tests.support.command import RUN, Here, Place


def test_alone_it_says_where_you_are_and_what_comes_next(here: Here) -> None:
    done = here()
    assert (done.code, done.err) == (0, "")
    assert "You are at s01 · Numbers." in done.out and done.out.startswith("Welcome to ")
    assert len(done.out.splitlines()) == 6
    for command in ("grader show s01", "grader check", "grader demo"):
        assert f"    {command} " in done.out
    here.place.passed("s01")
    assert "You are at s02 · Sums." in (later := here().out)
    assert "    grader hint s02 " in later and "grader demo" not in later and "Welcome" not in later


def test_alone_it_says_when_nothing_is_left(here: Here) -> None:
    here.place.passed("s01", "s02")
    assert "Every stage is passed or skipped." in here().out
    done = here("check")
    assert (done.code, done.out) == (2, "")
    assert "no stage is left" in done.err


def test_the_status_lists_every_stage(here: Here) -> None:
    lines = here("status").out.splitlines()
    assert "0 of 2 stages passed" in lines[0]
    assert lines[1:] == [
        "→ s01 · Numbers" + " " * 63 + "you are here",
        "· s02 · Sums" + " " * 66 + "waits for s01",
    ]


def test_the_status_is_a_document_too(here: Here) -> None:
    here.place.passed("s01")
    found = here("status", "--json").json
    assert (found["schema"], found["current"], found["notice"]) == (2, "s02", None)
    assert [(each["id"], each["state"], each["waits_for"]) for each in found["stages"]] == [
        ("s01", "changed", []),
        ("s02", "open", []),
    ]


def test_a_submission_that_is_not_there_is_no_usage_error(here: Here) -> None:
    done = here("check", "s01", "--submission", "nowhere")
    assert (done.code, done.out) == (5, "") and "nowhere does not exist" in done.err
    assert "Python file" in " ".join(done.err.split())


@pytest.mark.parametrize("name", ["s01", "1", "numbers", "s01_numbers", "stages/s01_numbers/", "NUMBERS_.py"])
def test_a_stage_answers_to_many_names(here: Here, name: str) -> None:
    assert here("show", name).out.startswith("# Numbers")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("check", "numers"), "'numers' is not a stage", "Did you mean s01_numbers?"),
        (("check", "s01", "--only", "duoble"), "'duoble' is not a criterion", "Did you mean double?"),
        (("hint", "s01", "duoble"), "'duoble' is not a criterion", "Did you mean double?"),
        (
            ("check", "s01", "--require-isolation", "moat"),
            "'moat' is not an isolation tier",
            "auto, bubblewrap, landlock or",
        ),
        (
            ("check", "s01", "--isolation", "moat"),
            "'moat' is not an isolation tier",
            "auto, bubblewrap, landlock or process",
        ),
        (("check", "s01", "--all"), "--all grades every stage", "Leave one"),
        (("check", "s01", "--begun"), "--begun grades every stage", "Leave one"),
        (("check", "--all", "--begun"), "--begun only those that are begun", "Leave one"),
        (("check", "--begun", "--submission", "."), "--begun is about your own files", "Use --all"),
        (("check", "s01", "duoble"), "'duoble' is not a criterion", "The criteria are double, quadruple."),
        (("check", "s01", "half", "--only", "double"), "'half' names one criterion of one stage", "Leave one"),
        (("check", "s01", "half", "--all"), "many stages were asked for", "Leave one"),
        (("check", "--all", "--only", "double"), "--all grades whole stages", "Leave one"),
        (("check", "--all", "--submission", "nowhere.py"), "--all needs a folder", "Name a stage"),
        (("check", "s01", "--seed", "-1"), "-1", "grader check -h"),
        (("chekc",), "chekc", "grader -h"),
        (("start",), "STAGE", "grader start -h"),
    ],
)
def test_a_mistake_on_the_command_line_is_named(
    here: Here, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    done = here(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in " ".join(done.err.split())


def test_a_broken_course_is_one_clean_message(here: Here) -> None:
    (here.place.numbers.parent / "stage.toml").write_text("id = [", encoding="utf-8")
    done = here("status")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("error: stages/s01_numbers/stage.toml: ")


def test_an_unforeseen_error_is_a_grader_fault_without_a_traceback(here: Here) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nothing [bold]left[/bold]")

    here.monkeypatch.setattr("grader.progress.workspace.load_course", broken)
    here.monkeypatch.delenv("GRADER_TRACEBACK", raising=False)
    done = here("status")
    assert (done.code, done.out) == (4, "")
    assert "error: ZeroDivisionError in test_cli.py:" in done.err
    assert "nothing [bold]left[/bold]" in done.err
    assert "Traceback" not in done.err
    here.monkeypatch.setenv("GRADER_TRACEBACK", "1")
    assert "Traceback" in here("status").err


def test_an_interrupted_check_is_no_verdict(here: Here) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    here.monkeypatch.setattr("grader.report.terminal.screen.ticking", lambda name: nullcontext(interrupt))
    here.monkeypatch.setattr("signal.signal", lambda *_: None)
    here.monkeypatch.setattr("grader.progress.store._RECORDED", [])
    done = here("check", "s01", "--isolation", "process")
    assert (done.code, done.out, done.err) == (130, "", "stopped; nothing was recorded\n")
    assert here.place.store.read().last is None


def test_the_version_is_printed(here: Here) -> None:
    assert here("--version").out == f"grader {grader.__version__}\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command(here: Here, option: str) -> None:
    done = here(option)
    assert done.code == 0
    for command in ("status", "check", "explore", "hint", "show", "start", "reset", "solution", "doctor", "demo"):
        assert f"\n  {command} " in done.out
        assert here(command, option).code == 0


def test_the_help_of_check_begins_with_what_a_learner_needs(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = here("check", "--help").out
    own, others = text.split("\nFor instructors:\n")
    for option in ("--only", "--seed", "--anyway", "--all", "--json", "--help"):
        assert f" {option}" in own and f"  {option} " not in others
    for option in ("--submission", "--lend", "--student", "--require-isolation", "--key-file", "--receipt"):
        assert f"  {option} " in others and f"  {option} " not in own
    assert text.isascii() and max(map(len, text.splitlines())) <= 80


HEAVY = "numpy", "pytest", "msgpack", "grader.judging"
SHOWS_NOTHING = (  # what neither shows where a learner stands nor reads it
    "importlib.metadata", "zipfile", "html", "rich.markdown", "pygments", "typer.rich_utils",
    "grader.doctor", "grader.judging", "grader.outcome", "grader.report.document", "grader.setup.updating",
    "grader.submission.git", "grader.submission.source", "grader.course.answers", "grader.course.bundle",
    "grader.verdict",
)  # fmt: skip
LISTS_ONLY = (
    "rich",
    "json",
    "hashlib",
    "grader.progress",
    "grader.submission",
    "grader.course.stage",
    "grader.commands",
)


LEARNING = {"grader.commands.learning", "grader.commands.options", "grader.commands"}


@pytest.mark.parametrize(
    ("arguments", "idle"),
    [
        (("--help",), (*SHOWS_NOTHING, *LISTS_ONLY)),
        (("status",), (*SHOWS_NOTHING, "grader.commands.setup", "grader.submission", "hashlib")),
        ((), (*SHOWS_NOTHING, "grader.commands.setup", "grader.submission", "hashlib")),
        (("--version",), ()),
        (("status", "--json"), ()),
        (("show", "s01"), ()),
    ],
)
def test_light_commands_import_neither_numpy_nor_pytest_nor_another_command(
    place: Place, arguments: tuple[str, ...], idle: tuple[str, ...]
) -> None:
    loaded = _loaded(place, *arguments)
    assert {"grader.cli", "typer"} <= loaded
    assert not [name for name in loaded if any(f"{name}.".startswith(f"{each}.") for each in (*HEAVY, *idle))]
    commands = {name for name in loaded if name.startswith("grader.commands")}
    assert commands == (set() if arguments in (("--help",), ("--version",)) else LEARNING)


def test_where_stages_have_passed_the_status_reads_their_modules_and_no_more(place: Place) -> None:
    place.passed("s01")
    loaded = _loaded(place, "status")
    assert "grader.submission.snapshot" in loaded
    assert not [name for name in loaded if any(f"{name}.".startswith(f"{each}.") for each in SHOWS_NOTHING)]


def _loaded(place: Place, *arguments: str) -> set[str]:
    """Return the names of the modules that a command has imported by its end."""
    code = f"import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); {RUN}"
    done = place.process(*arguments, code=code)
    assert done.code == 0, done.err
    return set(done.err.split())


def test_a_command_that_does_not_exist_is_answered_with_one_that_does(here: Here) -> None:
    done = here("chekc")
    assert done.code == 2
    assert "Did you mean 'check'" in done.err


@pytest.mark.parametrize("name", Group.entries)
def test_each_command_is_where_the_table_says(name: str) -> None:
    command = Group.entries[name].command(name)
    assert command.name == name
    assert command.help


@pytest.mark.parametrize("name", Group.entries)
def test_what_a_list_of_commands_says_fits_into_eighty_columns(name: str) -> None:
    command = Group.entries[name].command(name)
    for each in (command, *getattr(command, "commands", {}).values()):
        assert not each.get_short_help_str(60).endswith("..."), each.name


@pytest.mark.parametrize("name", Group.entries)
def test_the_list_of_commands_says_of_each_what_its_own_help_begins_with(name: str) -> None:
    entry = Group.entries[name]
    command, outline = entry.command(name), entry.outline(name, hidden=False)
    for room in range(10, 120):
        assert outline.get_short_help_str(room) == command.get_short_help_str(room)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grader check s", {"s01", "s02", "s01_numbers", "s02_sums"}),
        ("grader show s02", {"s02", "s02_sums"}),
        ("grader hint s01 q", {"quadruple"}),
        ("grader show s01 q", {"quadruple"}),
        ("grader check --only t", {"total"}),
        ("grader check --isolation b", {"bubblewrap"}),
        ("grader check --require-isolation l", {"landlock"}),
    ],
)
def test_the_shell_completes_stages_rows_and_tiers(here: Here, words: str, expected: set[str]) -> None:
    here.monkeypatch.setenv("_GRADER_COMPLETE", "complete_bash")
    here.monkeypatch.setenv("COMP_WORDS", words)
    here.monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert set(here().out.split()) == expected


def test_the_shell_completes_steps_by_number_and_row(here: Here) -> None:
    page = "# Numbers\n\n## All\n\n### Step 1: twice\n\n- [ ] double is right\n"
    (here.place.numbers.parent / "README.md").write_text(page, encoding="utf-8")
    here.monkeypatch.setenv("_GRADER_COMPLETE", "complete_bash")
    here.monkeypatch.setenv("COMP_WORDS", "grader show s01 ")
    here.monkeypatch.setenv("COMP_CWORD", "3")
    assert here().out.split() == ["1", "double", "quadruple"]


def test_completion_is_silent_in_a_broken_course(here: Here) -> None:
    (here.place.numbers.parent / "stage.toml").write_text("id = [", encoding="utf-8")
    here.monkeypatch.setenv("_GRADER_COMPLETE", "complete_bash")
    here.monkeypatch.setenv("COMP_WORDS", "grader check s")
    here.monkeypatch.setenv("COMP_CWORD", "2")
    done = here()
    assert (done.out.strip(), done.err) == ("", "")


def test_the_script_of_the_package_is_this_command() -> None:
    script = Path(sys.executable).with_name("grader.exe" if sys.platform == "win32" else "grader")
    done = subprocess.run([str(script), "--version"], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, f"grader {grader.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message", "asks"),
    [
        (("watchh", "s01"), "no such command 'watchh'. Did you mean 'watch'?", "grader -h"),
        (("check", "--seed", "x"), "invalid value for '--seed': 'x' is not a whole number", "grader check -h"),
        (("check", "--only"), "option '--only' requires an argument", "grader -h"),
        (("class", "grade"), "missing argument 'SUBMISSIONS'", "grader class grade -h"),
        (("course", "verify", "--jobs", "0"), "invalid value for '--jobs': 0 is not", "grader course verify -h"),
    ],
)
def test_a_refused_command_line_is_an_error_as_others_are(
    place: Place, arguments: tuple[str, ...], message: str, asks: str
) -> None:
    done = place.run(*arguments)
    assert (done.code, done.out) == (2, "")
    told = " ".join(done.err.split())
    assert told.startswith(f"error: {message}") and told.endswith(f"hint: `{asks}` shows what it takes.")


@pytest.mark.parametrize("group", ["class", "course", "keys", "ci"])
def test_a_group_without_a_command_shows_its_help(place: Place, group: str) -> None:
    done = place.run(group)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Usage: grader {group} ") and "\nCommands:\n" in done.err


def test_an_option_that_is_nearly_one_names_that(place: Place) -> None:
    assert "--verbose" in place.run("check", "--verbos").err


@pytest.mark.parametrize("arguments", [("--help",), ("check", "-h"), ("--version",)])
def test_what_the_parser_prints_by_itself_ends_well(place: Place, arguments: tuple[str, ...]) -> None:
    done = place.run(*arguments)
    assert (done.code, done.err) == (0, "") and done.out
