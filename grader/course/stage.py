"""A course as its manifests describe it: frozen records of stages, checklists and contracts."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from grader.course.import_guard import STAGES as STAGES
from grader.course.settings import UNSAID, Settings
from grader.course.table import Rule, Table, did_you_mean, listed, near
from grader.errors import UnknownStage, UsageError

if TYPE_CHECKING:
    from grader.criterion import Passes


Members = frozenset[str]  # names of the attributes, methods and operators that a class answers
NONE: Members = frozenset()
ValueKind = Literal["array", "dict of arrays"]
VALUE_KINDS: tuple[ValueKind, ...] = get_args(ValueKind)
_AXES: Rule = (
    r"\s*\w+([*/+-]\w+)*(\s+\w+([*/+-]\w+)*)*\s*",
    "names of axes with spaces between, as in 'batch seq d_model'",
)
NOWHERE = "is neither in a criterion's functions nor a member of a class"
_MEMBER: Rule = r"[A-Za-z]\w*|__[a-z]+__", "an attribute, a method, or an operator as in '__add__'"


@dataclass(frozen=True)
class Contract:
    """Members by class, or by the function or member that gives the object; kinds of values by function or member.

    >>> moe = Contract({"MoE": frozenset({"forward"})}, {"router": "array"})
    >>> mlp = Contract({"MLP": frozenset({"params"})}, {"params": "dict of arrays", "gelu": "array"})
    >>> moe.building_on([mlp]).values
    {'params': 'dict of arrays', 'router': 'array'}
    """

    members: Mapping[str, Members] = field(default_factory=dict, hash=False)
    values: Mapping[str, ValueKind] = field(default_factory=dict, hash=False)

    def building_on(self, used: Iterable[Contract]) -> Contract:
        """Return this contract with what those of earlier stages say of their classes."""
        members: dict[str, Members] = {}
        values: dict[str, ValueKind] = {}
        for each in (*used, self):
            members |= {name: members.get(name, NONE) | own for name, own in each.members.items()}
            its_own = each.values if each is self else {k: v for k, v in each.values.items() if each.is_member(k)}
            values |= its_own
        return Contract(members, values)

    def is_member(self, name: str) -> bool:
        """Say whether a class has a member of this name."""
        return any(name in own for own in self.members.values())


NO_CONTRACT = Contract()


def contract_of(members: Table, values: Table, names: Iterable[str]) -> Contract:
    """Read the tables [members] and [values]; names are those of functions, methods and attributes in criteria, [axes].

    A method or an attribute among them is a member without being listed.
    """
    asked = {name.partition(".")[0] for name in names}
    found: dict[str, set[str]] = {}
    for name in names:
        owner, _, member = name.partition(".")
        if member:
            found.setdefault(owner, set()).add(member)
    known = asked.union(*found.values(), *(each for each in members.values.values() if isinstance(each, list)))
    for name in members.values:
        if name not in known:
            members.wrong(name, f"{NOWHERE}{did_you_mean(name, known)}")
        own = members.texts(name, _MEMBER, required=True)
        for place, member in enumerate(own):
            if member in found.get(name, ()):
                members.wrong(f"{name}[{place}]", f"'{member}' is listed already, here or in a criterion's functions")
            found.setdefault(name, set()).add(member)
    whole = {name: frozenset(each) for name, each in found.items()}
    return Contract(whole, _values(values, known))


def _values(table: Table, known: set[str]) -> dict[str, ValueKind]:
    found: dict[str, ValueKind] = {}
    for name in table.values:
        if name not in known:
            table.wrong(name, f"{NOWHERE}{did_you_mean(name, known)}")
        value = table.text(name)
        for kind in (each for each in VALUE_KINDS if each == value):
            found[name] = kind
        if value and name not in found:
            table.wrong(name, f"{value!r} is not {listed(map(repr, VALUE_KINDS))}")
    return found


def axes_of(table: Table, names: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read the table [axes]: by function or method, the names of the axes of its arguments."""
    functions = {name.partition(".")[0] for name in names}
    axes: dict[str, dict[str, tuple[str, ...]]] = {}
    for function in table.values:
        if function.partition(".")[0] not in functions:
            table.wrong(function, f"is not in a criterion's functions{did_you_mean(function, functions)}")
        arguments = table.table(function)
        axes[function] = {name: tuple(arguments.text(name, _AXES).split()) for name in arguments.values}
        for name in axes[function]:
            if not name.isidentifier():
                arguments.wrong(name, "is not the name of an argument")
    return axes


Feedback = Literal["full", "hint", "verdict"]  # what is told of a hidden test, the most first
FEEDBACK: tuple[Feedback, ...] = get_args(Feedback)
OPERATORS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
}  # fmt: skip


