"""The known mistakes of a stage, held against single calls: which of them answer as the learner's module did."""

from __future__ import annotations

import ast
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from grader.course.answers import Mistake, module_from
from grader.course.stage import Stage
from grader.diagnosis.checks import NOISE, Check, Checks
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.replay import Replay
from grader.diagnosis.runner import RunnerGone
from grader.diagnosis.search import Search
from grader.diagnosis.trees import walk

T = TypeVar("T")
REFUTED = 3  # failing calls of its function that a mistake may not explain before any that it does
MOST_ASKED = 24  # failing calls of one function
MOST_KEPT = 10  # calls that were answered rightly
MOST_DECIDING = 60  # of these, between mistakes that explain as much
MOST_PLACED = 3  # calls in which the line of a mistake is looked for
SAYS_NOTHING = frozenset(("none", "bool", "object", "function", "other"))  # kinds of values that many lines give
LONG = 40  # requests and loops of a call, past which only the mistakes of its own criterion are asked


@dataclass(frozen=True, eq=False)
class Match:
    """A known mistake, or two at once, and the failing calls that it answers as the learner's module did."""

    mistakes: tuple[Mistake, ...]
    checks: frozenset[Check]


@dataclass
class KnownMistakes:
    """The modules of a stage's known mistakes, each made when it is first asked."""

    stage: Stage
    reference_text: str
    mistakes: Sequence[Mistake]
    learner: bytes
    _modules: dict[tuple[str, ...], types.ModuleType] = field(default_factory=dict)
    _answers: dict[tuple[tuple[str, ...], Check], bool] = field(default_factory=dict)
    undecided: dict[Check, tuple[str, ...]] = field(default_factory=dict)  # the ids of those that explain a call alike
    asked: int = 0

    def __post_init__(self) -> None:
        self._code = compile(self.reference_text, "<reference>", "exec")
        self._text = ModuleText(self.reference_text)
        self._reached: dict[str, frozenset[str]] = {}
        self._ran: dict[Check, set[str]] = {}
        self.mistakes = [each for each in self.mistakes if not each.premise or self._is_true_of_text(each)]

    def _is_true_of_text(self, mistake: Mistake) -> bool:
        """Say whether the premise of a mistake holds in the learner's function and the helpers that it uses."""
        try:
            module = ModuleText(self.learner.decode("utf-8-sig", "replace"))
            names = module.reached(mistake.replaces)
        except (SyntaxError, ValueError, RecursionError):
            return True
        asked = {name for row in self.stage.criteria for name in row.functions}
        helpers = [name for name in names if name not in asked and not name.endswith(".__init__")]
        own = [name for name in names if name == mistake.replaces or name.startswith(f"{mistake.replaces}.")]
        put = _put_in_place(module)
        texts = [put.get(name, module.functions[name]) for name in (*own, *helpers)]
        return mistake.premise.contradiction(texts) is None

    def match(self, failing: Sequence[Check], checks: Checks, others: frozenset[str] = frozenset()) -> Match | None:
        """Return the mistake that explains most failing calls of one function; None where several say different things.

        Between equals all calls are asked, and then the first criterion of the checklist that fails decides.
        """
        found = self._leading(self.matches(failing, checks, others))
        if len(found) > 1:
            found = [replace(each, checks=each.checks | frozenset(self.also(each, failing))) for each in found]
            found = self._leading([each for each in found if not self._is_contradicted(each, checks, MOST_DECIDING)])
        rows, label = {each.criterion for each in failing}, failing[0].label
        found = [each for each in found if each.mistakes[0].criterion in rows] or found
        found = [each for each in found if each.mistakes[0].replaces == label] or found
        first = next((each.id for each in self.stage.criteria if each.id in rows), "")
        found = [each for each in found if each.mistakes[0].criterion == first] or found
        if len({each.mistakes[0].text for each in found}) > 1:
            self._note_undecided(found)
            return None
        return found[0] if found else None

    def _note_undecided(self, matches: Sequence[Match]) -> None:
        for check in frozenset().union(*(each.checks for each in matches)):
            ids = sorted(each.mistakes[0].id for each in matches if check in each.checks)
            if len(ids) > 1:
                self.undecided[check] = tuple(ids)

    @staticmethod
    def _leading(matches: Sequence[Match]) -> list[Match]:
        """Return those that explain the most."""
        most = max((len(each.checks) for each in matches), default=0)
        return [each for each in matches if len(each.checks) == most]

    def matches(self, failing: Sequence[Check], checks: Checks, others: frozenset[str] = frozenset()) -> list[Match]:
        """Return the mistakes that explain failing calls of one function, those that explain most of them first.

        others are functions of which calls fail as well: their mistakes are asked there. One that would answer a right
        call otherwise is none of them.
        """
        found: dict[str, set[Check]] = {}
        refuted: dict[str, int] = {}
        ordered = sorted(failing, key=lambda each: each.size)[:MOST_ASKED]
        for check in ordered:
            for mistake in self._possible(check):
                if mistake.replaces in others and not any(mistake.replaces == each.label for each in check.records):
                    continue
                if mistake.id not in found and refuted.get(mistake.id, 0) >= REFUTED:
                    continue
                if self._explains((mistake,), check):
                    found.setdefault(mistake.id, set()).add(check)
                else:
                    refuted[mistake.id] = refuted.get(mistake.id, 0) + 1
        by_id = {each.id: each for each in self.mistakes}
        matches = [Match((by_id[name],), frozenset(explained)) for name, explained in found.items()]
        matches = [each for each in matches if not self._is_contradicted(each, checks)]
        return sorted(matches, key=lambda each: -len(each.checks))

    def also(self, match: Match, checks: Iterable[Check]) -> list[Check]:
        """Return which other failing calls a match explains."""
        return [
            each
            for each in checks
            if each not in match.checks and self._may(match.mistakes, each) and self._explains(match.mistakes, each)
        ]

    def pair(self, match: Match, failing: Sequence[Check]) -> Match | None:
        """Return a match with one mistake more that explains failing calls which it does not explain alone."""
        left = sorted((each for each in failing if each not in match.checks), key=lambda each: each.size)
        for check in left[:1]:
            for other in self._possible(check):
                if other.id in {each.id for each in match.mistakes}:
                    continue
                both = (*match.mistakes, other)
                explained = {each for each in left[:8] if self._explains(both, each)}
                if check in explained:
                    return Match((other,), frozenset(explained))
        return None

    def _possible(self, check: Check) -> list[Mistake]:
        reached = self._reached_by(check)
        ran = self._ran_in(check)
        found = [
            each
            for each in self.mistakes
            if each.replaces.partition(".")[0] in reached
            and (each.replaces in ran or not self._is_plain(each.replaces))
        ]
        if len(check.records) > LONG:
            found = [each for each in found if each.criterion == check.criterion]
        return sorted(found, key=lambda each: (each.criterion != check.criterion, each.replaces != check.label))

    def _may(self, mistakes: Sequence[Mistake], check: Check) -> bool:
        reached = self._reached_by(check)
        return any(each.replaces.partition(".")[0] in reached for each in mistakes)

    def _reached_by(self, check: Check) -> frozenset[str]:
        """Return the functions and classes that the requests of a call may run."""
        return frozenset().union(*(self._reach(label) for label in {each.label for each in check.records}))

    def _reach(self, label: str) -> frozenset[str]:
        if label not in self._reached:
            names = {name.partition(".")[0] for name in self._text.reached(label)}
            self._reached[label] = frozenset(names | {label.partition(".")[0]})
        return self._reached[label]

    def _is_plain(self, function: str) -> bool:
        node = self._text.functions.get(function)
        return node is not None and "yield" not in self._text.shown(node, 1 << 20)

    def _ran_in(self, check: Check) -> set[str]:
        """Return the functions of the reference that ran in a call: another one cannot be wrong there."""
        if check not in self._ran:
            replay = self._replay(self._module(()), check, False)
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                _, ran = traced(lambda: [replay.perform(each) for each in check.records], "<reference>")
            self._ran[check] = ran
        return self._ran[check]

    def _explains(self, mistakes: tuple[Mistake, ...], check: Check) -> bool:
        """Say whether a module with mistakes answers as the learner's did: to the dtype, else nearly."""
        key = tuple(each.id for each in mistakes), check
        if key not in self._answers:
            self.asked += 1
            module = self._module(mistakes)
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                is_exact = check.is_exact or check.kind == "dtype"
                self._answers[key] = self._replay(module, check, is_exact).agrees((*check.records, *check.later))
        return self._answers[key]

    def place_of(self, match: Match, checks: Checks, search: Search | None) -> tuple[str, int]:
        """Return the function and the line in which a known mistake stands, by the smallest calls that show one."""
        order = sorted(match.checks, key=lambda each: (each.says_little, each.size, each.outcome.test))
        found = match.mistakes[-1].replaces, 0
        for check in order[:MOST_PLACED]:
            found = self._place_in(check, match.mistakes[-1], checks, search)
            if found[1]:
                break
        return found

    def _place_in(self, check: Check, mistake: Mistake, checks: Checks, search: Search | None) -> tuple[str, int]:
        """Return the function and the line of a known mistake in a call: of the first value that is wrong as its is.

        The line is 0 where no value is, nor one line alone goes wrong first.
        """
        nowhere = mistake.replaces, 0
        try:
            trace = search.trace(check) if search is not None else None
        except RunnerGone:
            return nowhere
        if search is None or trace is None:
            return nowhere
        places, within = search.places(check, trace, checks.trusted()), trace.probes.within
        own = self._functions_of(mistake, search) or search.reached(check.label)
        if not places.known:
            return nowhere
        alike = search.values_with(f"{self.reference_text}\n\n{mistake.source}", check)
        wrong = [each for each in trace.entries if id(each[0]) in places.wrong and within[id(each[0])] in own]
        said = [(node, each) for node, each in wrong if each.kind not in SAYS_NOTHING]
        said = [(node, each) for node, each in said if each.known is not None and each.known in alike]
        said = [(node, each) for node, each in said if within[id(node)] == mistake.replaces] or said  # else in a helper
        found: list[ast.AST] = [node for node, each in said if each.shape or each.is_real] or [node for node, _ in said]
        if found:
            return within[id(found[0])], int(getattr(found[0], "lineno", 0))
        begun = [each for each in places.origins if not any(id(part) in places.wrong for part in walk(each)[1:])]
        lines = {(within[id(each)], each.lineno) for each in begun if within[id(each)] in own}
        if not lines:  # no value is wrong but what is answered
            ran = [each for each in places.statements if places.function[id(each)] in own and trace.did_run(each)]
            least = min((places.far[id(each)] for each in ran), default=0)
            lines = {(places.function[id(each)], each.lineno) for each in ran if places.far[id(each)] == least}
        return lines.pop() if len(lines) == 1 else nowhere

    def _functions_of(self, mistake: Mistake, search: Search) -> set[str]:
        """Return the learner's function that a known mistake stands in, and the helpers that no criterion asks for."""
        asked = {name for row in self.stage.criteria for name in row.functions}
        reached = search.module.reached(mistake.replaces)
        helpers = {name for name in reached if name.partition(".")[0] not in {each.partition(".")[0] for each in asked}}
        return helpers | {
            name for name in reached if name == mistake.replaces or name.startswith(f"{mistake.replaces}.")
        }

    def _is_contradicted(self, match: Match, checks: Checks, most: int = MOST_KEPT) -> bool:
        name = match.mistakes[0].replaces.partition(".")[0]
        kept = checks.passing(lambda label: name in self._reach(label), most, match.mistakes[0].replaces)
        kept = [each for each in kept if each not in checks.mended]  # what the learner answered there was wrong
        is_of_refusals = all(each.is_refusal for each in match.checks)
        return any(not self._explains(match.mistakes, each) for each in kept if is_of_refusals or not each.is_refusal)

    def _replay(self, module: types.ModuleType, check: Check, is_exact: bool) -> Replay:
        replay = Replay(module, self.stage, check.names, is_exact, self.learner)
        replay.floor = NOISE
        return replay

    def _module(self, mistakes: Sequence[Mistake]) -> types.ModuleType:
        key = tuple(each.id for each in mistakes)
        if key not in self._modules:
            module = module_from(self._code, "reference" if not key else "wrong")
            for each in mistakes:
                exec(compile(each.source, f"<{each.id}>", "exec"), module.__dict__)
            self._modules[key] = module
        return self._modules[key]


def _put_in_place(module: ModuleText) -> dict[str, ast.stmt]:
    """Return the functions that a module assigns to other names, as `Layer.forward = scaled`, by these names."""
    pairs = [(each.targets[0], each.value) for each in module.tree.body if isinstance(each, ast.Assign)]
    named = {ast.unparse(target): getattr(value, "id", "") for target, value in pairs}
    return {name: module.functions[other] for name, other in named.items() if other in module.functions}


def traced(what: Callable[[], T], file: str) -> tuple[T, set[str]]:
    """Return what came of it, and the full names of the functions of a file, as Class.method, that were entered."""
    ran: set[str] = set()
    before = sys.getprofile()

    def entered(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == file:
            ran.add(frame.f_code.co_qualname)

    sys.setprofile(entered)
    try:
        return what(), ran
    finally:
        sys.setprofile(before)
