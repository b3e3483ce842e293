"""The calls that tests made, each with the answer that is right: what an explanation has to explain, one by one."""

from __future__ import annotations

import copy
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np

from grader.course.answers import Mistake
from grader.course.stage import Stage
from grader.diagnosis.instrument import LOG
from grader.diagnosis.replay import Replay, raised_at, usable
from grader.diagnosis.runner import STEPS, Runner, Stand, error_of, requests_of, stays_there
from grader.outcome import Outcome
from grader.sandbox.connection import Ended, Passed
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Name, Record
from grader.worker.server import perform

T = TypeVar("T")
NOISE = 1e-9  # two answers that are right may differ by this where 0 is expected
MOST_RIGHT = 3  # answers to one call that are right, as with free signs
MOST_OF_ROW = 3  # tests of a criterion that show a convention: many inputs have one answer in all
MOST_OF_A_TEST = 40  # calls of one test that stand by themselves
SIZE_OF_A_STEP = 10  # numbers in the arguments that count as one step
STEPS_OF_AN_EXCHANGE = 3000  # where a function of the test's is passed, each request goes over by itself
MANY = 12  # zeros and ones, from which on they tell as much as other numbers
FRACTION = 1e-6  # what is nearer to a whole number counts as one
FEW = 4  # whole numbers, and fewer, that many formulas give as well


def by_asked_name(test: Ended) -> Ended:
    """Return a test whose records call a class by the name that was asked for, whatever it was defined as."""
    return test._replace(records=_by_asked_name(test.records, test.names))


def _by_asked_name(records: list[Record], names: Mapping[str, Name]) -> list[Record]:
    numbers = {entry.number: name for name, entry in names.items() if entry.number}
    asked = {}
    for each in records:
        if isinstance(each.result, RemoteValue) and each.kind == "call" and each.target in numbers:
            asked[each.result.__dict__["_shown"]] = numbers[each.target]
    changed = {shown: name for shown, name in asked.items() if shown not in asked.values()}
    return [_relabelled(each, changed) for each in records] if changed else records


def _relabelled(record: Record, names: Mapping[str, str]) -> Record:
    owner, dot, rest = record.label.partition(".")
    if owner not in names:
        return record
    found = copy.copy(record)
    found.label = f"{names[owner]}{dot}{rest}"
    return found


def evidence_of(test: Ended | Passed) -> Passed | None:
    """Return a test of a run that passed; None where its requests cannot be repeated."""
    if isinstance(test, Passed):
        ended = test.ended
        return test._replace(ended=lambda: None if (found := ended()) is None else by_asked_name(found))
    if not usable(test.records):
        return None
    named = by_asked_name(test)
    return Passed(test.outcome, *calls_of(test.records, test.names), lambda: named)


def calls_of(records: list[Record], names: dict[str, Name]) -> tuple[frozenset[str], int]:
    """Return the functions that a test calls, and how much it gives them; nothing where that cannot be repeated."""
    if not usable(records):
        return frozenset(), 0
    records = _by_asked_name(records, names)
    return frozenset(each.label for each in records if each.kind == "call"), sum(map(_size_of, records))


def of_convention(
    stage: Stage, rights: Mapping[str, types.ModuleType], passed: Sequence[Passed], learner: bytes
) -> tuple[Mapping[str, types.ModuleType], dict[str, Any]]:
    """Return the right modules, by their texts, that answer as the learner's does where tests accept several answers.

    So it is with an approximation by tanh, or an eps outside the root. A few tests of each criterion are asked; all
    modules are returned where the reference answers alike, or no other does so more often. Beside them stands what they
    have for each name that the reference answers otherwise. To draw in another order is no convention: a wrong module
    may pass a test of what is drawn by chance, as another right one does.
    """
    smallest: dict[str, list[Passed]] = {}
    for each in sorted(passed, key=lambda each: (each.outcome.kind not in ("", "values"), each.size)):
        smallest.setdefault(each.outcome.criterion, []).append(each)
    reference = next(iter(rights.values()))
    asked = [each.ended() for row in smallest.values() for each in row[:MOST_OF_ROW] if not each.is_usual]
    asked = [each for each in asked if each is not None and not any(map(is_given_generator, each.records))]
    others = [each for each in asked if each is not None and not _answers(stage, reference, each, learner)]
    if not others:
        return rights, {}
    agreeing = {text: sum(_answers(stage, module, each, learner) for each in others) for text, module in rights.items()}
    most = max(agreeing.values())
    if not most:
        return rights, {}
    found = {text: module for text, module in rights.items() if agreeing[text] == most}
    first = next(iter(found.values()))
    known = [each for each in others if _answers(stage, first, each, learner)]
    names = {each.label.partition(".")[0] for test in known for each in test.records if each.kind == "call"}
    return found, {name: getattr(first, name) for name in sorted(names) if hasattr(first, name)}


