"""`grader editor`: settings for the learner's editor, added to those that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _editors(incomplete: str) -> list[str]:
    from grader.setup.editors import EDITORS

    return [name for name in EDITORS if name.startswith(incomplete)]


def editor(
    name: Annotated[str, typer.Argument(metavar="EDITOR", help="vscode.", autocompletion=_editors)],
    printed: Annotated[bool, typer.Option("--print", help="Print what would be added, and write nothing.")] = False,
) -> None:
    """Set up an editor: tasks that check a stage, its tests in the explorer, failures at your lines.

    Your own settings stay as they are; what is missing is added, and the old files are kept in .grader/backups/.
    """
    from datetime import UTC, datetime

    from grader.calling import here
    from grader.course.settings import find_course_root
    from grader.report.document import dumps
    from grader.report.terminal.screen import say, write
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
