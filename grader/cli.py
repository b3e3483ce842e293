"""The command `grader`: it parses, calls, prints, and sets the exit code."""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn

import typer
import typer.core
import typer.main

from grader import __version__
from grader.errors import GraderError, GraderFault, UsageError
from grader.process import STOPPED, stopped
from grader.report.terminal.screen import prepare, unwritten

EPILOG = (
    "Data goes to stdout, messages to stderr. Exit codes: 0 all criteria pass, 1 some do not, 2 usage, 3 stage locked, "
    "4 grader fault or isolation refused, 5 nothing that can be graded was handed in, 130 stopped with Ctrl-C."
)
_WORDS = (
    (r"is not a valid int(eger)?( range)?$", "is not a whole number"),
    (r"is not a valid float( range)?$", "is not a number"),
)


def _is_refusal(error: Exception) -> bool:
    """Say whether the parser raised this: its own classes, which are other ones in other versions of typer."""
    return hasattr(error, "format_message") and hasattr(error, "ctx")


def _refusal(error: Any) -> UsageError:
    """Return what the parser refuses, told as every other error is, with the command that shows what it takes."""
    message = error.format_message().rstrip(".")
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    asked = error.ctx.command_path if error.ctx is not None else "grader"
    return UsageError(f"{message[:1].lower()}{message[1:]}", f"`{asked} -h` shows what it takes.")


def _in_copy() -> bool:
    """Say whether the course here is a copy, which lacks what only an author's can do."""
    from grader.course.sealed import in_copy

    return in_copy(Path())


def _lacks_answers() -> bool:
    """Say whether what is here cannot show an example: a copy, or a grader that was installed by itself."""
    return _in_copy() or not _not_shipped()


def _not_shipped() -> bool:
    """Say whether this grader holds no course to give away."""
    from grader.setup.edition import is_shipped

    return not is_shipped()


class Command(typer.core.TyperCommand):
    """A command whose help lists a learner's options first; those with a panel follow under its name."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections: Arguments, Options, then one for each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in sorted(self.get_params(ctx), key=lambda each: bool(getattr(each, "rich_help_panel", None))):
            if (record := param.get_help_record(ctx)) is not None:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or kind, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


@dataclass(frozen=True)
class CommandEntry:
    """A command by its place, a module of `grader/commands` and a function or a group in it, and its summary.

    The summary is the first sentence of the command's help. hidden says whether the list of commands leaves it out.
    """

    module: str
    attribute: str
    summary: str
    hidden: Callable[[], bool] = bool

    def outline(self, name: str, hidden: bool) -> Any:
        """Return a command that has nothing but its summary, which is all that a list of commands shows."""
        return typer.core.TyperCommand(name, help=self.summary, hidden=hidden)

    def command(self, name: str) -> Any:
        """Import the command and have it built, once in this process: that takes longer than most commands run."""
        return _built(self.module, self.attribute, name, self.hidden())


@functools.cache
def _built(module: str, attribute: str, name: str, hidden: bool) -> Any:
    found = getattr(importlib.import_module(f"grader.commands.{module}"), attribute)
    builder = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        builder.add_typer(found, name=name, hidden=hidden)
    else:
        builder.command(name, cls=Command, hidden=hidden)(found)
    return typer.main.get_group(builder).commands[name]


class Lazily(MutableMapping[str, Any]):
    """The commands by name; one is imported when it is asked for, since all of them take a tenth of a second."""

    def __init__(self, entries: dict[str, CommandEntry]) -> None:
        self._entries: dict[str, Any] = dict(entries)

    def __getitem__(self, name: str) -> Any:
        found = self._entries[name]
        return found.command(name) if isinstance(found, CommandEntry) else found

    def __setitem__(self, name: str, command: Any) -> None:
        self._entries[name] = command

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries


class Group(typer.core.TyperGroup):
    """The command line as a group of commands, in the order of its help."""

    entries: ClassVar = {
        "status": CommandEntry("learning", "status", "List the stages: passed, skipped, open, or locked."),
        "check": CommandEntry("checking", "check", "Grade a stage and show its checklist."),
        "watch": CommandEntry("watching", "watch", "Check a stage each time you save it."),
        "explore": CommandEntry("exploring", "explore", "Run your functions on an example, and draw each step."),
        "report": CommandEntry(
            "report",
            "report",
            "Write a page of your road, with a certificate (extra `web`).",
        ),
        "serve": CommandEntry("watching", "serve", "Show a stage in your browser; check each save (extra `web`)."),
        "release": CommandEntry(
            "classroom", "release", "Build the learner's copy, with hidden tests sealed.", _in_copy
        ),
        "verify": CommandEntry("classroom", "verify", "Check that a receipt, or a report's certificate, is genuine."),
        "init": CommandEntry(
            "setup",
            "init",
            "Make a folder to learn in, with the course of this grader.",
            _not_shipped,
        ),
        "update": CommandEntry(
            "setup",
            "update",
            "Bring this grader and its newer course into your folder.",
            _not_shipped,
        ),
        "next": CommandEntry("learning", "next_step", "Show the step to work on now."),
        "hint": CommandEntry("learning", "hint", "Help with one criterion, a step further each time."),
        "show": CommandEntry("learning", "show", "Show a stage's README, or one step of it."),
        "start": CommandEntry("learning", "start", "Begin at this stage."),
        "reset": CommandEntry("learning", "reset", "Put a stage's stub back and start it over."),
        "solution": CommandEntry("learning", "solution", "Show the solution of a stage that you have passed."),
        "editor": CommandEntry(
            "setup",
            "editor",
            "Set up an editor: tasks, tests, and failures at your lines.",
        ),
        "notebook": CommandEntry("exploring", "notebook", "Write a notebook that draws what your functions do."),
        "doctor": CommandEntry("setup", "doctor", "Check what works on this machine, and what mends the rest."),
        "demo": CommandEntry("checking", "demo", "Grade an example, to show what a check looks like.", _lacks_answers),
        "course": CommandEntry("course", "app", "For authors: make stages, and prove their tests.", _in_copy),
        "keys": CommandEntry("classroom", "keys", "For instructors: keys for sealed tests and receipts."),
        "capstone": CommandEntry("capstone", "app", "Train a language model that is made of your stages."),
        "ci": CommandEntry("ci", "app", "For instructors: the jobs that grade on GitHub (docs/ci.md).", _in_copy),
        "class": CommandEntry("classes.commands", "app", "For instructors: grade a class (docs/class.md).", _in_copy),
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": None})
        self.commands = Lazily(self.entries)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, none of which is imported."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands from their summaries; none of them is imported."""
        conditions = {entry.hidden for entry in self.entries.values()}
        hidden = {condition: condition() for condition in conditions}
        outlines = {name: entry.outline(name, hidden[entry.hidden]) for name, entry in self.entries.items()}
        typer.core.TyperGroup(commands=outlines).format_commands(ctx, formatter)


