"""The questions of a suite with one seed, learnt by running it once against the reference, without a worker.

A test's questions follow from its seed and the answers that it is given. What the reference is asked, and what it
answers, tells what any module will be asked that answers alike. Tests that measure time or memory are not planned, nor
those marked `live`, nor those whose functions the learner's code calls: they are asked as they run.
"""

from __future__ import annotations

import socket
import threading
import time
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from grader.course.answers import reference_source
from grader.course.stage import Stage, public_names
from grader.diagnosis.checks import calls_of
from grader.isolation.tiers import LocalWorkerFactory
from grader.isolation.workers import Workers
from grader.judging import bounds, plugin
from grader.judging.judge_process import Bounds, bounded
from grader.judging.pytest_suite import Suite, kind_of, name_of
from grader.judging.running import Attempt, is_plain, run_phases
from grader.judging.task import Messages, SharedStatus, records, unpacked
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed
from grader.sandbox.connection import NEXT_TEST, Connection, RemoteModule, change_of, looked_up
from grader.sandbox.process import names_of
from grader.sandbox.proxies import RemoteClass, RemoteValue
from grader.sandbox.record import Name, Record
from grader.sandbox.recorded import Answers, Plan, PlannedTest, RecordedChannel, Recording, Step, Strayed
from grader.sandbox.values import blank_of
from grader.worker.loading import load
from grader.worker.server import Server

MEASURED = ("speed", "memory")  # kinds of tests that are never planned
MOST_BYTES = 64 << 20  # of the questions of one plan
ROUND = 8  # a number is round if so many of it are whole: any test may hold a few of these
FEW_ROUND = 4  # different round numbers that are no coincidence
LONG_TEXT = 6  # characters
RECORDS = records([Name, PlannedTest, Step])
LARGE = 1e300  # in the place of what is infinite


def make_plan(suite: Suite, seed: int, own: LocalWorkerFactory) -> Plan:
    """Return what a suite's tests ask with a seed; a test that cannot be planned is not in it.

    The reference runs in a fork of this process, within the bounds of a judge.
    """
    limits = suite.stage.limits
    most = Bounds(limits.judge_mb + limits.memory_mb, limits.stage_seconds)
    plan: Plan = {}
    left = MOST_BYTES
    for _, test, plain in bounded(partial(_tell, suite, seed), own, most).told:
        planned: PlannedTest = unpacked(plain, RECORDS)
        left -= sum(len(step.sent) for step in planned.steps)
        if left > 0:
            plan[test] = planned
    return plan


def is_plannable(suite: Suite, item: pytest.Item) -> bool:
    """Say whether a test's questions may be asked before it runs."""
    is_live = item.get_closest_marker("live") is not None or kind_of(item) in MEASURED
    return is_plain(item) and not is_live and not suite.measures(item)


def _tell(suite: Suite, seed: int, messages: Messages, workers: Workers, shared: SharedStatus) -> None:
    """Run the tests against the reference, and tell the steps of each that passes."""
    del workers, shared  # the reference is the course's own: it runs here
    with suite.in_place(), _served(suite.stage) as (channel, names):
        provider = _Provider(suite, seed, channel, names)
        suite.config.stash[plugin.PROVIDER] = provider
        items = [item for item in suite.items if is_plannable(suite, item)]
        for item, following in zip(items, [*items[1:], None], strict=False):
            bounds.bound_time(bounds.TEST_SECONDS)
            if (planned := provider.planned(item, following)) is not None:
                messages.send("planned", name_of(item), planned)


@contextmanager
def _served(stage: Stage) -> Iterator[tuple[Channel, dict[str, Name]]]:
    """Serve the reference in a thread, as a worker serves a learner's module."""
    label = f"stages/{stage.name}/{stage.module}"
    lent = {used.import_name: f"stages/{used.name}/{used.module}" for used in stage.builds_on}
    server = Server(types.ModuleType("learner_module"), label, lent)
    server.module = load(reference_source(stage).encode(), label)
    server.objects[0], server.numbers = server.module, {id(server.module): 0}
    names = names_of(server.names())
    server.loaded()
    ours, theirs = socket.socketpair()

    def run() -> None:
        with suppress(ChannelClosed):
            server.run(Channel(theirs))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield Channel(ours), names
    finally:
        ours.close()
        thread.join(1.0)
        theirs.close()


