"""Small made-up releases of a course, for tests of a learner's folder and its update."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from grader.course.sealed import RECORD, ReleaseRecord, digest, record_text
from grader.setup.edition import Edition
from grader.setup.updating import Update, update

STUB = '''"""Numbers."""


def double(x):
    """Return twice x.

    x is a number.
    """
    raise NotImplementedError("double")


def triple(x):
    """Return three times x.

    x is a number.
    """
    raise NotImplementedError("triple")
'''
MINE = STUB.replace('raise NotImplementedError("double")', "return x + x")
NEWER = (
    STUB.replace("Return three times x.", "Return x three times.")
    + '''

def half(x):
    """Return half of x."""
    raise NotImplementedError("half")
'''
)
MODULE = "stages/s01_numbers/numbers.py"
README, TEST = "stages/s01_numbers/README.md", "stages/s01_numbers/tests/test_numbers.py"
NEXT = {MODULE: NEWER, README: "# Numbers, told better\n", TEST: "def test_half(learner): ...\n"}
WHEN = datetime(2026, 11, 22, 14, 0, tzinfo=UTC)
KEPT = ".grader/backups/update-20261122T140000Z"
FILES = {
    "README.md": "# A course\n",
    MODULE: STUB,
    "stages/s01_numbers/README.md": "# Numbers\n",
    "stages/s01_numbers/stage.toml": "schema = 1\n",
    "stages/s01_numbers/tests/test_numbers.py": "def test_double(learner): ...\n",
    "hidden/s01_numbers.stub": STUB,
}


def edition(version: str = "0.1.0", changed: Mapping[str, str | None] | None = None, **record: object) -> Edition:
    """Return a release of one stage; a file that is changed to None is left out."""
    texts = FILES | dict(changed or {})
    if changed and MODULE in changed:
        texts["hidden/s01_numbers.stub"] = changed[MODULE]
    files = {name: text.encode() for name, text in texts.items() if text is not None}
    digests = {name: digest(data) for name, data in files.items()}
    files["hidden/s01_numbers.sealed"] = f"sealed {version}".encode()
    files["hidden/tests.key"] = f"key {version}".encode()
    made = ReleaseRecord(**{"course": version, "key": "id", "self_paced": True, "files": digests, **record})  # type: ignore[arg-type]
    files[f"hidden/{RECORD}"] = record_text(made).encode()
    return Edition(made, files, "hidden")


def texts(root: Path) -> dict[str, str]:
    """Return the text of every file below a folder by its path, but for locks."""
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}


def brought(root: Path, new: Edition, dry_run: bool = False) -> tuple[Update, dict[str, str]]:
    """Update, and return what was done and what the folder holds outside the sealed tests."""
    found = update(root, new, WHEN, dry_run=dry_run)
    return found, {name: text for name, text in texts(root).items() if not name.startswith("hidden/")}


def actions(found: Update) -> dict[str, tuple[str, bool]]:
    return {each.path: (each.action, each.backup) for each in found.changes if not each.sealed}
