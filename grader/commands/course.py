"""`grader course …`: what the authors of stages need."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from grader.commands.options import AnyStage

app = typer.Typer(help="For authors: keep the stages whole.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def course() -> None:
    """For authors: keep the stages whole."""


@app.command()
def stub(
    stage: AnyStage = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where a stub is not up to date.")
    ] = False,
) -> None:
    """Make the stub of a stage, or of every stage, from its solution."""
    from grader.course.stub import stub_of
    from grader.manifest import find_course_root, load_course
    from grader.mistakes import reference_source
    from grader.progress import backup
    from grader.report.screen import say, write

    found = load_course(find_course_root(Path.cwd()))
    stages = found.stages if stage is None else (found.find(stage),)
    stale = list(_stale((each.module_path, stub_of(reference_source(each))) for each in stages))
    for path, text in stale:
        place = path.relative_to(found.root).as_posix()
        if check:
            say(f"{place} is not what its solution makes", "`grader course stub` writes it.")
        else:
            kept = backup(found.root, path, datetime.now(UTC)).relative_to(found.root) if path.exists() else None
            _replace(path, text)
            write(f"wrote {place}" + (f"; what stood there is in {kept.as_posix()}" if kept else ""))
    raise typer.Exit(1 if check and stale else 0)


def _stale(wanted: Iterable[tuple[Path, str]]) -> Iterable[tuple[Path, str]]:
    for path, text in wanted:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield path, text


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_suffix(".py.new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)