class _Provider:
    """Gives tests the reference over a channel that keeps what goes through it."""

    def __init__(self, suite: Suite, seed: int, channel: Channel, names: dict[str, Name]) -> None:
        self.seed = seed
        self._suite = suite
        self._channel = channel
        self._names = names
        self._made: tuple[Recording, Connection, RemoteModule] | None = None
        self._blind: RecordedChannel | None = None  # for a test that runs without knowing an answer
        self._held = _Held()

    def learner(self, item: pytest.Item) -> Any:
        stage, limits = self._suite.stage, self._suite.stage.limits
        kind = Connection if self._blind is None else BlindConnection
        recording = Recording(self._channel)
        connection = kind(
            self._blind or recording,  # type: ignore[arg-type]  # each stands for a channel
            self._names,
            limits.stage_seconds,
            time.monotonic() + limits.stage_seconds,
            bounds=codec.Bounds(limits.result_mb << 20, limits.result_rows),
            contract=stage.whole_contract,
        )
        module = RemoteModule(connection, stage.module, public_names(stage))
        self._made = recording, connection, module
        return module

    def planned(self, item: pytest.Item, following: pytest.Item | None) -> PlannedTest | None:
        """Run a test, and return what it asks; None where it cannot be planned."""
        self._made = None
        attempt = Attempt(item)
        assert is_plain(item)
        run_phases(item, following, attempt)
        if self._made is None:
            return None
        recording, connection, module = self._made
        connection.end()
        self._channel.send([NEXT_TEST])
        attempt.connection = connection
        steps = recording.steps if recording.is_plannable else ()  # of what cannot be planned, answers count as well
        free = self._held.free(steps, connection.records)
        if not attempt.passed() or not recording.is_plannable:
            return None
        free = min(free, self._free(item, following, recording.answers()))
        slowest = max(record.seconds for record in connection.records)
        calls, size = calls_of(connection.records, connection.names)
        named = () if connection.earlier is None else tuple(sorted(connection.earlier.named))
        return PlannedTest(tuple(recording.steps), looked_up(module), free, named, slowest, tuple(sorted(calls)), size)

    def _free(self, item: pytest.Function, following: pytest.Item | None, answers: Answers) -> int:
        """Return how many questions a test asks before it needs an answer: it runs once more, without knowing any."""
        if len(answers.steps) == 1:
            return 1
        blind = self._blind = RecordedChannel(answers)
        try:
            run_phases(item, following, Attempt(item))
        finally:
            self._blind = None
        return max(1, blind.asked)


class _Held:
    """What the questions and answers of the tests so far have held.

    A test may know an answer without asking, from an oracle, a fixture or an example: of such a question nothing shows
    that it holds one but its content.
    """

    def __init__(self) -> None:
        self._asked: set[bytes] = set()
        self._answered: set[bytes] = set()

    def free(self, steps: Sequence[Step], records: Sequence[Record]) -> int:
        """Return how many of a test's first questions hold nothing that was answered, and stood in none before.

        What a question only names of an earlier answer it does not hold.
        """
        free = len(records)
        for at, record in enumerate(records):
            own = set(_contents(steps[at].given() if steps else (record.args, record.kwargs)))
            if any(each in self._answered and each not in self._asked for each in own):
                free = min(free, at)
            self._asked |= own
            self._answered.update(_contents(record.result))
        return free


def _contents(value: Any) -> Iterator[bytes]:
    """Yield what tells the arrays, numbers and texts of a value from others."""
    if isinstance(value, str):
        if len(value) >= LONG_TEXT:
            yield value.encode("utf-8", "surrogatepass")
        return
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        numbers = [each for each in value if type(each) in (int, float)]
        if len(numbers) < len(value):
            for each in value:
                yield from _contents(each)
            return
        value = np.array([each for each in numbers if abs(each) < LARGE], dtype=np.float64)
    if isinstance(value, (float, np.floating, np.ndarray)):
        yield from _content_of(np.asarray(value))


def _content_of(array: np.ndarray[Any, Any]) -> Iterator[bytes]:
    """Yield the shape and values of an array, to nine digits of the largest, unless they are a few round ones."""
    if array.dtype.kind not in "iufc" or not array.size:
        return
    real = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    values = np.nan_to_num(real, posinf=LARGE, neginf=-LARGE)
    is_round = bool((values * ROUND % 1 == 0).all())
    if not is_round or np.unique(values).size >= FEW_ROUND:
        scale = 2.0 ** np.ceil(np.log2(np.abs(values).max()))
        yield repr((values.shape, scale)).encode() + (np.round(values / scale, 9) + 0.0).tobytes()


class BlindConnection(Connection):
    """Gives a test a blank for each answer: what it asks all the same holds nothing of them.

    Objects that stay in the learner's process, by their numbers, exceptions, and the form of tuples and of dicts are
    known, and which way a test goes that compares answers. What a call changes in place the test would hold, and how
    many items a generator has is an answer as well: there the test ends. A random generator stays as it was: what is
    drawn from it afterwards makes another question than before.
    """

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        if (kind, name) == ("op", "next"):
            raise Strayed
        return super().request(kind, target, name, args, kwargs, label)

    def _taken(self, kind: str, result: Any, record: Record, body: int, blob: int) -> Any:
        if kind != "ok":
            return super()._taken(kind, result, record, body, blob)
        return result if type(result) in (RemoteValue, RemoteClass) else blank_of(result)

    def _replay(self, form: Any, decoder: codec.Decoder, sent: list[Any], record: Record) -> None:
        if not all(isinstance(change_of(each, sent)[0], np.random.Generator) for each in decoder.decode(form)):
            raise Strayed
