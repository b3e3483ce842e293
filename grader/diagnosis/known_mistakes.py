"""The known mistakes of a stage, held against single calls: which of them answer as the learner's module did."""

from __future__ import annotations

import ast
import math
import re
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

import numpy as np

from grader.course.answers import Mistake, definitions, module_from
from grader.course.stage import Stage
from grader.diagnosis.answers import compiled
from grader.diagnosis.checks import NOISE, Check, Checks
from grader.diagnosis.instrument import Trace
from grader.diagnosis.locate import MADE, Places, sets
from grader.diagnosis.module_text import (
    ModuleText,
    called,
    heads,
    loaded,
    own_nodes,
    parsed,
    root_name,
    statements,
)
from grader.diagnosis.replay import Replay, raised_by_hand, same_array
from grader.diagnosis.runner import RunnerGone
from grader.diagnosis.search import Search
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Print, Prints
from grader.submission.parsing import shown_text

T = TypeVar("T")
REFUTED = 3  # failing calls of its function that a mistake may not explain before any that it does
MOST_ASKED = 24  # failing calls of one function
MOST_KEPT = 10  # calls that were answered rightly
LOOKED_AT = 3  # times as many, of which those count in which what a mistake changes runs
MOST_DECIDING = 60  # of these, between mistakes that explain as much
MOST_PLACED = 3  # calls in which the line of a mistake is looked for
SAYS_NOTHING = frozenset(("none", "bool", "object", "function", "other"))  # kinds of values that many lines give
LAYING_OUT = frozenset(
    ("reshape", "transpose", "swapaxes", "moveaxis", "ravel", "expand_dims", "squeeze", "broadcast_to")
)
SIZES = ("len", "shape", "size", "ndim", "int", "prod")  # what asks how large something is, and makes one number of it
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
    instead: Mapping[str, Any] = field(default_factory=dict)  # what takes the place of the reference's
    _modules: dict[tuple[object, ...], types.ModuleType] = field(default_factory=dict)
    _answers: dict[tuple[tuple[str, ...], Check], bool] = field(default_factory=dict)
    undecided: dict[Check, tuple[str, ...]] = field(default_factory=dict)  # the ids of those that explain a call alike
    told: list[Mistake] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self._code = compiled(self.reference_text, "reference")
        self._files = {"<reference>", *(f"<{getattr(each, '__module__', '')}>" for each in self.instead.values())}
        self._text = parsed(self.reference_text)
        self._reached: dict[str, frozenset[str]] = {}
        self._changed: dict[str, frozenset[str]] = {}
        self._ran: dict[Check, set[str]] = {}
        self._floors: dict[Check, float] = {}
        self.mistakes = [each for each in self.mistakes if not each.premise or self._is_true_of_text(each)]

    def _is_true_of_text(self, mistake: Mistake) -> bool:
        """Say whether the premise of a mistake holds in the learner's function and the helpers that it uses."""
        try:
            module = parsed(shown_text(self.learner))
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

        Between equals all calls are asked, then the last wrong calls of their tests; then the first criterion of the
        checklist that fails decides.
        """
        found = self._leading(self.matches(failing, checks, others))
        if len(found) > 1:
            found = [replace(each, checks=each.checks | frozenset(self.also(each, failing))) for each in found]
            found = self._leading([each for each in found if not self._is_contradicted(each, checks, MOST_DECIDING)])
            found = self._explaining_later(found)
        rows, label = {each.criterion for each in failing}, failing[0].label
        found = [each for each in found if each.mistakes[0].criterion in rows] or found
        found = [each for each in found if each.mistakes[0].replaces == label] or found
        first = next((each.id for each in self.stage.criteria if each.id in rows), "")
        found = [each for each in found if each.mistakes[0].criterion == first] or found
        if len({each.mistakes[0].text for each in found}) > 1:
            self._note_undecided(found)
            return None
        return self._where_asked(found[0]) if found else None

    def _where_asked(self, match: Match) -> Match:
        """Return a match; of a helper's mistake, none of whose calls runs its own function, with what was asked."""
        mistake, rows = match.mistakes[0], {each.criterion for each in match.checks}
        owner = mistake.replaces.partition(".")[0]
        is_own = mistake.replaces in self._redefined(mistake)
        if is_own or any(owner in self._reached_by(each) for each in match.checks):
            return match
        label = min(match.checks, key=lambda each: each.order).label
        row = next(each.id for each in self.stage.criteria if each.id in rows)
        return replace(match, mistakes=(replace(mistake, replaces=label, criterion=row),))

    def _explaining_later(self, matches: Sequence[Match]) -> list[Match]:
        """Return those that explain most of the last wrong calls of the tests whose first ones they explain."""
        later = {check: check.then for each in matches for check in each.checks if check.then is not None}
        count = {
            each: sum(self._explains(each.mistakes, later[check]) for check in each.checks if check in later)
            for each in matches
        }
        return [each for each in matches if count[each] == max(count.values())]

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
                if self._is_asked_elsewhere(mistake, check, others):
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

    def _is_asked_elsewhere(self, mistake: Mistake, check: Check, others: frozenset[str]) -> bool:
        """Say whether a mistake is asked of another function of which calls fail.

        That is its own or, of a helper's mistake, one that may run the helper and that ran in the call.
        """
        redefined, elsewhere = self._redefined(mistake), others - {each.label for each in check.records}
        if mistake.replaces in redefined:
            return mistake.replaces in elsewhere
        return any(redefined & {*self._text.reached(other)} for other in elsewhere & self._ran_in(check))

    def also(self, match: Match, checks: Iterable[Check]) -> list[Check]:
        """Return which other failing calls a match explains."""
        return [
            each
            for each in checks
            if each not in match.checks and self._may(match.mistakes, each) and self._explains(match.mistakes, each)
        ]

    def beside_told(self, match: Match, checks: Iterable[Check]) -> Match:
        """Return a match with those of some other calls that it explains together with mistakes that were told."""
        told = [each for each in self.told if each.replaces != match.mistakes[0].replaces]
        several = [(*told, *match.mistakes), *((each, *match.mistakes) for each in told)] if told else []
        more = {
            each for each in checks
            if each not in match.checks and any(self._explains(mistakes, each) for mistakes in several)
        }  # fmt: skip
        return replace(match, checks=match.checks | more) if more else match

    def pair(self, match: Match, failing: Sequence[Check]) -> Match | None:
        """Return a match with one mistake more that explains failing calls which it does not explain alone."""
        left = sorted((each for each in failing if each not in match.checks), key=lambda each: each.size)
        for check in left[:1]:
            for other in self._possible(check):
                if any(each.id == other.id or self._is_instead(each, other) for each in match.mistakes):
                    continue
                both = (*match.mistakes, other)
                explained = {each for each in left[:8] if self._explains(both, each)}
                if check in explained:
                    return Match((other,), frozenset(explained))
        return None

    def _is_instead(self, one: Mistake, other: Mistake) -> bool:
        """Say whether two mistakes change the same lines of a function: nobody makes both."""
        return one.replaces == other.replaces and bool(self._lines_changed(one) & self._lines_changed(other))

    def _lines_changed(self, mistake: Mistake) -> set[int]:
        """Return which lines of the reference's function a mistake changes, or puts others behind."""
        right = self._definitions.get(mistake.replaces, "").split("\n")
        codes = SequenceMatcher(None, right, mistake.source.split("\n"), autojunk=False).get_opcodes()
        changed = [(a, b) for code, a, b, _, _ in codes if code != "equal" and a < len(right)]
        return {line for a, b in changed for line in range(max(a, 1), max(b, a + 1))}

    @cached_property
    def _definitions(self) -> Mapping[str, str]:
        return definitions(self.reference_text)

    def _possible(self, check: Check) -> list[Mistake]:
        found = [
            each
            for each in self.mistakes
            if each.replaces.partition(".")[0] in self.instead  # of two forms it may be the one to change
            or self._runs_in(each, check)
        ]
        found = [
            each for each in found if not any(told.id != each.id and self._is_instead(told, each) for told in self.told)
        ]
        if len(check.records) > LONG:
            found = [each for each in found if each.criterion == check.criterion]
        return sorted(found, key=lambda each: (each.criterion != check.criterion, each.replaces != check.label))

    def _may(self, mistakes: Sequence[Mistake], check: Check) -> bool:
        reached = self._reached_by(check)
        return any(each.replaces.partition(".")[0] in reached for each in mistakes)

    def _runs_in(self, mistake: Mistake, check: Check) -> bool:
        """Say whether something that a mistake redefines runs in a call, or may: a class, or what yields."""
        reached, ran = self._reached_by(check), self._ran_in(check)
        return any(
            name.partition(".")[0] in reached and (name in ran or not self._is_plain(name))
            for name in self._redefined(mistake)
        )

    def _redefined(self, mistake: Mistake) -> frozenset[str]:
        """Return the functions that a mistake puts in place of the reference's: its own, or a helper of several.

        For the class around its own function that function stands.
        """
        if mistake.id not in self._changed:
            names = set[str]()
            for each in ast.parse(mistake.source).body:
                names |= {each.name} if isinstance(each, (ast.FunctionDef, ast.ClassDef)) else set()
                names |= {ast.unparse(one) for one in each.targets} if isinstance(each, ast.Assign) else set()
            own = {name for name in names if mistake.replaces == name or mistake.replaces.startswith(f"{name}.")}
            helpers = (names - own) & self._definitions.keys()
            self._changed[mistake.id] = frozenset(helpers | ({mistake.replaces} if own or not helpers else set()))
        return self._changed[mistake.id]

    def _reached_by(self, check: Check) -> frozenset[str]:
        """Return the functions and classes that the requests of a call may run."""
        return frozenset().union(*(self._reach(label) for label in {each.label for each in check.records}))

    def _reach(self, label: str) -> frozenset[str]:
        if label not in self._reached:
            names = {name.partition(".")[0] for name in self._text.reached(label)}
            self._reached[label] = frozenset(names | {label.partition(".")[0]})
        return self._reached[label]

    def _is_plain(self, function: str) -> bool:
        """Say whether a function runs when it is called: one that yields does not."""
        node = self._text.functions.get(function)
        return node is not None and not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in walk(node))

    def _ran_in(self, check: Check) -> set[str]:
        """Return the functions of the reference that ran in a call: another one cannot be wrong there."""
        if check not in self._ran:
            replay = self._replay(self._module(()), check, False)
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                done, self._ran[check] = traced(lambda: [replay.perform(each) for each in check.records], self._files)
            self._floors[check] = 0.0 if all(each is not None and each[-1] for each in done) else NOISE
        return self._ran[check]

    def _floor_of(self, check: Check) -> float:
        """Return up to where differences from a wrong answer are none: nowhere, if it is that near to the right one."""
        self._ran_in(check)
        return self._floors[check]

    def is_explained(self, check: Check) -> bool:
        """Say whether the mistakes that explain the earlier wrong calls of a test explain a later one too."""
        return self._explains((), check)

    def accepts(self, mistake: Mistake, check: Check) -> bool:
        """Say whether the module with a mistake does not refuse a call that has to be refused."""
        replay = self._replay(self._module((mistake,)), check, False)
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            done = [replay.perform(each) for each in check.records]
        return done[-1] is not None and (done[-1][1] is None or not raised_by_hand(done[-1][1]))

    def told_beside(self, check: Check) -> Mistake | None:
        """Return the mistake that was told of other calls and explains a later call of a test with its earlier ones."""
        return next((each for each in self.told if self._explains((each,), check)), None)

    def _explains(self, mistakes: tuple[Mistake, ...], check: Check, floor: float | None = None) -> bool:
        """Say whether a module with mistakes answers as the learner's did: to the dtype, else nearly."""
        mistakes = (*(each for each in check.beside if each not in mistakes), *mistakes)
        key = tuple(each.id for each in mistakes), check
        if key not in self._answers:
            self.asked += 1
            is_exact, records = check.is_exact or check.kind == "dtype", (*check.records, *check.later)
            modules = [self._module(mistakes, other) for other in ((True, False) if self.instead else (False,))]
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                floor = self._floor_of(check) if floor is None else floor
                replays = [self._replay(each, check, is_exact, floor) for each in modules]
                given = [value for each in records for value in (*each.args, *each.kwargs.values())]
                if any(isinstance(value, np.random.Generator) for value in given):
                    replays += [self._mirrored(each, check, is_exact, floor) for each in modules]
                self._answers[key] = any(each.agrees(records) for each in replays)
        return self._answers[key]

    def place_of(self, match: Match, checks: Checks, search: Search) -> tuple[str, int]:
        """Return the function and the line in which a known mistake stands, as the smallest calls prove it.

        It is the first that makes a value as the mistake does, or of right parts, else the one that makes the answer of
        right parts. One in the mistake's own function comes before one in a helper, which may have been given what is
        wrong. A line that did not run in each is none. The line is 0 where nothing proves one.
        """
        mistake = match.mistakes[-1]
        order = sorted(match.checks, key=lambda each: (each.says_little, *each.order))
        made: list[tuple[str, int]] = []  # of the first call that shows any
        answering: list[tuple[str, int]] = []
        sound, every = self._sound(mistake, checks, search), list[_WrongCall]()
        for check in order[:MOST_PLACED]:
            try:
                trace = search.trace(check)
            except RunnerGone:
                break
            located = search.places(check, trace, checks.trusted()) if trace is not None else None
            if trace is None or located is None or not located.known:
                continue
            seen = _WrongCall(
                check, mistake, search, trace, located, self._functions_of(mistake, search),
                *self._forms_of(mistake, search),
            )  # fmt: skip
            every.append(seen)
            if not any(each[0] == mistake.replaces for each in made):
                made += seen.first_like(self._made_by(mistake, check, search))
                answering += seen.answering(sound)
        made, answering = (
            [each for each in some if all(one.has_run(*each) for one in every)] for some in (made, answering)
        )
        places = made or answering
        own = [each for each in places if each[0] == mistake.replaces]
        own = own or [each for each in places if each[0] == places[0][0]]
        return min(own, key=lambda each: each[1]) if own else (mistake.replaces, 0)

    def _made_by(self, mistake: Mistake, check: Check, search: Search) -> list[Print]:
        """Return the values of the expressions that a mistake has and no right module has, in a call."""
        text = "\n\n".join((self.reference_text, *(each.source for each in check.beside)))
        before, written = text.count("\n") + 3, frozenset(map(ast.dump, self._written(mistake, search)))
        names = [each.name for each in ast.parse(mistake.source).body if isinstance(each, ast.FunctionDef)]
        trace = search.trace_with(f"{text}\n\n{mistake.source}", check, names)
        found = trace.entries if trace is not None else []
        return [
            each.known for node, each in found
            if each.known is not None and getattr(node, "lineno", 0) >= before and ast.dump(node) in written
        ]  # fmt: skip

    @staticmethod
    def _written(mistake: Mistake, search: Search) -> list[ast.expr]:
        """Return the expressions that a mistake has and no right module has."""
        right = frozenset[str]().union(*(_expressions(each.text) for each in (*search.rights, *search.others)))
        found = (each for each in walk(ast.parse(mistake.source)) if isinstance(each, MADE))
        return [each for each in found if ast.dump(each) not in right]

    def _forms_of(self, mistake: Mistake, search: Search) -> tuple[frozenset[str], str]:
        """Return the forms of what a mistake has and no right module has, and of the one expression that differs."""
        own, written = _set_in(ast.parse(mistake.source)), self._written(mistake, search)
        inner = [each for each in written if not any(part in written for part in walk(each)[1:])]
        return frozenset(_form(each, own) for each in written), _form(inner[0], own) if len(inner) == 1 else ""

    @staticmethod
    def _sound(mistake: Mistake, checks: Checks, search: Search) -> set[str]:
        """Return the functions that one without a wrong answer uses as well, but for the mistake's own."""
        used = {helper for each in checks.unharmed() & set(search.module.functions) for helper in search.reached(each)}
        return {each for each in used if each != mistake.replaces and not each.startswith(f"{mistake.replaces}.")}

    def may_stand(self, match: Match, function: str, checks: Checks, search: Search) -> bool:
        """Say whether a mistake may stand in a function: its own, or a helper that no right function uses.

        An edit elsewhere makes up for what is wrong. In a module that has none of these it may stand anywhere.
        """
        own = self._functions_of(match.mistakes[-1], search)
        return not own or function in own - self._sound(match.mistakes[-1], checks, search)

    @staticmethod
    def is_right_line(match: Match, function: str, line: int, checks: Checks, search: Search) -> bool:
        """Say whether all that a line makes in the smallest call of a mistake is right, and stands where it belongs."""
        check = min(match.checks, key=lambda each: (each.says_little, *each.order))
        trace, right = search.trace(check), search.right_values(check) or Prints()
        if trace is None or any(each.lineno == line for each in search.places(check, trace, checks.trusted()).storing):
            return False
        places = ((trace.probes.within[id(node)], getattr(node, "lineno", 0), each) for node, each in trace.entries)
        known = [each.known for *place, each in places if place == [function, line] and each.known is not None]
        return all(each in right for each in known) and any(map(_tells, known))

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
        kept = checks.passing(lambda label: name in self._reach(label), LOOKED_AT * most, match.mistakes[0].replaces)
        kept = [each for each in kept if each not in checks.mended]  # what the learner answered there was wrong
        is_of_refusals = all(each.is_refusal for each in match.checks)
        kept = [each for each in kept if is_of_refusals or not each.is_refusal]
        kept = [each for each in kept if self._runs_in(match.mistakes[0], each)][:most]
        return any(
            not self._explains(match.mistakes, each, NOISE) and self._is_felt(match.mistakes, each) for each in kept
        )

    def _is_felt(self, mistakes: tuple[Mistake, ...], check: Check) -> bool:
        """Say whether the reference answers a call otherwise with mistakes than without.

        Where it does not, a right answer that differs is one of another form, such as GELU by tanh.
        """
        pair = [self._replay(self._module(each, False), check, False) for each in (mistakes, ())]
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            answers = [[each.perform(record) for record in (*check.records, *check.later)] for each in pair]
        return not all(self._is_one(a, b) for a, b in zip(*answers, strict=True))

    def _is_one(self, one: Any, other: Any) -> bool:
        """Say whether two modules gave one answer; objects of theirs are compared by what they answer later."""
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return len(one) == len(other) and all(map(self._is_one, one, other))
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(self._is_one(value, other[name]) for name, value in one.items())
        if isinstance(one, (np.ndarray, np.generic, float)):
            return same_array(one, other, self.stage.tolerance, False, NOISE)
        is_alike = type(one).__qualname__ == type(other).__qualname__  # each module has its own classes
        return is_alike and (not isinstance(one, (bool, int, str, bytes)) or bool(one == other))

    def _replay(self, module: types.ModuleType, check: Check, is_exact: bool, floor: float = NOISE) -> Replay:
        replay = Replay(module, self.stage, check.names, is_exact, self.learner)
        replay.floor, replay.by_class = floor, True
        return replay

    def _mirrored(self, module: types.ModuleType, check: Check, is_exact: bool, floor: float) -> Replay:
        replay = self._replay(module, check, is_exact, floor)
        replay.is_mirrored = True
        return replay

    def _module(self, mistakes: Sequence[Mistake], by_convention: bool = True) -> types.ModuleType:
        """Return the reference with mistakes; by convention with what takes the place of its functions."""
        key: tuple[object, ...] = by_convention, *(each.id for each in mistakes)
        if key not in self._modules:
            module = module_from(self._code, "wrong" if mistakes else "reference")
            module.__dict__.update(self.instead if by_convention else {})
            for each in mistakes:
                exec(compile(each.source, f"<{each.id}>", "exec"), module.__dict__)
            self._modules[key] = module
        return self._modules[key]


