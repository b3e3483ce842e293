"""Write requirements-dev.txt: what development needs, each package in one version and with the hashes of its files.

It is the lock that uv makes of pyproject.toml, exported. The lock itself names the index that a machine asks, and so is
not committed; the export names none, and `.ci/run` installs from it with `--require-hashes`.
`python .ci/requirements.py --check` compares the file with the lock, and writes nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = "requirements-dev.txt"
WRITE = "uv run --group dev python .ci/requirements.py"
HEAD = f"# Written by `{WRITE}` from the lock of pyproject.toml. Do not edit.\n"
EXPORT = (
    "uv",
    "export",
    "--quiet",
    "--group",
    "dev",
    "--no-emit-project",
    "--no-header",
    "--format",
    "requirements.txt",
)
PLACE = re.compile(r"://|^\s*-(?!-hash=)|\s@\s", re.MULTILINE)  # a host, an option such as --index-url, a path


def exported() -> str:
    """Return the text of the file for the lock as it is; uv makes the lock, or brings it up to date."""
    return HEAD + subprocess.run(EXPORT, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def requirements(text: str) -> dict[str, str]:
    """Return each requirement with its hashes, by the package's name; comments differ from one uv to the next.

    >>> requirements("a==1 \\\\\\n    --hash=sha256:0a\\n    # via b\\n")
    {'a': 'a==1 --hash=sha256:0a'}
    """
    lines = "\n".join(line.partition("# ")[0].rstrip() for line in text.splitlines())
    whole = (" ".join(line.split()) for line in lines.replace("\\\n", " ").splitlines())
    return {line.partition("==")[0]: line for line in whole if line}


def differences(kept: str, locked: str) -> list[str]:
    """Return the names of the packages that differ."""
    old, new = requirements(kept), requirements(locked)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def main(arguments: list[str]) -> int:
    """Return 0 if the file is as the lock is, or was written; 1 if it differs or would name a host."""
    try:
        text = exported()
    except subprocess.CalledProcessError as error:
        print(f"The lock cannot be exported: {error.stderr.strip()}", file=sys.stderr)
        return 1
    if place := PLACE.search(text):
        line = text.count("\n", 0, place.start()) + 1
        print(f"The export names a place in line {line}, and {FILE} may name none.", file=sys.stderr)
        return 1
    path = ROOT / FILE
    if arguments != ["--check"]:
        path.write_text(text, encoding="utf-8", newline="\n")
        return 0
    found = differences(path.read_text(encoding="utf-8") if path.is_file() else "", text)
    if found:
        few = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        print(f"{FILE} differs from the lock in {few}. Run `{WRITE}` and commit the file.", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
