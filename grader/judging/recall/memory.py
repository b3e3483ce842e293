"""What a kept grader remembers of tests that passed, and the pages on which its judges write that down.

A judge ends with its grading. What it has to hand on stands in memory that it shares with the process that forked it,
whole or not at all, so that a judge that is ended at any moment leaves nothing half written.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgpack

from grader.remote.processes.loading import Job
from grader.remote.record import Name
from grader.remote.transcripts.questions import NODE_BYTES, Passed, Question
from grader.remote.transcripts.recording import Step
from grader.submission.source import plain_text
from grader.submission.source.unchanged import Unchanged

Looked = dict[str, Name | None]  # the names of a module that a test asked for, and what they were
LENGTH = struct.Struct("<Q")
PAGES_BYTES = 16 << 20  # that one judge may write in one grading
MOST_BYTES = 48 << 20  # that a grader remembers
MOST_FORMS = 8  # of modules whose names differ, for one test
MOST_STEPS = 1 << 12


class Pages:
    """Notes of one judge, in memory that it shares with the process which forked it."""

    def __init__(self, size: int = PAGES_BYTES) -> None:
        self._memory = mmap.mmap(-1, size)
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Be written on by the judges of another grading."""
        LENGTH.pack_into(self._memory, 0, LENGTH.size)

    def passed(self, test: str, looked: Looked, called: tuple[str, ...], steps: list[tuple[Step, str]]) -> None:
        """Note what a test that passed asked and was answered."""
        names = [[name, *((found.kind, found.number, found.bases) if found else ())] for name, found in looked.items()]
        plain = [[step.sent, step.size, step.blob, step.digest, label] for step, label in steps]
        self._write(["passed", test, names, called, plain])

    def again(self, test: str) -> None:
        """Note that the questions of a test have been answered alike once more."""
        self._write(["again", test])

    def failed(self, test: str) -> None:
        """Note that a test does not pass now, whatever was noted of it before."""
        self._write(["failed", test])

    def unsteady(self, test: str) -> None:
        """Note that a module answers the questions of a test now so, now otherwise."""
        self._write(["unsteady", test])

    def read(self) -> Iterator[list[Any]]:
        """Yield all notes."""
        at, (end,) = LENGTH.size, LENGTH.unpack_from(self._memory)
        while at < end:
            start = at + LENGTH.size
            at = start + LENGTH.unpack_from(self._memory, at)[0]
            yield msgpack.unpackb(self._memory[start:at], unicode_errors="surrogatepass")

    def _write(self, note: list[Any]) -> None:
        """Add a note if there is room; where the notes end is written last."""
        written = msgpack.packb(note, unicode_errors="surrogatepass")
        (at,) = LENGTH.unpack_from(self._memory)
        end = at + LENGTH.size + len(written)
        if end <= self._size:
            self._memory[at:end] = LENGTH.pack(len(written)) + written
            LENGTH.pack_into(self._memory, 0, end)


@dataclass
class Remembered:
    """What is known of one test that passed, with modules of the same names: what it called, and its first question.

    is_steady says that its questions have been answered alike once more; else it may be one that draws as it likes.
    last is the number of the grading in which it was last known to pass.
    """

    looked: Looked
    called: tuple[str, ...]
    first: Question
    is_steady: bool = False
    last: int = 0

    @property
    def names(self) -> frozenset[str]:
        """What decides the test: the names that it asked for, and the functions that it called."""
        return frozenset(self.looked).union(self.called)

    def fits(self, names: Mapping[str, Name]) -> bool:
        """Say whether a module has the names that the test asked for, of the same kinds."""
        return all(names.get(name) == found for name, found in self.looked.items())


@dataclass
class Memory:
    """Tests that passed with the inputs of one seed."""

    seed: int
    gradings: int = 0  # of which it has learnt
    job: Job | None = None  # of the last of them
    _tests: dict[str, list[Remembered]] = field(default_factory=dict)
    _unsteady: set[str] = field(default_factory=set)
    _left: int = MOST_BYTES

    def of(self, test: str, names: Mapping[str, Name]) -> Remembered | None:
        """Return what is known of a test with a module of these names."""
        return next((each for each in self._tests.get(test, ()) if each.fits(names)), None)

    def passed_last(self, known: Remembered, job: Job) -> bool:
        """Say whether a test is steady and passed in the last grading, and what decides it is the same in this one."""
        before = self.job
        if before is None or not known.is_steady or known.last != self.gradings or before.lent != job.lent:
            return False
        return _unchanged(before.source, job.source).holds(known.names)

    def learn(self, job: Job, all_pages: Iterable[Pages]) -> None:
        """Take in what the judges of a grading have noted."""
        self.gradings += 1
        self.job = job
        failed = {test for pages in all_pages for test in self._read(pages)}
        for known in (each for test in failed for each in self._tests.get(test, ())):
            known.last = 0

    def _read(self, pages: Pages) -> Iterator[str]:
        """Take in notes, and yield the tests that failed."""
        for kind, test, *rest in pages.read():
            if kind == "unsteady":
                self._unsteady.add(test)
                self._tests.pop(test, None)
            elif kind == "again":
                for known in self._tests.get(test, ()):
                    known.is_steady, known.last = True, self.gradings
            elif kind == "failed":
                yield test
            elif test not in self._unsteady:
                self._add(test, *rest)

    def _add(self, test: str, names: list[Any], called: list[str], plain: list[Any]) -> None:
        steps = [(Step(sent, size, blob, digest), label) for sent, size, blob, digest, label in plain]
        forms = self._tests.setdefault(test, [])
        looked = {name: Name(kind[0], kind[1], tuple(kind[2])) if kind else None for name, *kind in names}
        known = next((each for each in forms if each.looked == looked), None)
        if self._left < 0 or not steps or len(steps) > MOST_STEPS or (known is None and len(forms) == MOST_FORMS):
            return
        end, (first, label) = Passed(tuple(called)), steps[0]
        if known is None:
            known = Remembered(looked, end.called, Question(first.sent, label))
            forms.append(known)
            self._left -= len(first.sent) + NODE_BYTES
        known.last = self.gradings
        if known.first.sent == first.sent:
            self._left -= known.first.add(iter(steps[1:]), first, end)


@dataclass(frozen=True)
class Book:
    """What was remembered before a grading, and the pages on which one judge writes what is to be."""

    memory: Memory
    pages: Pages


class Memories:
    """The memory of one kept grader, for as long as it grades with the same seed."""

    def __init__(self) -> None:
        self.memory: Memory | None = None
        self._books: tuple[Book, ...] = ()

    def open(self, seed: int) -> None:
        """Begin a grading: have a book for each of two judges."""
        if self.memory is None or self.memory.seed != seed:
            self.begin(Memory(seed))
        for book in self._books:
            book.pages.clear()

    def begin(self, memory: Memory) -> None:
        """Know this, and nothing else."""
        self.memory = memory
        self._books = tuple(Book(memory, Pages()) for _ in range(2))

    def book(self, judge: int) -> Book:
        """Return the book of the first judge, 0, or of the second, 1, of the grading that has begun."""
        return self._books[judge]

    def close(self, job: Job) -> None:
        """End a grading: remember what its judges have noted."""
        if self.memory is not None:
            self.memory.learn(job, (book.pages for book in self._books))


@lru_cache(1)  # one pair of texts a grading
def _unchanged(before: bytes, now: bytes) -> Unchanged:
    return Unchanged(plain_text(before), plain_text(now))