@dataclass(frozen=True, eq=False)
class _WrongCall:
    """A wrong call as it ran: what each expression held, where values go wrong, and where a mistake may stand."""

    check: Check
    mistake: Mistake
    search: Search
    trace: Trace
    places: Places
    functions: set[str]
    written: frozenset[str]  # the forms of the expressions that the mistake has and no right module has
    differing: str  # that of the innermost, where it is one

    @property
    def own(self) -> set[str]:
        """The functions in which the mistake may stand."""
        return self.functions or self.search.reached(self.check.label)

    @cached_property
    def idle(self) -> set[int]:
        """The ids of what takes no part in the answer: where the call ends by an exception, of nothing."""
        lines = [] if self.check.is_refusal or self.check.is_raised else self.places.idle
        return {id(node) for each in lines for node in own_nodes(each)}

    def first_like(self, values: Sequence[Print]) -> list[tuple[str, int]]:
        """Return where a value that a mistake makes is made first, if anywhere, in whichever layout.

        It is the one line that is written as the mistake where that differs in one expression. Else it is written as
        the mistake is, or makes that of right parts: an array or a fraction, since whole numbers are alike by chance.
        """
        within, right = self.trace.probes.within, self.search.right_values(self.check)
        made = {_content(each) for each in values}
        wanted = {_content(each) for each in values if right is None or each not in right}
        noted = [
            (node, each) for node, each in self.trace.entries
            if within[id(node)] in self.own and isinstance(node, MADE) and id(node) not in self.idle
            and not isinstance(node, ast.Attribute) and each.kind not in SAYS_NOTHING and not self.is_set_before(node)
            and each.known is not None and _content(each.known) in made
        ]  # fmt: skip
        as_written = {(within[id(node)], node.lineno) for node, _ in noted if self._form(node) == self.differing}
        if len(as_written) == 1:
            return [*as_written]
        noted = [(node, each) for node, each in noted if each.known is not None and _content(each.known) in wanted]
        noted = [(node, each) for node, each in noted if id(node) in self.places.wrong and self._is_its_own(node)]
        said = [
            node for node, each in noted
            if self._form(node) in self.written or ((each.kind == "array" or each.is_real) and self._is_proved(node))
        ]  # fmt: skip
        own = {name for name in self.own if self._is_given_right(name)}
        return [(within[id(each)], each.lineno) for each in said if within[id(each)] in own][:1]

    def _form(self, node: ast.expr) -> str:
        return _form(node, _set_in(self.search.module.functions[self.trace.probes.within[id(node)]]))

    def has_run(self, function: str, line: int) -> bool:
        """Say whether a line of a function ran."""
        lines = [each for each in self.places.statements if self.places.function[id(each)] == function]
        around = [each for each in lines if each.lineno <= line <= (each.end_lineno or each.lineno)]
        return all(self.trace.did_run(each) for each in around if each.lineno == max(one.lineno for one in around))

    def answering(self, sound: set[str]) -> list[tuple[str, int]]:
        """Return the line that makes the answer of the mistake's function of parts that are right.

        sound are functions that are right.
        """
        name = self.mistake.replaces
        function = self.search.module.functions.get(name)
        lines = [each for each in statements(function.body) if self.trace.did_run(each)] if function is not None else []
        given = [each for each in lines if isinstance(each, ast.Return)]
        value = given[0].value if len(given) == 1 else None
        is_of_value = self.check.kind not in ("purity", "dtype") and not self.check.is_of_dtype
        is_of_value = is_of_value and not self.places.draws  # right modules draw otherwise
        if function is None or value is None or not is_of_value or called(value) in LAYING_OUT:
            return []
        helpers = {each.rpartition(".")[2] for each in self.own - sound - {name}}
        if any(getattr(each, "id", getattr(each, "attr", "")) in helpers for each in walk(value)):
            return []
        is_made = not self.check.says_little and not self.is_set_before(value) and self.is_of_right_parts(value)
        return [(name, value.lineno)] if is_made else []

    def is_of_right_parts(self, node: ast.AST) -> bool:
        """Say whether all that an expression takes of its function's other lines is what right modules have.

        A whole number is that of right modules by chance, unless it is a size, and so is what grows, or what a loop
        before sets, until it is whole.
        Where the expression is wrong at once, what it took the first time counts: in a loop what is wrong goes round.
        """
        function = self.search.module.functions[self.trace.probes.within[id(node)]]
        kinds = (bool, _is_size, _is_growing)
        made, sizes, grown = (
            {x for each in statements(function.body) if kind(each) for x in sets(each)} for kind in kinds
        )
        loops = [each for each in walk(function) if isinstance(each, (ast.For, ast.While))]
        ended = [each for each in loops if not any(part is node for part in walk(each))]
        grown |= {name for each in ended for line in statements(each.body) for name in sets(line)}
        right = self.search.right_values(self.check) or Prints()
        most = 1 if any(each not in right for each in self._known(node)[:1]) else None
        for each in walk(node):
            name = root_name(each) if isinstance(each, (ast.Name, ast.Attribute)) else ""
            if name in made and isinstance(each, ast.Name) != (name == "self"):
                known = self._known(each)[:most]
                is_told = name in sizes or id(each) not in self.trace.samples or any(map(_tells, known))
                if not is_told or not all(one in (self._ends if name in grown else right) for one in known):
                    return False
        return True

    @cached_property
    def _ends(self) -> Prints:
        """What the names of right modules held in the end."""
        held = (names for trace in self.search.right_traces(self.check) for names in trace.held.values())
        return Prints(each.known for names in held for each in names.values() if each.known is not None)

    def _is_proved(self, node: ast.expr) -> bool:
        """Say whether a line makes what is wrong by itself, of parts that are right.

        What a function of one's own gives is made there; where values are laid out, or put into what is filled later,
        nothing is made; in a line of which the whole is right nothing is wrong; and what another line makes for this
        one alone may be wrong there.
        """
        statement, whole = self._around(node)
        calls = [each for each in walk(node) if called(each) in self.search.module.functions]
        samples = self.trace.samples.get(id(whole), ())
        is_whole_right = id(whole) not in self.places.wrong and not any(each.kind == "bool" for each in samples)
        growing = self._growing(self.trace.probes.within[id(node)])
        is_begun = whole is node and not _is_growing(statement) and bool(sets(statement) & growing)
        is_made = called(node) in LAYING_OUT or any(id(each) in self.places.wrong for each in calls)
        is_none = is_made or is_whole_right or is_begun or self._is_made_for(node)
        return not is_none and self.is_of_right_parts(node)

    def _is_made_for(self, node: ast.expr) -> bool:
        """Say whether another line makes a part of an expression that is read nowhere else."""
        function = self.search.module.functions[self.trace.probes.within[id(node)]]
        names = [each for each in walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        read = Counter(each.id for each in names)
        made = {name for each in statements(function.body) if not _is_size(each) for name in sets(each)}
        return any(read[name] == 1 for name in loaded(node) & made)

    def is_set_before(self, value: ast.expr) -> bool:
        """Say whether an answer, or a part of it that is wrong, is a name that another line sets."""
        if not isinstance(value, ast.Tuple):
            return isinstance(value, ast.Name)
        parts = [
            value.elts[each] for each in self.check.wrong_parts() if isinstance(each, int) and each < len(value.elts)
        ]
        return any(isinstance(each, ast.Name) for each in parts or value.elts)

    def _around(self, node: ast.expr) -> tuple[ast.stmt, ast.AST]:
        """Return the statement of an expression, and the whole expression there."""
        parents, whole = self.search.module.parents_of(self.trace.probes.within[id(node)]), cast(ast.AST, node)
        while not isinstance(around := parents[id(whole)], ast.stmt):
            whole = around
        return around, whole

    def _known(self, node: ast.AST) -> list[Print]:
        return [each.known for each in self.trace.samples.get(id(node), ()) if each.known is not None]

    def _growing(self, function: str) -> set[str]:
        """Return the names of a function of which lines change what they hold."""
        lines = statements(self.search.module.functions[function].body)
        return {name for each in lines if _is_growing(each) for name in sets(each)}

    def _is_given_right(self, function: str) -> bool:
        """Say whether a function is the mistake's own, or a helper that no call gave what is wrong."""
        calls = (node for node, _ in self.trace.entries if isinstance(node, ast.Call) and called(node) == function)
        given = (id(part) for call in calls for each in (*call.args, *call.keywords) for part in walk(each))
        return function == self.mistake.replaces or not any(each in self.places.wrong for each in given)

    def _is_its_own(self, node: ast.AST) -> bool:
        """Say whether an expression is not one of a helper that is right once, and then was given what is wrong."""
        if self.trace.probes.within[id(node)] == self.mistake.replaces:
            return True
        right = self.search.right_values(self.check) or Prints()
        known = [each.known for each in self.trace.samples.get(id(node), ()) if each.known is not None]
        return not any(each in right for each in known)


def _is_size(statement: ast.stmt) -> bool:
    """Say whether a statement asks how large something is, or goes through something."""
    nodes = [each for head in heads(statement) for each in walk(head)]
    is_asked = any(called(each) == "len" or getattr(each, "attr", "") in SIZES for each in nodes)
    is_more = any(called(each) not in (*SIZES, "") for each in nodes)
    return (is_asked and not is_more) or isinstance(statement, ast.For)


def _is_growing(statement: ast.stmt) -> bool:
    """Say whether a statement changes what a name holds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [isinstance(part, (ast.Subscript, ast.Attribute)) for each in targets for part in walk(each)]
    return isinstance(statement, (ast.Expr, ast.AugAssign)) or any(parts)


def _tells(known: Print) -> bool:
    """Say whether few formulas give a value: an array, or a number with a fraction."""
    return bool(known.shape) or not float(known.size).is_integer()


@lru_cache(16)
def _expressions(text: str) -> frozenset[str]:
    """Return the expressions of a module."""
    return frozenset(ast.dump(each) for each in walk(parsed(text).tree) if isinstance(each, MADE))


def _form(node: ast.AST, own: Container[str]) -> str:
    """Return an expression as text, whatever the names are called that its function sets."""
    names: dict[str, str] = {}

    def shown(found: re.Match[str]) -> str:
        return names.setdefault(found[0], str(len(names))) if found[0] in own else found[0]

    return re.sub(r"(?<=Name\(id=')\w+", shown, ast.dump(node))


def _set_in(function: ast.AST) -> set[str]:
    """Return the names that a function sets, without its arguments."""
    names = (each for each in walk(function) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


def _content(known: Print) -> tuple[object, ...]:
    """Return what a value has in common with itself in another layout, but for rounding."""
    return f"{known.plain:.6g}", f"{known.size:.6g}", known.digest, math.prod(known.shape)


def _put_in_place(module: ModuleText) -> dict[str, ast.stmt]:
    """Return the functions that a module assigns to other names, as `Layer.forward = scaled`, by these names."""
    pairs = [(each.targets[0], each.value) for each in module.tree.body if isinstance(each, ast.Assign)]
    named = {ast.unparse(target): getattr(value, "id", "") for target, value in pairs}
    return {name: module.functions[other] for name, other in named.items() if other in module.functions}


def traced(what: Callable[[], T], files: Container[str]) -> tuple[T, set[str]]:
    """Return what came of it, and the full names of the functions of some files, as Class.method, that were entered."""
    ran: set[str] = set()
    before = sys.getprofile()

    def entered(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            ran.add(frame.f_code.co_qualname)

    sys.setprofile(entered)
    try:
        return what(), ran
    finally:
        sys.setprofile(before)