def is_given_generator(record: Record) -> bool:
    """Say whether a request is given a random generator to draw from."""
    return any(isinstance(each, np.random.Generator) for each in (*record.args, *record.kwargs.values()))


def _answers(stage: Stage, module: types.ModuleType, ended: Ended, learner: bytes) -> bool:
    replay = Replay(module, stage, ended.names, False, learner)
    replay.floor = NOISE
    return replay.agrees(ended.records)


def _with_answer(record: Record, result: Any, names: Any, changed: Any) -> Record:
    """Return a request with another answer, as it came back; an object of the learner's stays what it was."""
    found = copy.copy(record)
    found.error, found.changed = error_of(names), bool(changed)
    found.result = record.result if stays_there(record.result) and found.error is None else result
    return found


@dataclass(eq=False)
class Check:
    """One call of a test: the requests that lead to it, and what right modules answer.

    The last of the records is the call itself; those before made the objects and caches that it needs.
    """

    stage: Stage
    outcome: Outcome
    records: Sequence[Record]
    names: dict[str, Name]
    rights: Sequence[Sequence[Record]]  # the same requests with answers that are right
    is_exact: bool = False  # whether the dtype is what is wrong
    is_whole: bool = False  # whether these are all requests of the test
    later: Sequence[Record] = ()  # what was read of its objects right after it
    steps: int = 0  # that the learner's module takes, once that is known
    then: Check | None = None  # the last wrong call of the test that came after it, and needs what came before
    beside: tuple[Mistake, ...] = ()  # known mistakes that explain the earlier wrong calls of its test

    @property
    def label(self) -> str:
        """The function, class, method or attribute that is asked last."""
        return self.records[-1].label

    @cached_property
    def labels(self) -> list[str]:
        """The functions that its requests ask, the last one first."""
        return list(dict.fromkeys(each.label for each in reversed(self.records) if each.label))

    @property
    def criterion(self) -> str:
        return self.outcome.criterion

    @property
    def kind(self) -> str:
        """What the test is about: values, where its marks say nothing else."""
        return self.outcome.kind or "values"

    @property
    def last(self) -> Record:
        return self.records[-1]

    @property
    def right(self) -> Record:
        """The call as the reference answers it."""
        return self.rights[0][-1]

    @property
    def is_raised(self) -> bool:
        """Whether the learner's module raised where a right one answers."""
        return self.last.error is not None and self.right.error is None

    @property
    def is_refusal(self) -> bool:
        """Whether a right module refuses the call."""
        return self.right.error is not None

    @property
    def refused_at(self) -> tuple[str | int, ...]:
        """What is asked, and the lines of a right module that refuse it: where they are one, one check is missing."""
        error = self.right.error
        return (self.label, *raised_at(error)) if isinstance(error, Exception) else ()

    @cached_property
    def size(self) -> int:
        """About how much is to be computed: requests, and the numbers in their arguments."""
        values = (value for each in self.records for value in (*each.args, *each.kwargs.values()))
        return 50 * len(self.records) + sum(_size(value) for value in values)

    @property
    def is_empty(self) -> bool:
        """Whether an array without numbers is given: what is missing, a factor or a term, shows nowhere."""
        given = (*self.last.args, *self.last.kwargs.values())
        return any(isinstance(each, np.ndarray) and not each.size for each in given)

    @property
    def order(self) -> tuple[int, str, int]:
        """Where it comes among others, which a set has in no order: small ones first."""
        return self.size, self.outcome.test, len(self.records)

    @property
    def work(self) -> int:
        """How much a trial takes: the steps of the learner's module, what NumPy computes in each, its exchanges."""
        exchanges = STEPS_OF_AN_EXCHANGE * len(self.records) if self.requests is None else 0
        return self.steps + self.size // SIZE_OF_A_STEP + exchanges

    @cached_property
    def says_little(self) -> bool:
        """Whether many formulas give the right answer: a bool, a few whole numbers, zeros and ones."""
        if self.is_refusal:
            return True
        parts = _numbers(self.right.result)
        if parts is None:
            return self.right.result is None
        plain = np.concatenate([each.reshape(-1) for each in parts]) if parts else np.zeros(0)
        whole = bool(np.all(np.isfinite(plain)) and np.all(np.mod(plain, 1) == 0)) if plain.size else True
        return (
            (whole and plain.size < FEW)
            or (plain.size < MANY and bool(np.isin(plain, (0.0, 1.0)).all()))
            or not np.isfinite(plain).any()
        )

    @property
    def is_of_dtype(self) -> bool:
        """Whether the answer is right but for the dtype of its numbers."""
        own, right = _numbers(self.last.result), _numbers(self.right.result)
        if not own or not right or self.last.changed != self.right.changed or len(own) != len(right):
            return False
        pairs = list(zip(own, right, strict=True))
        return all(a.shape == b.shape and np.allclose(a, b, NOISE, 0, equal_nan=True) for a, b in pairs)

    @cached_property
    def has_fractions(self) -> bool:
        """Whether the right answer holds numbers with a fraction, which few formulas give."""
        parts = _leaves(self.right.result) if self.right.error is None else ()
        finite = (np.nan_to_num(each, nan=0.0, posinf=0.0, neginf=0.0) for each in parts)
        return any(bool((np.abs(each - np.round(each)) > FRACTION).any()) for each in finite)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the right answer is of Python's own, and holds no array and no fraction: many formulas give some."""
        return not self.is_refusal and _is_plain(self.right.result)

    @cached_property
    def requests(self) -> list[list[Any]] | None:
        """The requests as they go over; None where a function of the test's is among them."""
        wanted = {each.target for each in self.records} - {0}
        names = {entry.number: name for name, entry in self.names.items() if entry.number in wanted}
        return requests_of(self.records, names)

    @cached_property
    def local_requests(self) -> list[list[Any]] | None:
        """The requests for a module in this process, where the test's own functions can be passed."""
        wanted = {each.target for each in self.records} - {0}
        names = {entry.number: name for name, entry in self.names.items() if entry.number in wanted}
        return self.requests if self.requests is not None else requests_of(self.records, names, is_local=True)

    def noted(self, runner: Any) -> tuple[Any, int] | None:
        """Return the log of the probes while the requests are made, and the steps; None where that failed."""
        if self.requests is not None:
            told = runner.attempt([[]], self.requests, 20 * STEPS, True)
            match told:
                case [[_, int(steps), log]]:
                    return log, steps
            return None
        self._step_by_step(runner, (), self.rights[0])
        try:
            return runner.named(LOG), 0
        except Exception:  # the process is gone, or what was noted cannot be sent
            return None

    def logs(self, runner: Runner, groups: Sequence[Sequence[int]], steps: int = STEPS) -> list[Any]:
        """Return what the probes noted with each group of changes in force, as far as the requests can go over."""
        found: list[Any] = []
        while self.requests is not None and len(found) < len(groups):
            told = runner.attempt(groups[len(found) :], self.requests, steps, True)
            found += [each[2] if isinstance(each, list) and len(each) == 3 else None for each in told or [None]]
        return found

    def scores(self, runner: Runner, groups: Sequence[Sequence[int]], steps: int = STEPS) -> list[tuple[int, int]]:
        """Return of each group of changes how many requests, and how many values of them, are answered rightly.

        Where one of them hangs, those that are left go over one by one: together they would hang once for each.
        """
        found: list[tuple[int, int]] = []
        requests, is_together = self.requests, True
        while len(found) < len(groups):
            told = runner.attempt(groups[len(found) :], requests, steps) if requests and is_together else None
            if told is None:
                is_together = False
                found.append(self._alone(runner, groups[len(found)], requests, steps))
            else:
                found += [self.score_of(each) for each in told]
        return found

    def _alone(self, runner: Runner, numbers: Sequence[int], requests: list[Any] | None, steps: int) -> tuple[int, int]:
        """Return the score of one group: the others went over with one that hung or ended the process."""
        if requests is not None:
            told = runner.attempt([numbers], requests, steps)
            return (0, 0) if told is None else self.score_of(told[0])
        return max(self._step_by_step(runner, numbers, right) for right in self.rights)

    def _step_by_step(self, runner: Any, numbers: Sequence[int], right: Sequence[Record]) -> tuple[int, int]:
        """Return the score with an exchange for each request: a function of the test's is called over there."""
        replay = _Counting(Stand(runner), self.stage, {}, self.is_exact)  # type: ignore[arg-type]
        replay.floor = NOISE
        try:
            runner.choose(numbers)
            wanted = {number for record in right for number in (record.target, *_passed_on(record))} - {0}
            for name, entry in self.names.items():
                if entry.number in wanted:
                    replay.objects[entry.number] = runner.named(name)
            for done, record in enumerate(right):
                if not replay.agrees_with(record):
                    return done, replay.agreed
        except WorkerFailed:
            return 0, 0
        return len(right), replay.agreed

    def answered(self, runner: Runner) -> Check | None:
        """Return the call as the module on a runner answers it; None where that cannot be told."""
        told = runner.attempt([[]], self.requests, 20 * STEPS) if self.requests is not None else None
        match told:
            case [[list(answers), *_]] if len(answers) == len(self.records):
                pairs = zip(self.records, answers, strict=True)
                return replace(self, records=[_with_answer(record, *each[:3]) for record, each in pairs])
        return None

    def score_of(self, told: Any) -> tuple[int, int]:
        """Return the score of what came back for one group."""
        answers = told[0] if isinstance(told, list) and len(told) == 3 and isinstance(told[0], list) else []
        return max(self._score(right, answers) for right in self.rights)

    def _score(self, right: Sequence[Record], answers: list[Any]) -> tuple[int, int]:
        replay = _Counting(types.ModuleType("none"), self.stage, {}, self.is_exact)
        replay.floor = NOISE
        done = 0
        with np.errstate(all="ignore"):
            for record, each in zip(right, answers, strict=False):
                if not (isinstance(each, list) and len(each) == 4 and replay.is_told(record, *each[:3])):
                    break
                done += 1
        return done, replay.agreed

    def is_right(self, score: tuple[int, int]) -> bool:
        """Say whether a score is that of a module that answers all rightly."""
        return score[0] == len(self.records)

    def wrong_parts(self) -> list[int | str]:
        """Return which entries of a tuple or dict are wrong; none where all are, or the form is another."""
        a, b = self.right.result, self.last.result
        pairs: list[tuple[int | str, Any, Any]] = []
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            pairs = [(n, *each) for n, each in enumerate(zip(a, b, strict=True))]
        elif isinstance(a, dict) and isinstance(b, dict) and set(a) == set(b):
            pairs = [(name, a[name], b[name]) for name in a if isinstance(name, str)]
        replay = Replay(types.ModuleType("none"), self.stage, {}, self.is_exact)
        replay.floor = NOISE
        wrong = [part for part, one, other in pairs if not replay._same(one, other)]
        return wrong if len(wrong) < len(pairs) else []