@dataclass(frozen=True)
class Criterion:
    """A criterion of the checklist: the functions it is about, the earlier criteria it builds on, three hints."""

    id: str
    text: str
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    hints: tuple[str, str, str]


@dataclass(frozen=True)
class Limits:
    """Wall-clock seconds of all tests and of one call, and MiB of address space added for one test.

    judge_mb is what the process that judges may take on top of the suite: values that arrive, tests and comparisons.
    result_mb is how many MB one call may return, result_rows how many entries along an axis and in a container.
    alone: a test starts no process and no thread, so that memory_mb holds for all that it does.
    """

    stage_seconds: float = 60.0
    call_seconds: float = 10.0
    memory_mb: int = 1024
    judge_mb: int = 384
    result_mb: int = 4
    result_rows: int = 65536
    alone: bool = False


@dataclass(frozen=True)
class Tolerance:
    """Relative tolerance by the less precise dtype of the two arrays compared."""

    float64: float = 1e-9
    float32: float = 1e-4


@dataclass(frozen=True)
class Forbidden:
    """What a stage's module may not use, and the reason a learner reads.

    A name is dotted (numpy.dot, heapq), a builtin (sorted), or a method of any object (.sort).
    """

    operators: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Stage:
    """One stage of the course, as its stage.toml describes it; axes is function -> argument -> names of its axes."""

    id: str
    folder: Path
    title: str
    module: str
    requires: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    limits: Limits = Limits()
    tolerance: Tolerance = Tolerance()
    forbidden: Forbidden = Forbidden()
    axes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict, hash=False)
    contract: Contract = NO_CONTRACT
    opaque: tuple[str, ...] = ()  # functions whose last result is a cache of the learner's own layout, never compared
    feedback: Feedback = "full"
    hidden_root: Path = Path(Settings.hidden)  # holds, in a folder of this stage's name, its hidden tests and answers
    packages: tuple[str, ...] = UNSAID  # that its module may import, beside the standard library
    key_file: Path | None = None  # opens them where they are sealed, as in a learner's copy
    uses: tuple[str, ...] = ()  # ids of earlier stages whose modules its own may import
    lends: bool = False  # its reference may be seen by the code of later stages
    milestone: str = ""  # what a learner can do after it, as in "you can train a network"
    withheld: tuple[str, ...] = ()  # alternative solutions that the diagnosis does not see
    passes: Passes = "mathematics"  # the tests that make a criterion pass
    builds_on: tuple[Stage, ...] = ()  # the stages that it uses, and that those use in turn, in the course's order

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def number(self) -> int:
        return int(self.id[1:])

    @property
    def hidden_place(self) -> str:
        """Where its hidden tests and answers lie, as a reader of the course would say it."""
        root = self.folder.parent.parent
        inside = self.hidden_root.is_relative_to(root)
        folder = self.hidden_root.relative_to(root).as_posix() if inside else self.hidden_root.name
        return f"{folder}/{self.name}"

    @property
    def hidden_package(self) -> str:
        """The name by which its hidden tests import what lies beside them."""
        return f"{self.hidden_root.name}.{self.name}"

    @property
    def module_path(self) -> Path:
        return self.folder / self.module

    @property
    def readme_path(self) -> Path:
        return self.folder / "README.md"

    @property
    def tests_path(self) -> Path:
        return self.folder / "tests"

    @property
    def import_name(self) -> str:
        """The name by which a later stage imports its module."""
        return f"{STAGES}.{self.name}.{self.module.removesuffix('.py')}"

    @property
    def importable(self) -> tuple[str, ...]:
        """The packages, and the modules of other stages, that its module may import."""
        return (*self.packages, *(each.import_name for each in self.builds_on))

    @property
    def whole_contract(self) -> Contract:
        """Its contract and, of the classes of the stages that it builds on, theirs."""
        return self.contract.building_on(each.contract for each in self.builds_on)

    def given_path(self, used: Stage) -> Path:
        """Where this stage gives what stands for a used stage's module, if it does."""
        return self.folder / "given" / f"{used.name}.py"

    def with_key(self, key_file: Path | None) -> Stage:
        """The same stage, and all that it builds on, with the file that opens what is sealed."""
        builds_on = tuple(each.with_key(key_file) for each in self.builds_on)
        return replace(self, key_file=key_file, builds_on=builds_on)

    def criterion(self, criterion_id: str) -> Criterion:
        """The criterion of that id; raises UsageError, with near ids and all ids, when there is none."""
        ids = [criterion.id for criterion in self.criteria]
        if criterion_id not in ids:
            alike = self.alike(criterion_id)
            hint = (f"Did you mean {listed(alike)}? " if alike else "") + f"The criteria are {', '.join(ids)}."
            raise UsageError(f"{criterion_id!r} is not a criterion of {self.name}", hint)
        return self.criteria[ids.index(criterion_id)]

    def alike(self, name: str) -> list[str]:
        """The ids of up to three criteria that contain a name, or else of the one that is spelt most like it."""
        ids = [each.id for each in self.criteria]
        return [each for each in ids if name in each][:3] or near(name, ids)[:1]

    def asked(self, name: str) -> Criterion:
        """The criterion meant by its id or a function's name; raises UsageError where none is, or several."""
        found = self.meant(name)
        if len(found) > 1:
            ids = ", ".join(each.id for each in found)
            raise UsageError(f"{name!r} stands in {len(found)} criteria of {self.name}: {ids}", "Name one of them.")
        return found[0] if found else self.criterion(name)

    def meant(self, name: str) -> tuple[Criterion, ...]:
        """The criteria that somebody may mean: the one of that id, else those of a function, else those of a method."""
        name = name.removesuffix("()")
        by_id = [criterion for criterion in self.criteria if criterion.id in (name, name.replace("_", "-"))]
        of_function = [criterion for criterion in self.criteria if name in criterion.functions]
        of_method = [
            criterion for criterion in self.criteria if any(each.endswith(f".{name}") for each in criterion.functions)
        ]
        exact = [criterion for criterion in by_id if criterion.id == name]
        return tuple(exact or by_id or of_function or of_method)

    def criterion_of(self, function: str) -> Criterion | None:
        """The first criterion that names the function; for a method that none names, the first that names its class."""
        names = (function, function.partition(".")[0])
        return next((criterion for name in names for criterion in self.criteria if name in criterion.functions), None)


