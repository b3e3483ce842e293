"""`grader doctor`: print each finding as it is made."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import __version__
from grader.commands.options import Json
from grader.errors import GraderFault

if TYPE_CHECKING:
    from grader.doctor.health import Finding


def doctor(
    as_json: Json = False,
    every_tier: Annotated[
        bool, typer.Option("--every-tier", help="Try out every tier of isolation, not only the one that checks use.")
    ] = False,
) -> None:
    """Check what works on this machine, why something does not, and which command mends it.

    Looks at Python, packages, isolation, the terminal, the course and the progress file.
    """
    raise typer.Exit(report(Path.cwd(), as_json, every_tier))


def report(start: Path, as_json: bool, every_tier: bool = False) -> int:
    """Print what the doctor finds; returns 0 where nothing is broken."""
    from grader.doctor.health import examine
    from grader.report.document import dumps
    from grader.report.terminal import screen
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
