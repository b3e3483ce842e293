"""The formats of `grader class export`: what each is called, and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from grader.gradebook.exports.document import as_json
from grader.gradebook.exports.junit import as_junit
from grader.gradebook.exports.parquet import as_parquet
from grader.gradebook.exports.tables import as_canvas, as_csv, as_moodle
from grader.gradebook.table import Entry

RENDER: Mapping[str, Callable[[Sequence[Entry]], str | bytes]] = {
    "csv": as_csv,
    "json": as_json,
    "canvas": as_canvas,
    "moodle": as_moodle,
    "junit": as_junit,
    "parquet": as_parquet,
}
