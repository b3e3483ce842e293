"""The database of a gradebook: its tables, and the steps that bring an older one up to date.

Each step is a list of statements; PRAGMA user_version counts the steps that were taken. A step that was published is
never changed: a new one follows it. Triggers write the history, so that no change of a mark passes it by.
"""

from __future__ import annotations

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE sources (digest TEXT PRIMARY KEY, text BLOB NOT NULL);

CREATE TABLE results (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL,
    course TEXT NOT NULL, seed INTEGER NOT NULL, isolation TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('graded', 'missing', 'rejected', 'fault')),
    verdict TEXT NOT NULL CHECK (json_valid(verdict)),
    at TEXT NOT NULL, seconds REAL NOT NULL,
    python TEXT NOT NULL, numpy TEXT NOT NULL, "commit" TEXT NOT NULL, worker TEXT NOT NULL,
    UNIQUE (student, stage, digest, course, seed, isolation)
);

CREATE TABLE attempts (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL,
    submitted TEXT, clock TEXT NOT NULL CHECK (clock IN ('csv', 'commit', 'file', 'unknown')),
    label TEXT NOT NULL, identity TEXT NOT NULL,
    result INTEGER REFERENCES results (number),
    UNIQUE (student, stage, digest)
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
    student TEXT NOT NULL, stage TEXT NOT NULL,
    points REAL NOT NULL CHECK (points >= 0), reason TEXT NOT NULL CHECK (trim(reason) <> ''),
    by TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (student, stage)
);

