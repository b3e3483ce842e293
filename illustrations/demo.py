"""Draw docs/demo.svg, the picture in the README, from a real run: `uv run --group dev python -m illustrations.demo`."""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
WIDTH = 92
ROWS = 9  # of what is printed: the row that fails first, with its cause and what shows it
COMMAND = ["grader", "demo", "split-heads", "--seed", "40817"]


def drawn() -> str:
    """Run the demo in colour, and return what it prints as a picture that needs no font of anyone's."""
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm", "LANG": "C.UTF-8"}
    environment |= {"UV_RUN_RECURSION_DEPTH": "1", "VIRTUAL_ENV": sys.prefix}  # it suggests `uv run grader …`
    environment.pop("NO_COLOR", None)
    beside = Path(sys.executable).parent
    command, root = [str(beside / "grader"), *COMMAND[1:]], PICTURE.parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, env=environment, check=True)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ uv run " + " ".join(COMMAND), style="bold"))
    console.print(Text.from_ansi("\n".join([*done.stdout.decode().splitlines()[:ROWS], "…"])))
    svg = re.sub(r"@font-face\s*{[^}]*}", "", console.export_svg(title="uv run grader demo", unique_id="demo"))
    return re.sub(r'x="([\d.]+)"([^>]*)textLength="([\d.]+)"([^>]*)>((?:&#160;)+)([^<]*)', _without_margin, svg)


def _without_margin(text: re.Match[str]) -> str:
    """Begin a text where its first letter stands: some viewers drop the spaces before it."""
    x, between, length, rest, spaces, shown = text.groups()
    count = len(spaces) // len("&#160;")
    width = float(length) / (count + len(html.unescape(shown)))
    return f'x="{float(x) + count * width:.1f}"{between}textLength="{float(length) - count * width:.1f}"{rest}>{shown}'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8", newline="\n")
