"""`grader init`, `update`, `editor` and `doctor`: a learner's folder, made, kept, and looked over."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import __version__, shell
from grader.commands.options import Json
from grader.course.settings import find_course_root
from grader.errors import GraderFault
from grader.report.document import dumps
from grader.report.terminal import screen
from grader.report.terminal.screen import say, write
from grader.report.terminal.words import count
from grader.shell import here

if TYPE_CHECKING:
    from grader.doctor.health import Finding
    from grader.setup.updating import FileUpdate, Update

SCHEMA = 1
_TOLD = {
    "add": "new",
    "replace": "replaced",
    "merge": "the new stub is merged into your code",
    "beside": "the new stub, which could not be merged into your code",
    "remove": "removed: the course no longer has it",
    "keep": "stays, though the course no longer has it: it is your code",
}


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    editor: Annotated[
        list[str] | None,
        typer.Option("--editor", metavar="NAME", help="Write settings for this editor, too: vscode."),
    ] = None,
    git: Annotated[bool, typer.Option("--git/--no-git", help="Make a git repository with a first commit.")] = True,
) -> None:
    """Make a folder to learn in, with the course of this grader.

    The folder brings this grader's wheel along, so that `uv run grader` works there without an index of packages that
    has it. Nothing is overwritten: a folder that holds anything is refused.
    """
    from grader.setup.making import editor_files, first_commit, make
    from grader.setup.wheel import shipped

    for name in editor or ():
        editor_files(name)
    edition = shipped()
    files = make(edition, folder, tuple(editor or ()))
    stages = sum(name.startswith("stages/") and name.endswith("/stage.toml") for name in files)
    say(f"{folder} holds the course, version {edition.version}: {stages} stage{'' if stages == 1 else 's'}.")
    if git and (reason := first_commit(folder)) is not None:
        say(f"No git commit was made: {reason}.")
    first = "" if folder.resolve() == Path.cwd() else f"`cd {shell.quoted(str(folder))}`, then "
    say(f"Next: {first}`{'uv run ' if shutil.which('uv') else ''}grader`.")


def update(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Bring this grader and its newer course into your folder.

    READMEs, tests and stubs change; your code is never overwritten. Where a stub changed as well, it is merged into
    your code, or put next to it. What it replaces of yours is kept in .grader/backups/.
    """

    from grader.setup.updating import update as bring
    from grader.setup.wheel import shipped

    found = bring(find_course_root(Path.cwd()), shipped(), datetime.now(UTC), dry_run=dry_run)
    if as_json:
        write(dumps(_document(found, dry_run)))
        return
    if not found.changes:
        say(f"This folder has course {found.after} already: nothing is to be changed.")
        return
    write("\n".join(_lines(found)))
    verb = "would change" if dry_run else "changed"
    where = f"course {found.before} -> {found.after}"
    if found.before == found.after:
        where = f"course {found.after}, as this grader brings it"
    say(f"{count(len(found.changes), 'file')} {verb}: {where}. Your progress stays.")
    if found.kept is not None:
        kept = "would be kept below .grader/backups" if dry_run else f"is kept in {found.kept}"
        say(f"The old version of what is yours {kept}.")
    if any(change.action == "beside" for change in found.changes):
        say("A file that ends with .new is a stub for you to copy from; delete it after that.")


def _lines(found: Update) -> list[str]:
    shown = [change for change in found.changes if not change.sealed and not _is_wheel(change)]
    width = max((len(change.path) for change in shown), default=0)
    lines = [f"{change.path:<{width}}  {_said(change)}" for change in shown]
    wheel = ["and the grader's wheel"] if any(map(_is_wheel, found.changes)) else []
    sealed = sum(change.sealed for change in found.changes)
    return [*lines, *wheel, *([f"and {sealed} files of the sealed tests"] if sealed else [])]


def _is_wheel(change: FileUpdate) -> bool:
    from grader.setup.wheel import WHEELS

    return change.path.startswith(f"{WHEELS}/")


def _said(change: FileUpdate) -> str:
    kept = change.backup and change.action != "remove"
    return _TOLD[change.action] + ("; your version is kept" if kept else "")


def _document(found: Update, dry_run: bool) -> dict[str, object]:
    changes = [
        {"path": each.path, "action": each.action, "backup": f"{found.kept}/{each.path}" if each.backup else None}
        for each in found.changes
    ]
    return {"schema": SCHEMA, "from": found.before, "to": found.after, "dry_run": dry_run, "changes": changes}


def _editors(incomplete: str) -> list[str]:
    from grader.setup.editors import EDITORS

    return [name for name in EDITORS if name.startswith(incomplete)]


def editor(
    name: Annotated[str, typer.Argument(metavar="EDITOR", help="vscode.", autocompletion=_editors)],
    printed: Annotated[bool, typer.Option("--print", help="Print what would be added, and write nothing.")] = False,
) -> None:
    """Set up an editor: tasks, tests, and failures at your lines.

    Your own settings stay as they are; what is missing is added, and the old files are kept in .grader/backups/.
    """

    from grader.setup.editors import editor_settings, write_settings

    wanted = editor_settings(name, here())
    if printed:
        write(dumps(wanted))
        return
    root = find_course_root(Path.cwd())
    done = write_settings(root, wanted, datetime.now(UTC))
    if not done.files:
        say("Your editor has all of these settings already: nothing was changed.")
        return
    say(f"Written: {', '.join(done.files)}.")
    if done.kept is not None:
        say(f"The old files are kept in {done.kept}.")
    say("Open this folder in VS Code. Terminal > Run Build Task checks the stage of the open file.")


def doctor(
    as_json: Json = False,
    every_tier: Annotated[
        bool, typer.Option("--every-tier", help="Try out every tier of isolation, not only the one that checks use.")
    ] = False,
) -> None:
    """Check what works on this machine, and what mends the rest.

    Looks at Python, packages, isolation, the terminal, the course and the progress file.
    """
    raise typer.Exit(report(Path.cwd(), as_json, every_tier))


def report(start: Path, as_json: bool, every_tier: bool = False) -> int:
    """Print what the doctor finds; returns 0 where nothing is broken."""
    from grader.doctor.health import examine
    from grader.report.terminal.overview import SCHEMA, finding_lines

    console = screen.console()
    colour = console.color_system is not None and not console.no_color
    found: list[Finding] = []
    view = screen.look()
    for finding in examine(start, sys.stdout.encoding or "", console.width, colour, view.ascii, every_tier):
        found.append(finding)
        if not as_json:
            screen.show(finding_lines(finding, view))
    broken = any(finding.level == "broken" for finding in found)
    if as_json:
        findings = [asdict(each) for each in found]
        screen.write(dumps({"schema": SCHEMA, "version": __version__, "healthy": not broken, "findings": findings}))
    return GraderFault.exit_code if broken else 0