CREATE TABLE history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL, what TEXT NOT NULL, student TEXT NOT NULL, stage TEXT NOT NULL,
    before TEXT, after TEXT, why TEXT NOT NULL
);
"""
_MARK = (
    "json_object('points', {0}.points, 'out_of', {0}.out_of, 'raw', {0}.raw, 'factor', {0}.factor, "
    "'late_days', {0}.late_days, 'budget_days', {0}.budget_days, 'attempt', {0}.attempt, 'result', {0}.result)"
)
_OVERRIDE = "json_object('points', {0}.points, 'reason', {0}.reason, 'by', {0}.by)"
_RESULT = (
    "json_object('result', {0}.number, 'outcome', {0}.outcome, 'digest', {0}.digest, 'course', {0}.course, "
    "'seed', {0}.seed, 'isolation', {0}.isolation, 'passed', json_extract({0}.verdict, '$.passed'))"
)
NOW = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
# The secret from which older graders derived seeds: each result has its own, and each run draws new ones.
_WITHOUT_SECRET = ("DROP TABLE facts",)
# Which tests make a criterion of a stage pass, as class.toml said in the last run that graded.
_PASSES = ("CREATE TABLE passes (stage TEXT PRIMARY KEY, passes TEXT NOT NULL)",)
# Texts are deflated: `document` holds a verdict, of which `verdict` then says only whether it passes. Results of older
# graders have their verdicts in `verdict` and no document, and their modules stay as they are.
_DEFLATED = (
    "ALTER TABLE results ADD COLUMN document BLOB",
    "ALTER TABLE sources ADD COLUMN is_deflated INTEGER NOT NULL DEFAULT 0",
)
# What results were explained with a second time: pools of texts that passed, by their digests, and the documents with
# the causes that this added; none where it added nothing.
_POOLS = (
    "CREATE TABLE pools (digest TEXT PRIMARY KEY, texts TEXT NOT NULL CHECK (json_valid(texts)))",
    "CREATE TABLE explained (result INTEGER PRIMARY KEY REFERENCES results (number), "
    "pool TEXT NOT NULL REFERENCES pools (digest), document BLOB)",
    *(
        f"CREATE TRIGGER explained_{event.lower()} BEFORE {event} ON explained BEGIN "
        "SELECT RAISE(ABORT, 'what explains a result is never changed'); END"
        for event in ("UPDATE", "DELETE")
    ),
)
# Who is in the class, as the last roster says: for exports, which need the numbers of the platforms.
_ROSTER = ("CREATE TABLE roster (student TEXT PRIMARY KEY, member TEXT NOT NULL CHECK (json_valid(member)))",)


def _kept(table: str, what: str, document: str, at: str, why: str) -> list[str]:
    """Return the triggers that write every change of a table into the history."""
    values = {
        "INSERT": ("NEW", "NULL", document.format("NEW"), at, why),
        "UPDATE": ("NEW", document.format("OLD"), document.format("NEW"), at, why),
        "DELETE": ("OLD", document.format("OLD"), "NULL", NOW, "'removed'"),
    }
    return [
        f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table} BEGIN INSERT INTO history "
        f"(at, what, student, stage, before, after, why) "
        f"VALUES ({when}, '{what}', {row}.student, {row}.stage, {before}, {after}, {reason}); END"
        for event, (row, before, after, when, reason) in values.items()
    ]


def _guards() -> list[str]:
    refused = [
        f"CREATE TRIGGER history_{event.lower()} BEFORE {event} ON history BEGIN "
        f"SELECT RAISE(ABORT, 'the history of a gradebook is never changed'); END"
        for event in ("UPDATE", "DELETE")
    ]
    grade = (
        "CREATE TRIGGER results_stay BEFORE UPDATE ON results WHEN OLD.outcome <> 'fault' BEGIN "
        "SELECT RAISE(ABORT, 'a result that is no fault is never changed'); END"
    )
    gone = (
        "CREATE TRIGGER results_are_kept BEFORE DELETE ON results BEGIN "
        "SELECT RAISE(ABORT, 'a result is never removed'); END"
    )
    return [*refused, grade, gone]


def _first() -> tuple[str, ...]:
    tables = [each.strip() for each in _TABLES.split(";\n") if each.strip()]
    return (
        *tables,
        *_kept("marks", "mark", _MARK, "NEW.at", "NEW.why"),
        *_kept("overrides", "override", _OVERRIDE, "NEW.at", "NEW.reason"),
        *_kept("results", "result", _RESULT, "NEW.at", "NEW.outcome")[:2],
        *_guards(),
    )


def _waiting() -> tuple[str, ...]:
    """Return the step that adds what waits for earlier stages; the history keeps when it began to, and why."""
    table = (
        "CREATE TABLE waiting (student TEXT NOT NULL, stage TEXT NOT NULL, digest TEXT NOT NULL, "
        "verdict TEXT NOT NULL CHECK (json_valid(verdict)), at TEXT NOT NULL, PRIMARY KEY (student, stage, digest))"
    )
    document = "json_object('digest', {0}.digest, 'for', json_extract({0}.verdict, '$.waits_for'))"
    why = "coalesce(json_extract(NEW.verdict, '$.problem.message'), '')"
    return table, *_kept("waiting", "waits", document, "NEW.at", why)[:2]


_CORRECTION = (
    "json_object('points', {0}.points, 'reason', {0}.reason, 'by', {0}.by, 'criterion', nullif({0}.criterion, ''))"
)


def _corrections() -> tuple[str, ...]:
    """Return the step that lets points by hand be of one criterion; those of a whole stage have an empty one."""
    return (
        "CREATE TABLE given (student TEXT NOT NULL, stage TEXT NOT NULL, criterion TEXT NOT NULL DEFAULT '', "
        "points REAL NOT NULL CHECK (points >= 0), reason TEXT NOT NULL CHECK (trim(reason) <> ''), "
        "by TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (student, stage, criterion))",
        "INSERT INTO given (student, stage, points, reason, by, at) "
        "SELECT student, stage, points, reason, by, at FROM overrides",
        "DROP TABLE overrides",
        "ALTER TABLE given RENAME TO overrides",
        *_kept("overrides", "override", _CORRECTION, "NEW.at", "NEW.reason"),
    )


# What students ask to be looked at once more; a request is closed by a mark or by a reason, and both are kept.
_REQUESTS = (
    "CREATE TABLE requests (number INTEGER PRIMARY KEY, student TEXT NOT NULL, stage TEXT NOT NULL, "
    "criterion TEXT NOT NULL DEFAULT '', words TEXT NOT NULL, at TEXT NOT NULL, answer TEXT, by TEXT, closed TEXT, "
    "UNIQUE (student, stage, criterion, words))",
)

STEPS: tuple[tuple[str, ...], ...] = (
    _first(), _WITHOUT_SECRET, _waiting(), _PASSES, _DEFLATED, _POOLS, _ROSTER, _corrections(), _REQUESTS,
)  # fmt: skip
