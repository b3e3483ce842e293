"""Move exclude-newer in pyproject.toml on, and write requirements-dev.txt anew.

Packages that are younger than a week are left out: one that was published by a thief is usually found within days.
`python .ci/bump.py` takes the day a week ago, `python .ci/bump.py 2026-11-20` another one. It never goes back.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COOLDOWN = timedelta(days=7)
LINE = re.compile(r'^(exclude-newer = ")(\d{4}-\d\d-\d\d)(T00:00:00Z")', re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Return 0 if the date was moved on, or stands there already; 2 for a date that is none or lies before."""
    path = ROOT / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    try:
        day = date.fromisoformat(arguments[0]) if arguments else datetime.now(UTC).date() - COOLDOWN
    except ValueError:
        print(f"date: {arguments[0]}, expected one such as 2026-11-20", file=sys.stderr)
        return 2
    found = LINE.search(text)
    if found is None:
        print("pyproject.toml: exclude-newer is missing, expected a day such as 2026-11-20T00:00:00Z", file=sys.stderr)
        return 2
    if day < date.fromisoformat(found[2]):
        print(f"date: {day}, expected none before {found[2]}, which pyproject.toml has", file=sys.stderr)
        return 2
    path.write_text(LINE.sub(rf"\g<1>{day}\g<3>", text, count=1), encoding="utf-8", newline="\n")
    try:
        subprocess.run(["uv", "lock", "--quiet", "--upgrade"], cwd=ROOT, check=True)
        subprocess.run([sys.executable, str(ROOT / ".ci" / "requirements.py")], cwd=ROOT, check=True)
    except subprocess.CalledProcessError as error:
        path.write_text(text, encoding="utf-8", newline="\n")
        return error.returncode
    print(f"exclude-newer: {found[2]} -> {day}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
