"""The reference as a text to change: its functions and methods, and the words that a learner knows of it."""

from __future__ import annotations

import ast
import re
import types
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.course.mutants import without_docstrings
from grader.course.stage import Stage, public_names
from grader.diagnosis.slips.changes import Scope
from grader.diagnosis.slips.trace import Trace
from grader.diagnosis.slips.wording.phrases import Vocabulary, words_of
from grader.diagnosis.trees import walk


@dataclass
class Source:
    """One stage's reference, parsed when the first answer is to be explained."""

    stage: Stage
    text: str
    load: Callable[[], types.ModuleType] = lambda: types.ModuleType("none")
    file: str = "<reference>"  # by which its lines are known

    @cached_property
    def module(self) -> types.ModuleType:
        """The text, run."""
        return self.load()

    @cached_property
    def tree(self) -> ast.Module:
        """The text, parsed, without its docstrings; nothing of it is changed in place."""
        return without_docstrings(ast.parse(self.text))

    @cached_property
    def definitions(self) -> dict[str, ast.FunctionDef]:
        """Functions and methods by full name, without their docstrings."""
        found: dict[str, ast.FunctionDef] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{each.name}": each for each in node.body if isinstance(each, ast.FunctionDef)}
        return found

    @cached_property
    def functions(self) -> dict[str, int]:
        """How many arguments each function of the module takes."""
        return {name: len(node.args.args) for name, node in self.definitions.items() if "." not in name}

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in what a learner reads: README, docstrings, signatures."""
        docstrings = re.findall(r'"""(.*?)"""', self.text, re.DOTALL)
        signatures = re.findall(r"^ *def (?!_[a-z])\w+\((.*)\)", self.text, re.MULTILINE)
        try:
            readme = self.stage.readme_path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            readme = ""
        return words_of([readme, *docstrings, *signatures])

    @cached_property
    def public(self) -> frozenset[str]:
        """The functions that a learner writes, or that stand in the module under a public name."""
        names = {name for name in self.functions if not name.startswith("_")}
        return frozenset(names | set(public_names(self.stage)))

    def make(self) -> None:
        """Find out what is asked of every module."""
        _ = self.module, self.definitions, self.functions, self.words, self.public

    def calls(self, function: str) -> list[str]:
        """Return the public functions that one calls, itself or by way of private ones, in the order of the text."""
        found: dict[str, None] = {}
        waiting, seen = [function], set[str]()
        while waiting:
            name = waiting.pop(0)
            node = self.definitions.get(name) or self.definitions.get(f"{name}.__init__")
            if node is None or name in seen:
                continue
            seen.add(name)
            for each in walk(node):
                if isinstance(each, ast.Name) and each.id != function.partition(".")[0]:
                    if each.id in self.public:
                        found[each.id] = None
                    elif each.id in self.functions:
                        waiting.append(each.id)
        return list(found)

    def reached(self, label: str) -> list[str]:
        """Return the functions that a request may run: the one that it asks for, and all that are called by name."""
        tops: dict[str, list[str]] = {}
        for name in self.definitions:
            tops.setdefault(name.partition(".")[0], []).append(name)
        waiting = deque([label.partition(".")[0]])
        found: dict[str, None] = {}
        while waiting:
            own = tops.pop(waiting.popleft(), [])
            found |= dict.fromkeys(own)
            waiting += (each.id for name in own for each in walk(self.definitions[name]) if isinstance(each, ast.Name))
        return list(found)

    def leading(self, functions: Iterable[str], fine: frozenset[str]) -> frozenset[str]:
        """Return functions and all that they call by name, without those that are fine or called by these alone."""
        waiting = [
            name for name in self.definitions if any(each in (name, name.partition(".")[0]) for each in functions)
        ]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in found or name in fine or name.partition(".")[0] in fine:
                continue
            found.add(name)
            used = {each.id for each in walk(self.definitions[name]) if isinstance(each, ast.Name)}
            waiting += [each for each in self.definitions if each.partition(".")[0] in used]
        return frozenset(found)

    def is_plain(self, function: str) -> bool:
        """Say whether the text defines a function that does all it does when it is entered: it is no generator's."""
        node = self.definitions.get(function)
        return node is not None and not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in walk(node))

    def vocabulary(self, function: str) -> Vocabulary:
        """Return what may be said of one function's values."""
        node = self.definitions[function]
        private = function.rpartition(".")[2].startswith("_") and not function.endswith("__")
        parameters = frozenset() if private else frozenset(each.arg for each in _arguments(node))
        return Vocabulary(self.words, self.public, self.stage.axes, parameters, _made(node))

    def ran(self, *traces: Trace) -> list[str]:
        """Return the functions of which lines ran."""
        lines = set[int]().union(*(trace.lines for trace in traces))
        return [
            name
            for name, node in self.definitions.items()
            if any(line in lines for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
        ]

    def scope(self, function: str, *traces: Trace) -> Scope:
        """Return what the names of a function held when it ended."""
        node = self.definitions[function]
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        values = next((trace.values[first] for trace in traces if first in trace.values), {})
        return Scope(values, self.functions, _defaults(node.args))


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    found = node.args
    return [*found.posonlyargs, *found.args, *found.kwonlyargs]


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of a function's arguments by name."""
    found = [*arguments.posonlyargs, *arguments.args]
    plain = dict(zip(reversed([each.arg for each in found]), reversed(arguments.defaults), strict=False))
    only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return plain | {each.arg: value for each, value in only if value is not None}


def _made(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return what each local name is made of, where one assignment says so."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for each in walk(node):
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            name = each.targets[0].id
            twice |= {name} & set(found)
            found[name] = each.value
        elif isinstance(each, (ast.AugAssign, ast.For)) and isinstance(each.target, ast.Name):
            twice.add(each.target.id)
    return {name: value for name, value in found.items() if name not in twice}
