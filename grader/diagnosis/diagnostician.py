"""The answers of a stage, right and wrong: which known mistakes, or small changes, answer as a learner's module did."""

from __future__ import annotations

import math
import time
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from grader.course.answers import Mistake, module_from
from grader.course.stage import Stage
from grader.diagnosis.bounds.purse import Purse
from grader.diagnosis.obvious import behind_loops, obvious
from grader.diagnosis.ran import traced
from grader.diagnosis.repairs.bench import Bench
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.diagnosis.repairs.search import Repairs
from grader.diagnosis.replay import Replay, usable
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.search import Search
from grader.diagnosis.slips.switchboard import Switchboard
from grader.diagnosis.slips.telling import SLIP
from grader.outcome import Diagnosis
from grader.sandbox.record import Name, Record

NOISE = 1e-9  # two answers that are right may differ by this where 0 is expected
KNOWN_SHARE = 0.65  # of what a purse holds at first: the rest is for what no known mistake explains
LATER_SHARE = 0.15  # of the same, for the rows behind the first that fails: most fail by what is wrong with that one
COMPARED = 3  # tests of a row
MOST_WITHOUT_TIME = 0.02  # seconds of a test that the reference still repeats: only then is it explained by changes
REFUTED = 2  # failing tests of its row that a known mistake may not explain before any that it does
LONG = 0.05  # seconds of a learner's answers, such as of training: such a test is asked after all that are shorter


