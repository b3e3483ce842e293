"""A learner's text as something to change: its functions, their names, and one text with all changes of several."""

from __future__ import annotations

import ast
import marshal
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from typing import Any

from grader.course.changes import replaced
from grader.diagnosis.repairs.batch import DRIVER, PUT
from grader.diagnosis.repairs.held.seen import PRELUDE, Seen, noting, numbered
from grader.diagnosis.repairs.kinds.analogy import defaults
from grader.diagnosis.repairs.kinds.missing import ALIGNED, OTHERS, QUICK, Missing
from grader.diagnosis.repairs.kinds.setting import lines_of, other_targets
from grader.diagnosis.repairs.kinds.silent import shifted
from grader.diagnosis.repairs.rounds import counted
from grader.diagnosis.slips.changes import Scope
from grader.diagnosis.slips.schema import SWITCH, Change, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.statements import Kind
from grader.diagnosis.slips.wording.phrases import Vocabulary
from grader.diagnosis.trees import last_set, placed, substituted, walk

NEW = "_slips_new"  # the name of a function's other definition, until it is in place
CHANGED = "<changed>"  # the file that compiled lines are in
HEADS = ("test", "iter", "value", "target", "targets", "exc")  # of a statement, without what stands in its body
ACCESSORS = ("setter", "getter", "deleter")  # of a property
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Written(Source):
    """The module that was handed in, as text; nothing of it runs here."""

    seen: Seen = field(default_factory=Seen)
    early: frozenset[int] = frozenset()  # the expressions that ran before the last request
    base: frozenset[str] = frozenset()  # the functions with changes that were made for good
    right: Mapping[str, ast.FunctionDef] = field(default_factory=dict)  # the right module's, for their defaults
    factor: float | None = None  # by which the last answer is wrong, where it is wrong by one
    codes: dict[int, bytes] = field(default_factory=dict)  # by the number of a change, what holds it
    aligned: Callable[..., Mapping[int, list[ast.expr]]] = lambda *_: {}  # what a right module has instead
    _heads: dict[int, frozenset[int]] = field(default_factory=dict)
    _notes: dict[tuple[str, int], tuple[ast.AST, bytes]] = field(default_factory=dict)  # of functions that take them

    @cached_property
    def definitions(self) -> dict[str, ast.FunctionDef]:
        """Functions and methods by full name, without those whose name stands for something else, too.

        A property with a setter has one name for both, and a later line of the module may have given away a function's.
        """
        last = last_set(self.tree.body)
        return {
            name: node
            for name, node in super().definitions.items()
            if not _is_accessor(node) and not isinstance(last.get(name.partition(".")[0]), ast.Name)
        }

    def make(self) -> None:
        self.anew()

    def anew(self) -> Written:
        """Return the same text, of which nothing was seen yet."""
        other = replace(self, seen=Seen(), early=frozenset(), codes={}, _heads={})
        for name in ("tree", "definitions", "numbers", "functions", "words", "public", "_whole"):
            vars(other)[name] = getattr(self, name)
        return other

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name in the text: its author knows them all."""
        return frozenset(_NAME.findall(self.text))

    def vocabulary(self, function: str) -> Vocabulary:
        """Return what may be said of one function's values: its names are the learner's own."""
        say = super().vocabulary(function)
        return Vocabulary(self.words, self.public, self.stage.axes, say.parameters, {}, is_own=True)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each expression, by the id of its node."""
        return numbered(self.definitions)

    def taking_notes(self, functions: Iterable[str]) -> list[bytes]:
        """Return the codes, one after the other, of the text whose functions note what their expressions hold."""
        inside = [name for name in functions if _asks_for_class(self.definitions[name])]
        first = self._whole
        if inside:
            taking = {name: noting(name, self.definitions[name], self.numbers) for name in inside}
            first = self.compiled({name: self.definitions[name] for name in self.base} | taking)
        return [prelude(), first, *(self._noting(name) for name in functions if name not in inside)]

    def _noting(self, name: str) -> bytes:
        """Return code that puts a function that takes notes in the place of one; it is made once."""
        key = name, id(self.definitions[name])
        if key not in self._notes:
            made = noting(name, self.definitions[name], self.numbers)
            self._notes[key] = self.definitions[name], self.code_of(name, made, name not in self.base)
        return self._notes[key][1]

    def applied(self, changes: Sequence[Change]) -> Written:
        """Return the text with changes made for good; what was seen of the rest still holds."""
        other = replace(self, codes={}, _heads={})
        definitions = dict(self.definitions)
        for change in changes:
            name = change.function
            definitions[name] = substituted(definitions[name], change.old, change.new)
        vars(other)["definitions"] = definitions
        vars(other)["numbers"] = self.numbers
        other.base = self.base | {each.function for each in changes}
        return other

    def whole(self) -> list[bytes]:
        """Return the codes, one after the other, of the text, with the changes that were made for good."""
        return [prelude(), self._whole]

    @cached_property
    def _whole(self) -> bytes:
        return self.compiled({name: self.definitions[name] for name in self.base})

    def that_ran(self) -> list[str]:
        """Return the functions that ran."""
        return [name for name in self.definitions if name in self.seen.names]

    def value_of(self, node: ast.AST) -> Any:
        """Return what stands for the value of an expression; None where it never had one."""
        return self.seen.expressions.get(self.numbers.get(id(node), -1))

    def numbers_of(self, statement: ast.stmt) -> frozenset[int]:
        """Return the numbers of a statement's expressions; of a compound one, those of its head."""
        if id(statement) not in self._heads:
            heads = [getattr(statement, name, None) for name in HEADS]
            nodes = [each for head in heads if head for each in (head if isinstance(head, list) else [head])]
            own = [self.numbers[id(n)] for each in nodes for n in walk(each) if id(n) in self.numbers]
            self._heads[id(statement)] = frozenset(own)
        return self._heads[id(statement)]

    def did_run(self, statement: ast.stmt) -> bool:
        """Say whether a statement ran."""
        own = self.numbers_of(statement)
        return not own or any(number in self.seen.expressions for number in own)

    def ran_before(self, statement: ast.stmt) -> bool:
        """Say whether a statement ran in requests before the last one."""
        own = self.numbers_of(statement)
        return not own or not own.isdisjoint(self.early)

    def is_late(self, function: str) -> bool:
        """Say whether something of a function ran in the last request alone."""
        own = (self.numbers.get(id(each), -1) for each in walk(self.definitions[function]))
        return any(number in self.seen.expressions and number not in self.early for number in own)

    def schema(
        self,
        function: str,
        level: int,
        first: int,
        constants: frozenset[float],
        wanted: Callable[[ast.stmt], bool] = lambda statement: True,
        is_first: bool = False,
    ) -> tuple[ast.FunctionDef, list[Change]]:
        """Return a function's definition with each change of one level of some statements behind a switch."""
        seen = self.seen.names.get(function, {}).items()  # what is thrown away as _ stands for nothing
        scope = Scope({key: held for key, held in seen if key.strip("_") and key[:6] != "_slips"}, self.functions)
        missing = Missing(scope, self.definitions, constants, self.definitions[function], level, self.value_of)
        if level in (ALIGNED, OTHERS):
            missing.aligned = self.aligned(function, wanted, is_first and level == ALIGNED)
        kind: Kind = "aligned" if level in (ALIGNED, OTHERS) else ""
        made = Schema(function, scope, first, repairs=missing, statements=level == 0, wanted=wanted, kind=kind)
        if level == 0:
            own = self.definitions[function]
            made.inserted = partial(lines_of, definition=own, wanted=wanted, values=scope.values)
            made.arguments = lambda node: chain(defaults(node, self.right.get(function)), shifted(node, scope.values))
        elif level == QUICK:
            made.inserted = partial(other_targets, definition=self.definitions[function], values=scope.values)
        return made.definition(self.definitions[function]), made.changes

    def compiled(self, changed: Mapping[str, ast.FunctionDef]) -> bytes:
        """Return the code of the whole text with other definitions of some functions."""
        body: list[ast.stmt] = []
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in changed:
                body.append(_kept(node, changed[node.name]))
            elif isinstance(node, ast.ClassDef) and any(f"{node.name}." in name for name in changed):
                own = [
                    _kept(each, changed[name])
                    if isinstance(each, ast.FunctionDef) and (name := f"{node.name}.{each.name}") in changed
                    else each
                    for each in node.body
                ]
                body.append(ast.copy_location(replaced(node, body=own), node))
            else:
                body.append(node)
        return _code(body)

    def code_of(self, function: str, definition: ast.FunctionDef, is_placed: bool = False) -> bytes:
        """Return code that puts another definition of a function in its place, in a module that is there."""
        original = self.definitions[function]
        owner, _, name = function.rpartition(".")
        if owner and _asks_for_class(original):
            raise ValueError("a method that asks for its class is compiled with it")
        holder: ast.expr = ast.Name(owner, ast.Load()) if owner else ast.Constant(None)
        put = ast.Expr(ast.Call(ast.Name(PUT, ast.Load()), [holder, ast.Constant(name), ast.Name(NEW, ast.Load())], []))
        definition = counted(replaced(definition, name=NEW))
        kept = definition if is_placed else _kept(original, definition)
        return _code([kept, put])