class _Counting(Replay):
    """Compares answers of a changed module with right ones, and counts the values that are right."""

    agreed = 0

    def is_told(self, record: Record, result: Any, names: Any, changed: Any) -> bool:
        """Say whether a request was answered rightly, by what came back of it."""
        error = error_of(names)
        if error is None and record.error is None and result is None and stays_there(record.result):
            self.agreed += 1
            return True
        try:
            return self._is_same(record, result, error, bool(changed))
        except Exception:  # values that cannot be compared: the other side chose them
            return False

    def agrees_with(self, record: Record) -> bool:
        """Make one request, and say whether it is answered rightly."""
        try:
            args = tuple(self._local(*pair) for pair in zip(record.args, record.given, strict=True))
            kwargs = {name: self._local(value, value) for name, value in record.kwargs.items()}
            target = self.objects[record.target]
        except KeyError:  # something that an earlier request did not answer
            return False
        try:
            result, error = perform(record.kind, target, record.name, args, kwargs), None
        except WorkerFailed:
            raise
        except Exception as raised:  # a changed form may well raise
            result, error = None, raised
        try:
            return self._is_same(record, result, error, record.changed)
        except WorkerFailed:
            raise
        except Exception:
            return False

    def _same(self, recorded: Any, local: Any) -> bool:
        """Compare, and count each value of a tuple or dict that is right by itself."""
        if isinstance(recorded, tuple) and isinstance(local, tuple) and len(recorded) == len(local):
            return min([self._same(a, b) for a, b in zip(recorded, local, strict=True)], default=True)
        if isinstance(recorded, dict) and isinstance(local, dict) and set(recorded) <= set(local):
            return min([self._same(value, local[name]) for name, value in recorded.items()], default=True)
        same = super()._same(recorded, local)
        self.agreed += same
        return same

    def _same_error(self, record: Record, recorded: BaseException, local: Exception) -> bool:
        own = next((each for each in type(local).__mro__ if each.__module__ == "builtins"), Exception)
        return isinstance(recorded, own)


