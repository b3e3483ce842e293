"""What may be missing in a learner's line: a term, a factor, an axis, an argument, a constant of the formula."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from grader.course.changes import replaced
from grader.diagnosis.repairs.held.seen import EXPRESSIONS
from grader.diagnosis.repairs.kinds import around, blocks, confused, likewise, misplaced
from grader.diagnosis.repairs.kinds.analogy import alike
from grader.diagnosis.repairs.kinds.instead import counts, other_slope, parts
from grader.diagnosis.repairs.kinds.nested import nested
from grader.diagnosis.repairs.kinds.silent import silent
from grader.diagnosis.repairs.kinds.unused import put_in, unread, unused_names
from grader.diagnosis.repairs.kinds.values import fits, is_called, is_far, is_large, is_number, left_out, sqrt, tells
from grader.diagnosis.slips.changes import Scope, natural_changes
from grader.diagnosis.slips.formulas import last_axes_swapped, number_node
from grader.diagnosis.slips.wording.phrases import called, constant_of
from grader.diagnosis.trees import walk

ALIGNED = 3  # the level of what a right module shows
QUICK = 4  # the level of what is easily taken for another, in one place: few changes, tried in all functions first
LIKEWISE = 7  # the level of what is done at another place: few changes, tried in all that the answer can come from
OTHERS = 6  # the level of what further right modules show
TERMS = 5  # the level of a term or factor that is missing
MOST_TERMS = 12  # names that may be missing in one place
BETWEEN = ("maximum", "minimum", "where")  # of the shape of the largest that they are given
REDUCTIONS = ("sum", "mean", "max", "min", "std", "var")
VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)


@dataclass
class Missing:
    """Yields what may stand in the place of one function's expressions, level by level."""

    scope: Scope
    definitions: Mapping[str, ast.FunctionDef]
    constants: frozenset[float]  # of the right module
    definition: ast.FunctionDef
    level: int  # 0: what stands for another; 1: far names; TERMS; 2: an operation missing; ALIGNED; QUICK
    value_of: Callable[[ast.AST], Any]  # what stands for the value of an expression; None where it never had one
    aligned: Mapping[int, list[ast.expr]] = field(default_factory=dict)  # by the id of an expression

    def __call__(self, node: ast.AST, holder: ast.AST, _: Scope) -> Iterator[ast.AST]:
        """Yield the changes of an expression inside of its holder, those of one level."""
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return
        if self.level in (ALIGNED, OTHERS):
            yield from self.aligned.get(id(node), ())
            return
        if isinstance(node, EXPRESSIONS) and not is_called(node, holder) and self._never_began(node):
            return
        if self.level == QUICK:
            yield from confused.for_another(node, holder, self.scope, self.value_of, self.definition)
            if isinstance(node, ast.Constant):
                yield from put_in(node, holder, None, self.unused, self.scope.values)
            yield from around.biased(node, holder, self.value_of(node), self.terms)
            yield from around.times_other_branch(node, holder, self.value_of)
            yield from around.times_own_slope(node, holder, self.value_of(node), self.scope.values)
            yield from around.weighted(node, holder, self.definition)
            yield from other_slope(node)
            yield from misplaced.whole_range(node, holder)
            yield from misplaced.both_ways(node, holder)
            yield from blocks.shifted(node, self.scope.values)
            yield from blocks.turned(node)
            yield from blocks.stretched(node, holder, self.scope.values)
            return
        if self.level == LIKEWISE:
            yield from blocks.put_at_other_axes(node)
            yield from blocks.halves(node)
            yield from likewise.likewise(node, holder, self.definition, self.scope.values, self.value_of)
            return
        if self.level in (0, 1):
            yield from self._natural(node, holder)
        if self.level in (2, TERMS) and isinstance(node, VALUES) and not is_called(node, holder):
            yield from self._around(node, holder)

    def _never_began(self, node: ast.AST) -> bool:
        """Say whether an expression had no value; one that raised, of which a part has a value, is tried early."""
        if self.value_of(node) is not None:
            return False
        return self.level > 0 or all(self.value_of(each) is None for each in ast.iter_child_nodes(node))

    def _natural(self, node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
        for change in natural_changes(node, holder, self.scope):
            if not tells(node, change, holder) or confused.is_quick(node, change, holder, self.scope.values):
                continue
            is_library = isinstance(node, ast.Attribute) and is_called(node, holder)  # np.mean for np.sum
            if (is_far(node, change) and not is_library) == (self.level == 1):
                yield change
        if not self.level:
            yield from alike(node, holder, self.definition)
        if self.level:
            yield from misplaced.with_entry(node)
            if isinstance(node, ast.Constant) and not isinstance(holder, (ast.Compare, ast.Assign)):
                yield from misplaced.named_numbers(node, holder, self.scope.values)
            return
        if not isinstance(node, ast.Constant):
            yield from put_in(node, holder, self.value_of(node), self.unused, self.scope.values)
            yield from unread(node, holder, self.definition, self.scope.values)
        yield from misplaced.regrouped(node)
        yield from nested(node, holder, self.constants)
        yield from misplaced.started(node, holder, self.value_of(node))
        yield from likewise.steps(node, holder, self.scope.values, self.value_of(node))
        yield from misplaced.indexed(node, self.value_of)
        yield from misplaced.exchanged(node)
        yield from silent(node, self.scope.values)
        if isinstance(node, ast.Constant):
            if isinstance(holder, (ast.Compare, ast.Assign)):  # where it stands alone
                yield from misplaced.named_numbers(node, holder, self.scope.values)
            yield from self._numbers(node, holder)
            yield from misplaced.chosen_by(node, holder, self.scope.values)
        if isinstance(holder, ast.keyword) and constant_of(node) is not None:
            yield from self._given(holder)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and is_large(node.operand):
            yield ast.UnaryOp(ast.USub(), ast.Attribute(ast.Name("np", ast.Load()), "inf", ast.Load()))
        if isinstance(node, ast.Call):
            yield from self._calls(node)
        if isinstance(node, ast.Subscript):
            yield node.value
        if isinstance(node, ast.Attribute) and node.attr == "T":
            yield last_axes_swapped(node.value)

    def _around(self, node: ast.expr, holder: ast.AST) -> Iterator[ast.AST]:
        """Yield an expression with what may be missing around it."""
        value = self.value_of(node)
        if not is_number(value) or isinstance(value, int):
            return
        outer = isinstance(holder, (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple))
        if self.level == 2:
            if outer or isinstance(holder, (ast.BinOp, ast.Call)):
                yield from around.wrapped(node, value, not outer)
            if outer or isinstance(holder, ast.Call):
                yield from around.applied(
                    node, self.definition, self.definitions, vars(self.scope.values.get("self", Scope({})))
                )
                yield from around.slopes(node, value, self._at_hand(node))
                yield from misplaced.multiplied(node, value, self._at_hand(node))
            if isinstance(node, (ast.BinOp, ast.Call)):
                yield from misplaced.plain_numbers(value, self.constants)
        elif outer or isinstance(holder, ast.Call):
            whole = self.value_of(holder) if called(holder) in BETWEEN else None  # a number beside an array
            yield from self._terms(node, value if whole is None else whole, (ast.Add, ast.Sub, ast.Mult, ast.Div))
        elif isinstance(holder, ast.Attribute) and holder.attr in REDUCTIONS:
            yield from self._terms(node, value, (ast.Mult, ast.Sub))
        elif isinstance(holder, ast.BinOp) and isinstance(holder.op, (ast.Add, ast.Sub)):
            is_scalar = not getattr(value, "ndim", 0) and isinstance(self.value_of(holder), np.ndarray)
            yield from self._terms(node, self.value_of(holder) if is_scalar else value, (ast.Mult, ast.Div))
        elif isinstance(holder, ast.BinOp) and isinstance(holder.op, (ast.Mult, ast.Div)):
            yield from self._terms(node, value, (ast.Sub, ast.Add))

    def _numbers(self, node: ast.Constant, holder: ast.AST) -> Iterator[ast.AST]:
        """Yield the numbers of the right module."""
        number = node.value
        if isinstance(number, bool) or not isinstance(number, (int, float)) or isinstance(holder, ast.Subscript):
            return
        yield from (number_node(each) for each in sorted(self.constants) if each != number)

    def _given(self, holder: ast.keyword) -> Iterator[ast.AST]:
        """Yield the function's own argument of the name of a keyword, for which a constant stands."""
        if any(each.arg == holder.arg for each in (*self.definition.args.args, *self.definition.args.kwonlyargs)):
            yield ast.Name(str(holder.arg), ast.Load())

    def _calls(self, node: ast.Call) -> Iterator[ast.AST]:
        """Yield a call with an argument more, or one of its later arguments alone."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {keyword.arg for keyword in node.keywords}
        if name in REDUCTIONS and "keepdims" not in given:
            kept = [*node.keywords, ast.keyword("keepdims", ast.Constant(True))]
            yield replaced(node, keywords=kept)
            if "axis" not in given:
                for axis in (-1, 0):
                    yield replaced(node, keywords=[*kept, ast.keyword("axis", number_node(axis))])
        if name in ("maximum", "minimum", "where", "clip") and len(node.args) > 1:
            yield from (each for each in node.args[1:] if not isinstance(each, ast.Constant))
        held = vars(self.scope.values.get("self", Scope({})))
        for each in left_out(node, name, self.definitions):
            if each not in given and (each in self.scope.values or each in held):
                load: ast.expr = ast.Name(each, ast.Load())
                if each not in self.scope.values:
                    load = ast.Attribute(ast.Name("self", ast.Load()), each, ast.Load())
                yield replaced(node, keywords=[*node.keywords, ast.keyword(each, load)])

    @cached_property
    def terms(self) -> list[tuple[ast.expr, Any]]:
        """The values that a function has at hand, and what stands for each: arguments, names, attributes, entries."""
        found: list[tuple[ast.expr, Any]] = []
        for name, value in self.scope.values.items():
            load = ast.Name(name, ast.Load())
            if name == "self":
                for attribute, held in vars(value).items() if hasattr(value, "__dict__") else ():
                    found += self._entries(ast.Attribute(load, attribute, ast.Load()), held)
            else:
                found += self._entries(load, value)
        return found + parts(self.definition, self.value_of) + counts(self.definition, self.scope.values)

    @staticmethod
    def _entries(load: ast.expr, value: Any) -> list[tuple[ast.expr, Any]]:
        if isinstance(value, dict):
            entries = [(ast.Subscript(load, ast.Constant(key), ast.Load()), held) for key, held in value.items()]
            return [each for each in entries if is_number(each[1])]
        return [(load, value)] if is_number(value) else []

    def _terms(self, node: ast.expr, value: Any, operators: tuple[type[ast.operator], ...]) -> Iterator[ast.AST]:
        """Yield an expression with a term or a factor more."""
        text = ast.unparse(node)
        fitting = [each for each in self._at_hand(node) if fits(each[1], value) and ast.unparse(each[0]) != text]
        shape = getattr(value, "shape", None)
        fitting.sort(key=lambda each: (getattr(each[1], "shape", None) != shape, not isinstance(each[0], ast.Name)))
        for term, held in fitting[:MOST_TERMS]:
            if getattr(getattr(held, "dtype", None), "kind", "") == "b":
                if value.dtype.kind == "b":
                    yield ast.BinOp(node, ast.BitAnd(), term)
                continue
            plain = isinstance(held, np.ndarray) and held.shape == shape
            for operator in operators:
                if not (operator is ast.Div and plain):
                    yield ast.BinOp(node, operator(), term)
            if ast.Div in operators and not isinstance(held, np.ndarray):
                yield ast.BinOp(node, ast.Div(), sqrt(term))
                yield ast.BinOp(node, ast.Mult(), sqrt(term))

    def _at_hand(self, node: ast.AST) -> list[tuple[ast.expr, Any]]:
        """Return the terms that have their values where an expression stands."""
        return [each for each in self.terms if self._is_set(each[0], getattr(node, "lineno", 0))]

    @cached_property
    def unused(self) -> dict[str, list[str]]:
        """The function's names that it never reads, each with those that it is made of."""
        return unused_names(self.definition)

    def _is_set(self, term: ast.expr, line: int) -> bool:
        """Say whether a name has its value where a line begins."""
        names = (each.id for each in walk(term) if isinstance(each, ast.Name))
        return all(self.first_lines.get(name, 0) < line for name in names)

    @cached_property
    def first_lines(self) -> dict[str, int]:
        """Where each local name gets its first value."""
        found: dict[str, int] = {}
        for each in walk(self.definition):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                found[each.id] = min(each.lineno, found.get(each.id, each.lineno))
        return found