def _is_accessor(node: ast.FunctionDef) -> bool:
    """Say whether a method is a property's setter or deleter, whose decorator is known inside of its class alone."""
    return any(isinstance(each, ast.Attribute) and each.attr in ACCESSORS for each in node.decorator_list)


@lru_cache(maxsize=1 << 9)
def _asks_for_class(node: ast.FunctionDef) -> bool:
    """Say whether a function has to stand in its class: it asks for it, or has names or decorators of its own there."""
    known = ("property", "staticmethod", "classmethod")
    if not all(isinstance(each, ast.Name) and each.id in known for each in node.decorator_list):
        return True
    names = (getattr(each, "id", getattr(each, "attr", "")) for each in walk(node))
    return any(
        name in ("super", "__class__") or (name.startswith("__") and not name.endswith("__")) for name in names if name
    )


@cache
def prelude() -> bytes:
    """Return the code that comes first: no change in force, what tries changes, and what takes notes.

    Changes may need libraries that the learner's text does not import; its own names come after these.
    """
    text = f"import math, numpy as np\n{SWITCH} = []\n{DRIVER}{PRELUDE}"
    return marshal.dumps(compile(text, "<prelude>", "exec", dont_inherit=True))


def _code(body: list[ast.stmt]) -> bytes:
    tree = ast.Module(body, [])
    for each in body:
        if not hasattr(each, "lineno"):  # what has a place has one in all of its parts
            placed(each)
    return marshal.dumps(compile(tree, CHANGED, "exec", dont_inherit=True))


def _kept(node: ast.FunctionDef, changed: ast.FunctionDef) -> ast.FunctionDef:
    result: ast.FunctionDef = replaced(changed, decorator_list=node.decorator_list)
    return placed(ast.copy_location(result, node))
