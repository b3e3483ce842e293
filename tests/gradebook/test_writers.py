"""Several instructors at once: reading goes on while others write, and what each of them writes is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grader.gradebook.records import Override
from grader.gradebook.store import Gradebook
from tests.gradebook.made import NOW, keep, verdict

ROUNDS = 8
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from grader.gradebook.records import Override
from grader.gradebook.store import Gradebook
who, folder, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
for place in range(rounds):
    with Gradebook.open(folder) as book, book.changing():
        book.keep_override(Override("ada", "s01", place, f"{who} {place}", who, datetime.now(UTC)))
        book.keep_override(Override(f"of {who}", "s01", place, "mine", who, datetime.now(UTC)))
"""


def test_three_write_at_once_and_none_of_it_is_lost(tmp_path: Path) -> None:
    with Gradebook.open(tmp_path, create=True) as book:
        keep(book, "ada", verdict())
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, name, str(tmp_path), str(ROUNDS)], stderr=subprocess.PIPE)
            for name in ("one", "two", "three")
        ]
        seen = 0
        while any(each.poll() is None for each in writers):
            seen += bool(book.marks()) and bool(book.history())  # reading waits for nobody
        said = [each.communicate()[1] for each in writers]
        assert [each.returncode for each in writers] == [0, 0, 0], said
        assert seen > 0
        given = [change for change in book.history() if change.what == "override"]
        assert len([each for each in given if each.student == "ada"]) == 3 * ROUNDS
        for name in ("one", "two", "three"):
            mine = [each for each in given if each.student == f"of {name}"]
            assert [each.after and each.after["points"] for each in mine] == [*map(float, range(ROUNDS))]


def test_who_reads_sees_all_of_a_change_or_nothing_of_it(tmp_path: Path) -> None:
    with Gradebook.open(tmp_path, create=True) as writing, Gradebook.open(tmp_path) as reading:
        keep(writing, "ada", verdict())
        with writing.changing():
            for stage in ("s01", "s02"):
                writing.keep_override(Override("ada", stage, 1.0, "oral exam", "prof", NOW))
            assert reading.overrides() == ()
        assert len(reading.overrides()) == 2