@dataclass
class Checks:
    """The calls of all tests of a run: those that went wrong, and those that have to stay right."""

    maker: Maker
    failing: list[Check] = field(default_factory=list)
    _right: list[Check] = field(default_factory=list)  # right calls of tests that failed
    _passed: list[Passed] = field(default_factory=list)
    _made: dict[str, Check | None] = field(default_factory=dict)  # by test that passed
    mended: set[Check] = field(default_factory=set)  # failing calls that are right with the edits found so far

    @classmethod
    def of(
        cls,
        stage: Stage,
        failed: Sequence[Ended],
        passed: Sequence[Passed],
        rights: Sequence[types.ModuleType],
        learner: bytes,
    ) -> Checks:
        """Return the calls of tests that ended; rights are the right modules, the reference first."""
        found = cls(Maker(stage, rights, learner))
        for each in failed:
            if usable(each.records) and not isinstance(each.records[-1].error, EOFError):  # of input(): it says enough
                found._take(each)
        found._passed = list(passed)
        return found

    def _take(self, ended: Ended) -> None:
        wrong, right = self.maker.split(ended, False)
        if not wrong:
            wrong, right = self.maker.split(ended, True)
        if not wrong:  # each answer is right by itself, but no right module gives all of them
            alone = [replace(self.maker, rights=[each]) for each in self.maker.rights[:MOST_RIGHT]]
            wrong, right = min((each.split(ended, False) for each in alone), key=lambda each: len(each[0]))
        if wrong:
            self.failing += wrong
            self._right += right

    def passing(self, reaches: Callable[[str], bool], most: int, first: str = "") -> list[Check]:
        """Return right calls that lead to some function: those of one function, and of the others in turn."""
        right = (*self._right, *(each for each in self.failing if each in self.mended))
        found = [each for each in right if any(map(reaches, each.labels))]
        tests = [each for each in self._passed if any(map(reaches, each.calls))]
        tests.sort(key=lambda each: each.size)
        beside = _in_turn([each for each in tests if first not in each.calls], lambda each: each.outcome.criterion)
        for each in (*[each for each in tests if first in each.calls][:most], *beside[: most // 2]):
            check = self.whole(each)
            if check is not None:
                found.append(check)
        found.sort(key=lambda each: each.size)
        own = [each for each in found if each.label == first]
        others = _in_turn([each for each in found if each.label != first], lambda each: each.label)
        return [*own[: max(most - len(others), most // 2)], *others][:most]

    def passed_tests(self, label: str, most: int) -> list[str]:
        """Return tests that asked a function and passed, the shortest first."""
        tests = sorted((each for each in self._passed if label in each.calls), key=lambda each: each.size)
        return [each.outcome.test for each in tests[:most]]

    def whole(self, passed: Passed) -> Check | None:
        """Return all that a test asked that passed; made once."""
        test = passed.outcome.test
        if test not in self._made:
            ended = passed.ended()
            self._made[test] = None if ended is None else self.maker.whole(ended)
        return self._made[test]

    def trusted(self) -> frozenset[str]:
        """Return the functions that were asked, and of which no answer is wrong with the edits found so far."""
        failing = [each for each in self.failing if each not in self.mended]
        unseen = {one.label for each in failing for one in each.records if isinstance(one.result, RemoteValue)}
        return self.unharmed() - unseen

    def unharmed(self) -> frozenset[str]:
        """Return the functions that were asked, and of which no answer that is seen is wrong with these edits.

        A function that takes what it has to refuse is not wrong where it has to answer.
        """
        asked = {label for each in self._passed for label in each.calls} | {each.label for each in self.mended}
        failing = [each for each in self.failing if each not in self.mended and not each.is_refusal]
        return frozenset(asked - {each.label for each in failing} - {each.label.partition(".")[0] for each in failing})


def _in_turn(items: Iterable[T], group: Callable[[T], str]) -> list[T]:
    """Return the first item of each group, then the second of each, and so on."""
    places, found = Counter[str](), []
    for each in items:
        found.append((places[group(each)], each))
        places[group(each)] += 1
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _size_of(record: Record) -> int:
    return 50 + sum(_size(value) for value in (*record.args, *record.kwargs.values()))


@dataclass
class Maker:
    """Makes checks of a test's records by repeating them on right modules."""

    stage: Stage
    rights: Sequence[types.ModuleType]
    learner: bytes
    floor: float = 0.0  # differences up to this are none

    def split(self, ended: Ended, is_exact: bool) -> tuple[list[Check], list[Check]]:
        """Return the calls of a failed test that were answered wrongly, and those that were answered rightly.

        A call that needs nothing from before stands by itself; of the others the first wrong one counts, and the last
        one once that is explained. One of which right modules give several answers was none that the test ended at,
        where a later one is wrong; nor was one of right numbers in another dtype, where another one's are wrong, or one
        that is off by rounding where 0 is expected, unless all are.
        """
        wrong, right = replace(self, floor=NOISE)._split(ended, is_exact)
        return (wrong, right) if wrong else self._split(ended, is_exact)

    def _split(self, ended: Ended, is_exact: bool) -> tuple[list[Check], list[Check]]:
        wrong: list[Check] = []
        right: list[Check] = []
        replay = self._replay(self.rights[0], ended, is_exact)
        answers = _answered(replay, ended.records)
        chained, last = None, 0
        for place, (record, (answer, is_right)) in enumerate(zip(ended.records, answers, strict=False)):
            if replay.stands_alone(record):
                if len(wrong) + len(right) < MOST_OF_A_TEST:
                    made = Check(
                        self.stage, ended.outcome, [record], ended.names, [[answer]], is_exact, len(ended.records) == 1
                    )
                    self._sort(made, is_right, wrong, right)
            elif not is_right and chained is None:
                chained = self._chained(ended, answers, place, is_exact)
                wrong += [chained] if chained is not None else []
            elif not is_right:
                last = place
        if chained is not None and last:
            chained.then = self._chained(ended, answers, last, is_exact)
        wrong = [each for each in wrong if not each.is_of_dtype] or wrong
        return [*(each for each in wrong[:-1] if len(each.rights) == 1), *wrong[-1:]], right

    def _chained(
        self, ended: Ended, answers: Sequence[tuple[Record, bool]], place: int, is_exact: bool
    ) -> Check | None:
        """Return a wrong call with all that came before it; None where another right module answers alike."""
        forms = [each for each, _ in answers[: place + 1]]
        made = Check(
            self.stage, ended.outcome, ended.records[: place + 1], ended.names, [forms], is_exact,
            place + 1 == len(ended.records),
        )  # fmt: skip
        made.later = [*takewhile(lambda each: each.kind == "getattr", ended.records[place + 1 :])]
        wrong: list[Check] = []
        self._sort(made, False, wrong, [])
        return made if wrong else None

    def _sort(self, check: Check, is_right: bool, wrong: list[Check], right: list[Check]) -> None:
        """Put a call among the wrong or the right ones; a call is right if any right module answers alike."""
        if is_right:
            right.append(check)
            return
        rights = list(check.rights)
        if check.right.error is None:
            for module in self.rights[1:MOST_RIGHT]:
                ended = Ended(check.outcome, list(check.records), check.names)
                own = _answered(self._replay(module, ended, check.is_exact), check.records)
                if len(own) != len(check.records) or own[-1][0].error is not None:
                    continue
                if own[-1][1]:
                    right.append(check)
                    return
                form = [each for each, _ in own]
                if not any(self._is_alike(form, each, check.is_exact) for each in rights):
                    rights.append(form)
        check.rights = rights
        wrong.append(check)

    def whole(self, ended: Ended) -> Check | None:
        """Return all that a test asked, with the right answers; None where no right module answers alike."""
        for module in self.rights[:MOST_RIGHT]:
            own = _answered(self._replay(module, ended, False), ended.records)
            if len(own) == len(ended.records) and all(same for _, same in own):
                return Check(
                    self.stage, ended.outcome, ended.records, ended.names, [[each for each, _ in own]], False, True
                )
        return None

    def _is_alike(self, one: Sequence[Record], other: Sequence[Record], is_exact: bool) -> bool:
        replay = Replay(self.rights[0], self.stage, {}, is_exact)
        replay.floor = NOISE
        for a, b in zip(one, other, strict=True):
            is_opaque = a.label in self.stage.opaque and isinstance(a.result, tuple) and isinstance(b.result, tuple)
            pair = (a.result[:-1], b.result[:-1]) if is_opaque else (a.result, b.result)
            if b.error is None and not replay._same(*pair):
                return False
        return True

    def _replay(self, module: types.ModuleType, ended: Ended, is_exact: bool) -> Replay:
        replay = Replay(module, self.stage, ended.names, is_exact, self.learner)
        replay.floor = self.floor
        return replay


def _answered(replay: Replay, records: Sequence[Record]) -> list[tuple[Record, bool]]:
    """Return the records with the answers of a right module, and whether the learner's are the same.

    It ends where they cannot be repeated.
    """
    found = []
    with np.errstate(all="ignore"):
        for record in records:
            done = replay.perform(record)
            if done is None:
                break
            result, error, changed, same = done
            right = copy.copy(record)
            right.error, right.changed, right.failed = error, changed, False
            right.result = _expected(record, result)
            found.append((right, same))
    return found


def _expected(record: Record, result: Any) -> Any:
    """Return the right answer, with the learner's own objects where the right ones stay in their module."""
    if isinstance(record.result, RemoteValue):
        return record.result
    several = isinstance(record.result, (list, tuple)) and isinstance(result, (list, tuple))
    if several and any(isinstance(each, RemoteValue) for each in record.result):
        return record.result
    return result


def answer_of(record: Record) -> object:
    """Return what tells an answer from others: the exception's kind, an array's bytes, the text of other values."""
    if record.error is not None:
        return type(record.error).__name__
    return record.result.tobytes() if isinstance(record.result, np.ndarray) else repr(record.result)[:400]


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value)) if len(value) < 1000 else len(value)
    return sum(map(_size, value.values())) if isinstance(value, dict) and len(value) < 1000 else 1


def _passed_on(record: Record) -> Iterator[int]:
    """Yield the numbers of what a request is given of the module's own: its functions, and what was made of it."""
    given = (*record.args, *record.kwargs.values())
    yield from (each.__dict__["_number"] for each in given if isinstance(each, RemoteValue))


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    is_whole = isinstance(value, float) and value.is_integer()
    return value is None or is_whole or type(value) in (bool, int, str)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the floating numbers of an answer, of its parts and of theirs."""
    if isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif isinstance(value, (np.ndarray, np.generic, float)) and np.asarray(value).dtype.kind == "f":
        yield np.asarray(value)


def _numbers(value: Any) -> list[Any] | None:
    """Return the numbers of an answer, or of the parts of one; None where it holds something else."""
    several = value if isinstance(value, (list, tuple)) else value.values() if isinstance(value, dict) else [value]
    found = []
    for each in several:
        if not isinstance(each, (np.ndarray, np.generic, bool, int, float)):
            return None
        array = np.asarray(each)
        if array.dtype.kind not in "biuf":
            return None
        found.append(array.astype(float))
    return found