def public_names(stage: Stage) -> tuple[str, ...]:
    """The functions and classes of the criteria, each once, in their order; a method counts as its class."""
    return tuple(dict.fromkeys(name.partition(".")[0] for criterion in stage.criteria for name in criterion.functions))


@dataclass(frozen=True)
class Course:
    """All stages below root/stages, in order."""

    root: Path
    stages: tuple[Stage, ...]
    settings: Settings = field(default_factory=Settings)

    @property
    def packages(self) -> frozenset[str]:
        """The names of its packages of hidden tests and drawings, which are imported through the import guard alone."""
        folders = (self.settings.hidden, self.settings.drawings, *(stage.hidden_root for stage in self.stages))
        return frozenset(Path(folder).name for folder in folders if folder)

    @property
    def hidden(self) -> Path:
        """The folder of hidden tests and answers or, in a learner's copy, of what is sealed in their place."""
        return self.root / self.settings.hidden

    def find(self, text: str) -> Stage:
        """The stage meant by its id, number, topic, folder, module or a path into its folder, in any case.

        Raises UnknownStage, with near names, when none or several are meant.
        """
        wanted = text.strip().lower()
        at_path = self._at(wanted)
        found = [at_path] if at_path else [s for s in self.stages if wanted.replace("-", "_") in _spoken_names(s)]
        if len(found) > 1:
            raise UnknownStage(f"{text!r} may mean {listed(s.name for s in found)}", "Name the stage by its id.")
        if not found:
            raise UnknownStage(f"{text!r} is not a stage of this course", self._suggestion(wanted))
        return found[0]

    def _suggestion(self, wanted: str) -> str:
        names = {name: stage.name for stage in self.stages for name in _spoken_names(stage)}
        alike = [name for name in names if wanted in name] or near(wanted, names)
        if alike and not re.fullmatch(r"s?\d*", wanted):  # all numbers are alike
            return f"Did you mean {listed([*dict.fromkeys(names[name] for name in alike)][:3])}?"
        return f"The stages are {', '.join(stage.id for stage in self.stages)}."

    def _at(self, path: str) -> Stage | None:
        if not (set(path) & set("/\\") or path in {".", ".."}):
            return None
        parts = Path(os.path.abspath(path.replace("\\", "/"))).parts
        folders = {stage.name.lower(): stage for stage in self.stages}
        return next((folders[part.lower()] for part in reversed(parts) if part.lower() in folders), None)


def _spoken_names(stage: Stage) -> tuple[str, ...]:
    topic = stage.name.removeprefix(stage.id).lstrip("_")
    names = (stage.id, stage.id[1:], f"s{stage.number}", str(stage.number), stage.name, topic, stage.module)
    return tuple(name.lower() for name in (*names, stage.module.removesuffix(".py")) if name)