class Diagnostician:
    """Holds a stage's reference and mistakes, made into modules when the first wrong answer asks for them."""

    def __init__(
        self,
        stage: Stage,
        reference_text: str,
        mistakes: tuple[Mistake, ...],
        learner: bytes = b"",
        is_stub: bool = False,
        alternatives: Callable[[], Mapping[str, str]] = dict,
        prepared: Prepared | None = None,
    ) -> None:
        self.stage = stage
        self.learner = learner  # the text of the module whose answers are explained
        self.is_stub = is_stub  # the reference knows the signatures only, and proves nothing
        self.mistakes = mistakes
        self._by_id = {mistake.id: mistake for mistake in mistakes}
        self._code = _compiled(reference_text)
        self._modules: dict[str, types.ModuleType] = {}
        self.purse = Purse()
        self.is_late = False  # whether there was no time for what was asked last
        self._kept = (1 - KNOWN_SHARE) * self.purse.left
        self._later = LATER_SHARE * self.purse.left
        self._tried: set[str] = set()  # the mistakes that were held against what was asked last
        self._compared: Counter[str] = Counter()
        self._first = ""  # the row that failed first
        self._alternatives = alternatives
        self._reference_text = reference_text
        self._search: Search | None = None
        self._prepared = prepared or Prepared(stage)
        load = partial(module_from, self._code, "reference")
        self._source = self._prepared.source(reference_text, self._code.co_filename, load)
        self._reach: dict[str, set[str]] = {}
        self._refuted: defaultdict[str, float] = defaultdict(float)  # by mistake: tests that it does not explain

    @property
    def reference(self) -> types.ModuleType:
        """The reference as a module."""
        return self._source.module

    def prepare(self) -> Prepared:
        """Make what explains any module of the stage, and return it for those that are graded."""
        _ = self.slips, behind_loops(self._reference_text)
        self._prepared.make()
        return self._prepared

    def explain(
        self,
        records: list[Record],
        names: dict[str, Name],
        among: Sequence[Mistake] | None = None,
        seconds: float = math.inf,
    ) -> tuple[Diagnosis, ...] | None:
        """Return the mistakes that answer every request as the learner's module did, where the reference does not.

        Of all mistakes, or of those among which it is looked for; it takes no longer than some seconds. None where that
        cannot be said: the requests cannot be repeated, the reference answers alike, time runs out.
        """
        self.is_late, self._tried = False, set()
        if not usable(records):
            return None
        left = max(0.0, min(seconds, self.purse.left - self._kept))
        if not left and seconds_of(records) > MOST_WITHOUT_TIME:
            return None
        ends_at = time.process_time() + left
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            found = self._agreeing(records, names, self.mistakes if among is None else among, ends_at)
        if found is None:
            return None
        return tuple(
            Diagnosis(mistake.id, mistake.criterion, mistake.text, mistake.fix, declared=True) for mistake in found
        )

    def agrees(self, mistake: str | None, records: list[Record], names: dict[str, Name]) -> bool:
        """Say whether the module of a mistake, or the reference, answers every request nearly as recorded."""
        if mistake is None or mistake in self._by_id:
            return self._nearly(
                self.reference if mistake is None else self._module(self._by_id[mistake]), records, names
            )
        with self.slips.active(mistake) as module:
            return self._nearly(module, records, names)

    def obvious(self, records: list[Record], names: dict[str, Name], row: str) -> Diagnosis | None:
        """Return what an answer shows by itself, such as a refusal that is missing."""
        return obvious(self.stage, self.reference, records, names, row, self.learner, self._reference_text)

    @property
    def slips(self) -> Search:
        """What looks for small changes of the reference, and of the other right modules."""
        if self._search is None:
            sources = [self._source]
            for name, text in self._alternatives().items():
                sources.append(self._prepared.source(text, f"<{name}>", partial(_loaded, text, name)))
            self._search = Search(Switchboard(sources, self.learner))
        return self._search

    def repairs(
        self, bench: Bench, failing: Sequence[Failing] = (), passed: Callable[[], Sequence[Failing]] = tuple
    ) -> Repairs:
        """Return what looks for changes of the learner's lines, on a bench; the tests are those of all rows."""
        others = tuple(self._alternatives().values())
        found = Repairs(
            self.stage, self.learner, self.reference, self._reference_text, bench, others,
            lambda: [source.module for source in self.slips.board.sources[1:]], self._prepared,
        )  # fmt: skip
        found.confirmer.failing, found.confirmer.passed = failing, passed
        return found

    def _nearly(self, module: types.ModuleType, records: list[Record], names: dict[str, Name]) -> bool:
        replay = Replay(module, self.stage, names, False, self.learner)
        replay.floor = NOISE
        return replay.agrees(records)

    def about(self, diagnosis: Diagnosis) -> str:
        """Return the function that a known mistake, or a change of a right module, is in; empty for what is shown."""
        if diagnosis.mistake in self._by_id:
            return self._by_id[diagnosis.mistake].replaces
        return diagnosis.text.split(" ", 1)[0] if diagnosis.mistake.startswith(SLIP) else ""

    def reached(self, function: str) -> set[str]:
        """Return the functions and classes that the reference may run when one is called."""
        return self._reached({function})

    def compares(self, row: str) -> bool:
        """Say whether one more test of a row has its gradients compared, while there is time: a few are enough."""
        return self._compared[row] < COMPARED and self.purse.left > 0

    def compared(self, row: str) -> None:
        """Count one test of a row whose gradients were compared."""
        self._compared[row] += 1

    def of_row(self, row: str, records: list[Record], names: dict[str, Name]) -> tuple[Diagnosis, ...] | None:
        """Return the known mistakes of a row that explain one of its failing tests, as explain does.

        One that explained none of several is no longer asked: whoever makes it fails in the tests that it shows in.
        A test that takes long, or for whose row too little time is kept, is late: last_of_row asks it when all have
        ended.
        """
        if usable(records) and seconds_of(records) > LONG:
            self.is_late = True
            return None
        self._first = self._first or row
        began = time.process_time()
        found = self._among_own(row, records, names, math.inf if row == self._first else self._later)
        self._later -= 0.0 if row == self._first else time.process_time() - began
        return found

    def last_of_row(self, row: str, records: list[Record], names: dict[str, Name]) -> tuple[Diagnosis, ...] | None:
        """Return what of_row does, of a late test: no other test waits for the time that is left.

        Where no known mistake of the row is left to ask about, None: the reference is not run for that.
        """
        return self._among_own(row, records, names, math.inf) if self._likely(row) else None

    def _likely(self, row: str) -> list[Mistake]:
        """Return the known mistakes of a row that its failing tests have not refuted."""
        return [each for each in self.mistakes if each.criterion == row and self._refuted[each.id] < REFUTED]

    def _among_own(
        self, row: str, records: list[Record], names: dict[str, Name], seconds: float
    ) -> tuple[Diagnosis, ...] | None:
        found = self.explain(records, names, self._likely(row), seconds)
        if found is not None:
            told = {each.mistake for each in found}
            for each in self._tried:
                self._refuted[each] += -math.inf if each in told else 1
        return found

    def _agreeing(
        self, records: list[Record], names: dict[str, Name], among: Sequence[Mistake], ends_at: float
    ) -> list[Mistake] | None:
        """Return the mistakes that agree with every record; None where the reference does, or where time runs out.

        Those that agree nearly count where none agrees exactly, unless the reference does, too: then a dtype is wrong.
        """
        replay = Replay(self.reference, self.stage, names, True, self.learner)
        agrees, ran = traced(lambda: replay.agrees(records), self._code.co_filename)
        if agrees:
            return None
        nearly: list[Mistake] = []
        reached = self._reached({record.label.partition(".")[0] for record in records})
        for mistake in among:
            if time.process_time() > ends_at:
                self.is_late = True
                return None
            if self._may_differ(mistake.replaces, reached, ran):
                self._tried.add(mistake.id)
                if self._repeats(mistake, records, names, False):
                    nearly.append(mistake)
        exactly = [mistake for mistake in nearly if self._repeats(mistake, records, names, True)]
        self.is_late = bool(nearly) and not exactly and time.process_time() > ends_at
        if exactly or not nearly or self.is_late:
            return exactly if exactly or not nearly else None
        nears = Replay(self.reference, self.stage, names, False, self.learner).agrees(records)
        return [] if nears else nearly

    def _repeats(self, mistake: Mistake, records: list[Record], names: dict[str, Name], exact: bool) -> bool:
        return Replay(self._module(mistake), self.stage, names, exact, self.learner).agrees(records)

    def _may_differ(self, replaces: str, reached: set[str], ran: set[str]) -> bool:
        """Say whether a mistake can answer otherwise than the reference, of which these functions ran.

        What did not run before the reference's answer was another than the learner's gives that answer, too.
        """
        if replaces.partition(".")[0] not in reached:
            return False
        return replaces in ran or not self._source.is_plain(replaces)

    def _reached(self, labels: set[str]) -> set[str]:
        """Return the functions and classes of the reference that requests of these may run."""
        for label in labels - self._reach.keys():
            self._reach[label] = {name.partition(".")[0] for name in self._source.reached(label)}
        return labels.union(*(self._reach[label] for label in labels))

    def _module(self, mistake: Mistake) -> types.ModuleType:
        if mistake.id not in self._modules:
            code = compile(mistake.source, f"<{mistake.id}>", "exec")
            module = module_from(self._code, "wrong")
            exec(code, module.__dict__)
            self._modules[mistake.id] = module
        return self._modules[mistake.id]


def seconds_of(records: Sequence[Record]) -> float:
    """Return how long the learner's module took to answer the requests of a test."""
    return sum(record.seconds for record in records)


@lru_cache(2)  # of the stage that is graded again and again
def _compiled(reference: str) -> types.CodeType:
    return compile(reference, "<reference>", "exec")


def _loaded(text: str, name: str) -> types.ModuleType:
    return module_from(compile(text, f"<{name}>", "exec"), f"alternative_{name}")
