"""The database of a gradebook: its tables, and the steps that bring an older one up to date.

PRAGMA user_version is BEFORE and the steps that were taken. A step that was published is never changed: a new one
follows it. Triggers write the history, so that no change of a mark passes it by.
"""

from __future__ import annotations

BEFORE = 9  # versions that no published grader wrote, and none reads

_TABLES = """
CREATE TABLE sources (digest TEXT PRIMARY KEY, text BLOB NOT NULL);

CREATE TABLE results (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL,
    course TEXT NOT NULL, seed INTEGER NOT NULL, isolation TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('graded', 'missing', 'rejected', 'fault')),
    passed INTEGER NOT NULL, verdict BLOB NOT NULL,
    at TEXT NOT NULL, seconds REAL NOT NULL,
    python TEXT NOT NULL, numpy TEXT NOT NULL, "commit" TEXT NOT NULL, worker TEXT NOT NULL,
    UNIQUE (student, stage, digest, course, seed, isolation)
);

CREATE TABLE pools (digest TEXT PRIMARY KEY, texts TEXT NOT NULL CHECK (json_valid(texts)));

CREATE TABLE explained (
    result INTEGER PRIMARY KEY REFERENCES results (number),
    pool TEXT NOT NULL REFERENCES pools (digest), verdict BLOB
);

CREATE TABLE attempts (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL,
    submitted TEXT, clock TEXT NOT NULL CHECK (clock IN ('csv', 'commit', 'file', 'unknown')),
    label TEXT NOT NULL, identity TEXT NOT NULL,
    result INTEGER REFERENCES results (number),
    UNIQUE (student, stage, digest)
);

CREATE TABLE waiting (
    student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (json_valid(verdict)), at TEXT NOT NULL,
    PRIMARY KEY (student, stage, digest)
);

CREATE TABLE marks (
    student TEXT NOT NULL, stage TEXT NOT NULL,
    points REAL NOT NULL, out_of REAL NOT NULL, raw REAL NOT NULL, factor REAL NOT NULL,
    late_days INTEGER NOT NULL, budget_days INTEGER NOT NULL,
    attempt TEXT NOT NULL, result INTEGER NOT NULL REFERENCES results (number),
    why TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (student, stage)
);

CREATE TABLE overrides (
    student TEXT NOT NULL, stage TEXT NOT NULL, criterion TEXT NOT NULL DEFAULT '',
    points REAL NOT NULL CHECK (points >= 0), reason TEXT NOT NULL CHECK (trim(reason) <> ''),
    by TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (student, stage, criterion)
);

CREATE TABLE requests (
    number INTEGER PRIMARY KEY, student TEXT NOT NULL, stage TEXT NOT NULL, criterion TEXT NOT NULL DEFAULT '',
    words TEXT NOT NULL, at TEXT NOT NULL, answer TEXT, by TEXT, closed TEXT,
    UNIQUE (student, stage, criterion, words)
);

CREATE TABLE roster (student TEXT PRIMARY KEY, member TEXT NOT NULL CHECK (json_valid(member)));

CREATE TABLE passes (stage TEXT PRIMARY KEY, passes TEXT NOT NULL);

CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL, what TEXT NOT NULL, student TEXT NOT NULL, stage TEXT NOT NULL,
    before TEXT, after TEXT, why TEXT NOT NULL
);
"""
NOW = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
# What the history keeps of a row of each table: its columns, and beside them what these expressions give.
_MARK = "points out_of raw factor late_days budget_days attempt result"
_OVERRIDE = "points reason by"
_RESULT = "outcome digest course seed isolation"


def _document(columns: str, **more: str) -> str:
    """Return the JSON object of some columns of a row, which {0} stands for.

    >>> _document("by", criterion="nullif({0}.criterion, '')")
    "json_object('by', {0}.by, 'criterion', nullif({0}.criterion, ''))"
    """
    values = {**{name: f"{{0}}.{name}" for name in columns.split()}, **more}
    pairs = ", ".join(f"'{name}', {value}" for name, value in values.items())
    return f"json_object({pairs})"


def _kept(table: str, what: str, document: str, why: str, events: tuple[str, ...]) -> list[str]:
    """Return the triggers that write changes of a table into the history."""
    values = {
        "INSERT": ("NEW", "NULL", document.format("NEW"), "NEW.at", why),
        "UPDATE": ("NEW", document.format("OLD"), document.format("NEW"), "NEW.at", why),
        "DELETE": ("OLD", document.format("OLD"), "NULL", NOW, "'removed'"),
    }
    return [
        f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN INSERT INTO history "
        f"(at, what, student, stage, before, after, why) "
        f"VALUES ({when}, '{what}', {row}.student, {row}.stage, {before}, {after}, {reason}); END"
        for event in events
        for row, before, after, when, reason in (values[event],)
    ]


def _refused(table: str, event: str, why: str, when: str = "") -> str:
    """Return the trigger that refuses changes of a table."""
    name = f"{table}_{event.lower()}_refused"
    return f"CREATE TRIGGER {name} BEFORE {event} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{why}'); END"


def _first() -> tuple[str, ...]:
    reason = "coalesce(json_extract(NEW.verdict, '$.problem.message'), '')"
    waits = _document("digest", **{"for": "json_extract({0}.verdict, '$.waits_for')"})
    result = _document(_RESULT, result="{0}.number", passed="{0}.passed")
    override = _document(_OVERRIDE, criterion="nullif({0}.criterion, '')")
    changes, all_of = ("INSERT", "UPDATE"), ("INSERT", "UPDATE", "DELETE")
    return (
        *(each.strip() for each in _TABLES.split(";\n") if each.strip()),
        *_kept("marks", "mark", _document(_MARK), "NEW.why", all_of),
        *_kept("overrides", "override", override, "NEW.reason", all_of),
        *_kept("results", "result", result, "NEW.outcome", changes),
        *_kept("waiting", "waits", waits, reason, changes),
        *(_refused("history", each, "the history of a gradebook is never changed") for each in all_of[1:]),
        *(_refused("explained", each, "what explains a result is never changed") for each in all_of[1:]),
        _refused("results", "UPDATE", "a result that is no fault is never changed", "WHEN OLD.outcome <> 'fault' "),
        _refused("results", "DELETE", "a result is never removed"),
    )


STEPS: tuple[tuple[str, ...], ...] = (_first(),)