app = typer.Typer(
    cls=Group,
    name="grader",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"grader {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def home(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn by building: grade what you write, stage by stage, and read what went wrong.

    Without a command: where you are, and what comes next.
    """
    if context.invoked_subcommand is None:
        from grader.commands.learning import greet

        greet()


def main() -> None:
    """Run the command line; every error ends as a message and an exit code, never as a traceback."""
    prepare()
    try:
        code = app(prog_name="grader", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except GraderError as error:
        _fail(error)
    except (KeyboardInterrupt, typer.Abort):  # the second where a question was on the screen
        sys.exit(stopped(_has_recorded()))
    except SystemExit as ended:
        sys.exit(stopped(_has_recorded()) if ended.code == STOPPED else ended.code)  # typer has caught the interrupt
    except Exception as error:  # whatever it is, exit code 1 would say that a criterion does not pass
        if _is_refusal(error):
            if type(error).__name__ != "NoArgsIsHelpError":  # a group that was named without a command
                _fail(_refusal(error))
            typer.echo(error.format_message(), err=True)  # type: ignore[attr-defined]
            sys.exit(UsageError.exit_code)
        if isinstance(error, OSError) and _echoed(error):
            _fail(unwritten(error))
        _fail(GraderFault(*_own_fault(error)))


def _fail(error: GraderError) -> NoReturn:
    """Print an error and end with its exit code."""
    from grader.report.terminal.screen import complain

    complain(error)
    sys.exit(error.exit_code)


def _has_recorded() -> bool:
    """Say whether this process may have recorded anything, which only one that has imported the store can."""
    store = sys.modules.get("grader.progress.store")
    return store is not None and bool(store.has_recorded())


def _echoed(error: Exception) -> bool:
    """Say whether an error comes from what typer prints by itself: help, and the version."""
    import traceback

    return any(frame.name == "echo" for frame in traceback.extract_tb(error.__traceback__))


def _own_fault(error: Exception) -> tuple[str, str]:
    """Say where the grader failed, for whoever mends it."""
    import traceback

    if os.environ.get("GRADER_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    hint = "This is a fault of the grader, not of your code. GRADER_TRACEBACK=1 in the environment shows all of it."
    return f"{type(error).__name__} in {place}: {error}", hint
