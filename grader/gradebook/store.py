"""A gradebook on disk: results, marks, overrides and their history, in one SQLite file (`schema.py` has its tables).

All times are kept in UTC, and verdicts and modules deflated. Methods that change something belong into a block of
`changing()`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from grader.criterion import PASSES, Passes
from grader.errors import GradebookError, NoGradebook
from grader.gradebook.records import (
    Attempt,
    Change,
    Key,
    Mark,
    Member,
    Mixture,
    Override,
    RegradeRequest,
    Result,
    Versions,
    Waiting,
)
from grader.gradebook.schema import STEPS
from grader.report.stored import decided
from grader.report.terminal.words import count

FILE = "gradebook.sqlite"
BUSY_SECONDS = 15.0
MAKES_ONE = "`grader class grade SUBMISSIONS --stage STAGE --out DIR` makes one."
_ADVICE = {
    sqlite3.SQLITE_BUSY: "Another program holds it; close that program, and run the command again.",
    sqlite3.SQLITE_FULL: "The disk is full. All results so far are kept: free some space, and run the command again.",
    sqlite3.SQLITE_READONLY: "It, or its folder, is read-only: change that, or name another folder with --out.",
    sqlite3.SQLITE_CANTOPEN: "Its folder has to be writable: SQLite keeps two more files beside it.",
    sqlite3.SQLITE_NOTADB: "Name another folder with --out, or put a copy of the gradebook there.",
    sqlite3.SQLITE_CORRUPT: "Put a copy of it back; `sqlite3 FILE .recover` saves what can be read.",
    sqlite3.SQLITE_IOERR: "The disk may be full, or fail. What was recorded before is kept.",
}
_KEY = "student, stage, digest, course, seed, isolation"
_WHOLE = f'{_KEY}, outcome, verdict, at, seconds, python, numpy, "commit", worker, document'
_MARK = "student, stage, points, out_of, raw, factor, late_days, budget_days, attempt, result"
_OVERRIDE = "student, stage, criterion, points, reason, by, at"
_REQUEST = "number, student, stage, criterion, words, at, answer, by, closed"
_OF_STUDENTS = ("results", "attempts", "marks", "overrides", "waiting", "requests", "roster", "history")
_ATTEMPT = "student, stage, digest, submitted, clock, label, identity, result"
_ATTEMPT_SIZE = _ATTEMPT.count(",") + 1
_EARLIEST = "attempts.submitted IS NOT NULL, attempts.submitted, attempts.number"


class Gradebook:
    """The results, marks and history of a class; used as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._passes: Mapping[str, Passes] | None = None

    @classmethod
    def open(cls, folder: Path, create: bool = False) -> Self:
        """Open the gradebook in a folder, and bring it up to date; create makes both where they are missing.

        One that cannot be written to, as on a disk that is mounted read-only, can still be read.
        """
        path = folder / FILE
        if not create and not path.is_file():
            hint = f"Name the folder that holds it. {MAKES_ONE}"
            raise NoGradebook(f"{folder} holds no gradebook: expected {FILE} in it", hint)
        if create:
            _make(path)
        can_write = create or (os.access(path, os.W_OK) and os.access(folder, os.W_OK))
        with _told(path):
            name = path if can_write else _to_read(path)
            connection = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=not can_write
            )
        book = cls(path, connection)
        try:
            book._expect_gradebook(create)
            with _told(path):
                connection.execute("PRAGMA foreign_keys = ON")
                if can_write:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
            book._migrate(can_write)
        except BaseException:
            connection.close()
            raise
        return book

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes in the block, or none of them."""
        with _told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):  # some failures have rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
            try:
                self._connection.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _run(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        with _told(self.path):
            return self._connection.execute(statement, tuple(values)).fetchall()

    def _expect_gradebook(self, may_be_empty: bool) -> None:
        """Raise GradebookError for a file that is empty, or a database of something else."""
        at_once = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
        version, tables = self._run(at_once)[0]
        if version == 0 and (tables or not may_be_empty):
            what = "is a database of something else" if tables else "is empty"
            raise GradebookError(f"{self.path} {what}: expected a gradebook", MAKES_ONE)

    def _migrate(self, can_write: bool) -> None:
        version = self._version()
        if version == len(STEPS):
            return
        if version < len(STEPS) and not can_write:
            what = (
                f"{self.path} has version {version}, and cannot be brought up to version {len(STEPS)}: it is read-only"
            )
            raise GradebookError(what, "Copy it into a folder of yours, and name that.")
        with self.changing():
            version = self._version()  # another process may have been faster
            if version > len(STEPS):
                what = f"{self.path} has version {version}, and this grader knows versions up to {len(STEPS)}"
                raise GradebookError(what, "Use the grader that wrote it, or a newer one.")
            for step in STEPS[version:]:
                for statement in step:
                    self._run(statement)
            self._run(f"PRAGMA user_version = {len(STEPS)}")

    def _version(self) -> int:
        return int(self._run("PRAGMA user_version")[0][0])

    def decide_by(self, passes: Mapping[str, Passes]) -> None:
        """Let results be decided, as long as the gradebook is open, by these tests; passes is by stage."""
        self._passes = dict(passes)

    def keep_passes(self, passes: Mapping[str, Passes]) -> None:
        """Keep by which tests results are decided, for whoever opens the gradebook without class.toml."""
        self._run("DELETE FROM passes")
        for stage, value in passes.items():
            self._run("INSERT INTO passes VALUES (?, ?)", (stage, value))
        self.decide_by(passes)

    def passes_kept(self) -> bool:
        """Say whether it is kept by which tests results are decided."""
        return bool(self._run("SELECT 1 FROM passes LIMIT 1"))

    def passes_of(self, stage: str) -> Passes:
        """Return by which tests results of a stage are decided."""
        if self._passes is None:
            known: dict[str, str] = dict(self._run("SELECT stage, passes FROM passes"))
            self._passes = {name: each for name, value in known.items() for each in PASSES if each == value}
        return self._passes.get(stage, "mathematics")

    def keep_roster(self, members: Iterable[Member]) -> None:
        """Keep who is in the class, instead of what an earlier roster said of the same students."""
        for member in members:
            known = {name: value for name, value in asdict(member).items() if name not in ("submission", "submitted")}
            self._run("INSERT OR REPLACE INTO roster VALUES (?, ?)", (member.student, json.dumps(known)))

    def roster(self) -> tuple[Member, ...]:
        """Return who is in the class, as far as a roster was ever given."""
        return tuple(Member(**json.loads(row[0])) for row in self._run("SELECT member FROM roster ORDER BY student"))

    def keep_source(self, digest: str, text: bytes) -> None:
        """Keep the text of a module, from which it can be graded again."""
        self._run("INSERT OR IGNORE INTO sources VALUES (?, ?, 1)", (digest, zlib.compress(text)))

    def source(self, digest: str) -> bytes | None:
        """Return the text of a module that was handed in."""
        rows = self._run("SELECT text, is_deflated FROM sources WHERE digest = ?", (digest,))
        return next((zlib.decompress(text) if is_deflated else bytes(text) for text, is_deflated in rows), None)

    def keep_explained(self, result: int, pool: Sequence[str], verdict: Mapping[str, Any] | None) -> None:
        """Keep what a pool of right programs, given by the digests of their texts, added to a result; None: nothing."""
        digest = digest_of(pool)
        self._run("INSERT OR IGNORE INTO pools VALUES (?, ?)", (digest, json.dumps(list(pool))))
        document = None if verdict is None else zlib.compress(json.dumps(verdict).encode())
        self._run("INSERT OR IGNORE INTO explained VALUES (?, ?, ?)", (result, digest, document))

    def pool(self, result: int) -> tuple[str, ...]:
        """Return the pool that a result was explained with, as the digests of its texts; empty where it was not."""
        query = "SELECT texts FROM explained JOIN pools ON pools.digest = explained.pool WHERE result = ?"
        return next((tuple(json.loads(row[0])) for row in self._run(query, (result,))), ())

    def keep_attempt(self, attempt: Attempt) -> None:
        """Keep what was handed in; of one that is known, the time of the better clock counts, else the earlier."""
        better = "instr('csv commit file unknown', excluded.clock) - instr('csv commit file unknown', attempts.clock)"
        when = _text(attempt.submitted)
        self._run(
            f"INSERT INTO attempts ({_ATTEMPT}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL) "
            "ON CONFLICT (student, stage, digest) DO UPDATE SET "
            "submitted = excluded.submitted, clock = excluded.clock, label = excluded.label, "
            "identity = coalesce(nullif(excluded.identity, ''), attempts.identity) "
            f"WHERE {better} < 0 OR ({better} = 0 AND "
            "(excluded.clock = 'csv' OR excluded.submitted < attempts.submitted))",
            (*_cell(attempt), attempt.digest, when, attempt.clock, attempt.label, attempt.identity),
        )

    def attempts(self, student: str | None = None) -> tuple[Attempt, ...]:
        """Return what was handed in, the earliest of each student and stage first."""
        return tuple(self.each_attempt(student))

    def each_attempt(self, student: str | None = None) -> Iterator[Attempt]:
        """Yield the same one by one, for a class may be large; nothing is to be written meanwhile."""
        where, values = ("WHERE student = ? ", (student,)) if student is not None else ("", ())
        query = f"SELECT {_ATTEMPT} FROM attempts {where}ORDER BY student, stage, {_EARLIEST}"
        with _told(self.path):
            yield from map(_attempt, self._connection.execute(query, values))

    def graded(self, stage: str) -> int:
        """Return how many attempts at a stage have a result."""
        query = "SELECT count(*) FROM attempts WHERE stage = ? AND result IS NOT NULL"
        return int(self._run(query, (stage,))[0][0])

    def keep_result(self, result: Result) -> int:
        """Keep a result and return its number; a fault gives way to a result, and nothing else to anything."""
        key, made = result.key, result.made
        changed = ("outcome", "verdict", "at", "seconds", "python", "numpy", '"commit"', "worker", "document")
        self._run(
            f"INSERT INTO results ({_WHOLE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT ({_KEY}) DO UPDATE SET {_excluded(changed)} WHERE results.outcome = 'fault'",
            (
                *astuple(key),
                result.outcome,
                json.dumps({"passed": result.verdict.get("passed")}),
                _text(result.at),
                result.seconds,
                *astuple(made),
                zlib.compress(json.dumps(result.verdict).encode()),
            ),
        )
        number = self.known(key)
        assert number is not None
        return number[0]

    def known(self, key: Key) -> tuple[int, str] | None:
        """Return number and outcome of the result with a key."""
        rows = self._run(
            "SELECT number, outcome FROM results WHERE student = ? AND stage = ? AND digest = ? AND course = ? "
            "AND seed = ? AND isolation = ?",
            astuple(key),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def seed(self, attempt: Attempt, key: Key) -> int | None:
        """Return the seed of the result that counts for an attempt, else of one that has this key but for its seed."""
        if attempt.result is not None:
            rows = self._run("SELECT seed FROM results WHERE number = ?", (attempt.result,))
        else:
            rows = self._run(
                "SELECT seed FROM results WHERE student = ? AND stage = ? AND digest = ? AND course = ? "
                "AND isolation = ? ORDER BY number DESC LIMIT 1",
                (key.student, key.stage, key.digest, key.course, key.isolation),
            )
        return int(rows[0][0]) if rows else None

    def result(self, number: int) -> Result:
        """Return the result of that number, decided as `passes_of` its stage says."""
        (row,) = self._run(f"SELECT {_explained()} FROM results WHERE number = ?", (number,))
        return self._result(row)

    def _result(self, row: Sequence[Any]) -> Result:
        *known, outcome, text, at, seconds, python, numpy, commit, worker, document = row
        key, made = Key(*known), Versions(python, numpy, commit, worker)
        verdict = json.loads(text if document is None else zlib.decompress(document))
        verdict = decided(verdict, self.passes_of(key.stage))
        return Result(key, outcome, verdict, datetime.fromisoformat(at), seconds, made)

    def counting(self, student: str) -> tuple[tuple[Attempt, Result], ...]:
        """Return the attempts of a student that have a result, each with the result that counts for it, in order."""
        rows = self._run(
            f"SELECT {_of('attempts', _ATTEMPT)}, {_explained()} FROM attempts "
            "JOIN results ON results.number = attempts.result WHERE attempts.student = ? "
            f"ORDER BY attempts.stage, {_EARLIEST}",
            (student,),
        )
        return tuple((_attempt(row[:_ATTEMPT_SIZE]), self._result(row[_ATTEMPT_SIZE:])) for row in rows)

    def results(self) -> tuple[Result, ...]:
        """Return all results, in the order in which they came."""
        return tuple(map(self._result, self._run(f"SELECT {_explained()} FROM results ORDER BY number")))

    def count_for(self, student: str, stage: str, digest: str, result: int) -> None:
        """Let a result count for what was handed in."""
        self._run(
            "UPDATE attempts SET result = ? WHERE student = ? AND stage = ? AND digest = ?",
            (result, student, stage, digest),
        )

    def keep_waiting(self, waiting: Waiting) -> None:
        """Keep that something waits for earlier stages; the same again, with the same words, leaves no trace."""
        values = waiting.student, waiting.stage, waiting.digest, json.dumps(waiting.verdict), _text(waiting.at)
        self._run(
            "INSERT INTO waiting (student, stage, digest, verdict, at) VALUES (?, ?, ?, ?, ?) "
            f"ON CONFLICT (student, stage, digest) DO UPDATE SET {_excluded(('verdict', 'at'))} "
            "WHERE waiting.verdict <> excluded.verdict",
            values,
        )

    def drop_waiting(self, attempt: Attempt) -> None:
        """Forget that something waits, since it has been graded, or the grader failed at it."""
        values = *_cell(attempt), attempt.digest
        self._run("DELETE FROM waiting WHERE student = ? AND stage = ? AND digest = ?", values)

    def waiting(self) -> dict[tuple[str, str, str], Waiting]:
        """Return what waits for earlier stages, by student, stage and digest."""
        rows = self._run("SELECT student, stage, digest, verdict, at FROM waiting ORDER BY student, stage, at")
        found = (Waiting(row[0], row[1], row[2], json.loads(row[3]), datetime.fromisoformat(row[4])) for row in rows)
        return {(each.student, each.stage, each.digest): each for each in found}

    def marks(self, student: str | None = None) -> tuple[Mark, ...]:
        """Return the automatic marks: of all students, or of one."""
        where, values = ("WHERE student = ? ", (student,)) if student is not None else ("", ())
        rows = self._run(f"SELECT {_MARK} FROM marks {where}ORDER BY student, stage", values)
        return tuple(Mark(*row) for row in rows)

    def mixed(self) -> tuple[Mixture, ...]:
        """Return the stages whose marks come of several versions of the course, of Python or of NumPy."""
        found: list[Mixture] = []
        for what, column in (("the course", "course"), ("Python", "python"), ("NumPy", "numpy")):
            rows = self._run(
                f"SELECT marks.stage, results.{column}, count(*) FROM marks JOIN results "
                "ON results.number = marks.result WHERE results.outcome = 'graded' GROUP BY 1, 2 ORDER BY 1, 2"
            )
            counts: dict[str, dict[str, int]] = {}
            for stage, version, many in rows:
                counts.setdefault(stage, {})[version] = many
            found += [Mixture(stage, what, each) for stage, each in counts.items() if len(each) > 1]
        return tuple(found)

    def keep_marks(self, student: str, marks: Iterable[Mark], why: str, at: datetime) -> None:
        """Replace automatic marks of a student, and write that into the history; one that stays leaves no trace."""
        known = {mark.stage: mark for mark in self.marks(student)}
        for mark in marks:
            if known.get(mark.stage) != mark:
                self._run(
                    f"INSERT INTO marks ({_MARK}, why, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                    f"ON CONFLICT (student, stage) DO UPDATE SET {_excluded((*_MARK.split(', ')[2:], 'why', 'at'))}",
                    (*astuple(mark), why, _text(at)),
                )

    def overrides(self, student: str | None = None) -> tuple[Override, ...]:
        """Return the points that people gave: to all students, or to one."""
        where, values = ("WHERE student = ? ", (student,)) if student is not None else ("", ())
        rows = self._run(f"SELECT {_OVERRIDE} FROM overrides {where}ORDER BY student, stage, criterion", values)
        return tuple(
            Override(student, stage, points, reason, by, datetime.fromisoformat(at), criterion)
            for student, stage, criterion, points, reason, by, at in rows
        )

    def keep_override(self, override: Override) -> None:
        """Replace the points that a person gave for a stage or a criterion; the same again, by the same, is none."""
        changed = _excluded(_OVERRIDE.split(", ")[3:])
        self._run(
            f"INSERT INTO overrides ({_OVERRIDE}) VALUES (?, ?, ?, ?, ?, ?, ?) "
            f"ON CONFLICT (student, stage, criterion) DO UPDATE SET {changed} WHERE (overrides.points, "
            "overrides.reason, overrides.by) <> (excluded.points, excluded.reason, excluded.by)",
            (*_cell(override), override.criterion, override.points, override.reason, override.by, _text(override.at)),
        )

    def drop_override(self, student: str, stage: str, criterion: str = "") -> bool:
        """Remove the points that a person gave; say whether there were any."""
        place = student, stage, criterion
        known = any((each.student, each.stage, each.criterion) == place for each in self.overrides(student))
        self._run("DELETE FROM overrides WHERE student = ? AND stage = ? AND criterion = ?", place)
        return known

    def requests(self) -> tuple[RegradeRequest, ...]:
        """Return what students asked to be looked at once more, the first one first."""
        rows = self._run(f"SELECT {_REQUEST} FROM requests ORDER BY number")
        return tuple(
            RegradeRequest(
                number, student, stage, criterion, words, datetime.fromisoformat(at), answer or "", by or "", _time(end)
            )
            for number, student, stage, criterion, words, at, answer, by, end in rows
        )

    def ask(self, student: str, stage: str, criterion: str, words: str, at: datetime) -> bool:
        """Keep a request; say whether it is new."""
        before = len(self.requests())
        self._run(
            "INSERT OR IGNORE INTO requests (student, stage, criterion, words, at) VALUES (?, ?, ?, ?, ?)",
            (student, stage, criterion, words, _text(at)),
        )
        return len(self.requests()) > before

    def answer(self, number: int, answer: str, by: str, at: datetime) -> None:
        """Close a request with what the student reads."""
        self._run(
            "UPDATE requests SET answer = ?, by = ?, closed = ? WHERE number = ?", (answer, by, _text(at), number)
        )
        rows = self._run("SELECT student, stage FROM requests WHERE number = ?", (number,))
        self._note("answer", rows[0][0], rows[0][1], f"request {number}: {answer}", at)

    def students(self) -> tuple[str, ...]:
        """Return everybody who is known, by name."""
        rows = self._run("SELECT student FROM attempts UNION SELECT student FROM roster ORDER BY student")
        return tuple(row[0] for row in rows)

    def rename(self, student: str, name: str, at: datetime) -> None:
        """Call a student by another name, in all that is kept; a line of the history says what it was."""
        with self._without_triggers():
            for table in _OF_STUDENTS:
                self._run(f"UPDATE {table} SET student = ? WHERE student = ?", (name, student))
            self._run("UPDATE roster SET member = json_set(member, '$.student', ?) WHERE student = ?", (name, name))
        self._note("rename", name, "", f"was called {student}", at)

    def merge(self, student: str, into: str, at: datetime) -> None:
        """Give one student all that is kept of another; of what both have, that of the first stays.

        Marks have to be brought up to date afterwards.
        """
        with self._without_triggers():
            self._run("DELETE FROM marks WHERE student = ?", (student,))
            twins = self._run(
                "SELECT mine.number, theirs.number FROM results mine JOIN results theirs ON theirs.student = ? AND "
                "(mine.stage, mine.digest, mine.course, mine.seed, mine.isolation) = "
                "(theirs.stage, theirs.digest, theirs.course, theirs.seed, theirs.isolation) WHERE mine.student = ?",
                (into, student),
            )
            for mine, theirs in twins:
                self._run("UPDATE attempts SET result = ? WHERE result = ?", (theirs, mine))
                self._run("DELETE FROM explained WHERE result = ?", (mine,))
                self._run("DELETE FROM results WHERE number = ?", (mine,))
            for attempt in self.attempts(student):
                self._merge_attempt(attempt, into)
            self._run("DELETE FROM roster WHERE student = ?", (student,))
            for table in _OF_STUDENTS:
                self._run(f"UPDATE OR IGNORE {table} SET student = ? WHERE student = ?", (into, student))
                self._run(f"DELETE FROM {table} WHERE student = ?", (student,))
        self._note("merge", into, "", f"has all that was kept of {student}", at)

    def _merge_attempt(self, attempt: Attempt, into: str) -> None:
        """Let the better time of an attempt count that both have; its result stays."""
        known = {(each.stage, each.digest): each for each in self.attempts(into)}.get((attempt.stage, attempt.digest))
        if known is not None:
            self.keep_attempt(replace(attempt, student=into))
            if known.result is None and attempt.result is not None:
                self.count_for(into, attempt.stage, attempt.digest, attempt.result)
            where = "WHERE student = ? AND stage = ? AND digest = ?"
            self._run(f"DELETE FROM attempts {where}", (*_cell(attempt), attempt.digest))

    def forget(self, student: str, at: datetime) -> tuple[int, int]:
        """Erase a student: texts, verdicts, marks and the name; return how many texts and results there were.

        Of each line of the history its number and its time stay, and one more line says that somebody was erased. A
        text that somebody else handed in as well stays theirs.
        """
        self._run("PRAGMA secure_delete = ON")  # else the disk keeps what was deleted until something else lies there
        with self.changing(), self._without_triggers():
            texts = "SELECT digest FROM attempts WHERE student = ?"
            alone = f"digest IN ({texts}) AND digest NOT IN (SELECT digest FROM attempts WHERE student <> ?)"
            counts = [
                self._run(f"SELECT count(*) FROM sources WHERE {alone}", (student, student))[0][0],
                self._run("SELECT count(*) FROM results WHERE student = ?", (student,))[0][0],
            ]
            self._run(f"DELETE FROM sources WHERE {alone}", (student, student))
            mine = "(SELECT number FROM results WHERE student = ?)"
            self._run(f"DELETE FROM explained WHERE result IN {mine}", (student,))
            for table in ("marks", "attempts", "results", "overrides", "waiting", "requests", "roster"):
                self._run(f"DELETE FROM {table} WHERE student = ?", (student,))
            self._run(
                "UPDATE history SET what = 'forgotten', student = '', stage = '', before = NULL, after = NULL, "
                "why = '' WHERE student = ?",
                (student,),
            )
            erased = f"{count(counts[0], 'text')} and {count(counts[1], 'result')} of one student erased"
            self._note("forgotten", "", "", erased, at)
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        return counts[0], counts[1]

    def back_up(self, path: Path) -> None:
        """Copy the gradebook into a file, whatever is being written."""
        with _told(path), closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)

    @contextmanager
    def _without_triggers(self) -> Iterator[None]:
        """Change what is otherwise never changed, without a word in the history; within a block of changing()."""
        known = self._run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        for name, _ in known:
            self._run(f"DROP TRIGGER {name}")
        yield
        for _, statement in known:
            self._run(statement)

    def _note(self, what: str, student: str, stage: str, why: str, at: datetime) -> None:
        values = _text(at), what, student, stage, why
        self._run("INSERT INTO history (at, what, student, stage, why) VALUES (?, ?, ?, ?, ?)", values)

    def note_fault(self, student: str, stage: str, why: str, at: datetime) -> None:
        """Write into the history that the grader failed; what is the same as the last time is not repeated."""
        if self.faults(student).get((student, stage)) != why:
            self._note("fault", student, stage, why, at)

    def faults(self, student: str | None = None) -> dict[tuple[str, str], str]:
        """Return how the grader failed the last time, by student and stage: of all students, or of one."""
        where, values = ("AND student = ? ", (student,)) if student is not None else ("", ())
        rows = self._run(f"SELECT student, stage, why FROM history WHERE what = 'fault' {where}ORDER BY number", values)
        return {(row[0], row[1]): row[2] for row in rows}

    def history(self) -> tuple[Change, ...]:
        """Return every change, the first one first."""
        rows = self._run("SELECT number, at, what, student, stage, before, after, why FROM history ORDER BY number")
        return tuple(
            Change(
                number,
                datetime.fromisoformat(at).isoformat(),
                what,
                student,
                stage,
                _document(old),
                _document(new),
                why,
            )  # SQLite's own times end in Z
            for number, at, what, student, stage, old, new, why in rows
        )


def digest_of(pool: Sequence[str]) -> str:
    """Return the digest of a pool, given as the digests of its texts."""
    return hashlib.sha256(json.dumps(list(pool)).encode()).hexdigest()


def _excluded(names: Iterable[str]) -> str:
    """Return what takes the values that could not be inserted."""
    return ", ".join(f"{name} = excluded.{name}" for name in names)


def _of(table: str, names: str) -> str:
    """Return names of columns as those of a table.

    >>> _of("results", "seed, worker")
    'results.seed, results.worker'
    """
    return ", ".join(f"{table}.{name}" for name in names.split(", "))


def _explained() -> str:
    """Return the columns of a result, whose document is the one with the causes that a pool added, if it did."""
    *known, document = _of("results", _WHOLE).split(", ")
    more = "(SELECT explained.document FROM explained WHERE explained.result = results.number)"
    return ", ".join((*known, f"coalesce({more}, {document})"))


def _attempt(row: Sequence[Any]) -> Attempt:
    return Attempt(*row[:3], _time(row[3]), *row[4:])  # type: ignore[call-arg]


def _cell(of: Attempt | Mark | Override) -> tuple[str, str]:
    return of.student, of.stage


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _document(text: str | None) -> dict[str, Any] | None:
    return None if text is None else dict(json.loads(text))


def _make(path: Path) -> None:
    """Make the file and its folder where they are missing; GradebookError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)  # it holds students' work; SQLite gives the files beside it the same rights
    except OSError as error:
        what = f"{path} cannot be {'written' if path.exists() else 'made'}: {error.strerror}"
        raise GradebookError(what, "Name another folder with --out.") from error


def _to_read(path: Path) -> str:
    """Return the name of a database that can only be read; without a log beside it nobody writes to it."""
    still = "" if path.with_name(f"{FILE}-wal").exists() else "&immutable=1"
    return f"{path.resolve().as_uri()}?mode=ro{still}"


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # extended codes keep the plain one in their last byte
        raise GradebookError(f"{path} cannot be used: {error}", _ADVICE.get(code)) from error
