"""What a course is, as its manifests describe it: frozen records of stages and the rows of their checklists."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from grader.course.contract import NO_CONTRACT, Contract
from grader.course.import_guard import STAGES as STAGES
from grader.course.settings import UNSAID, Settings
from grader.course.table import listed, near
from grader.errors import UnknownStage, UsageError

if TYPE_CHECKING:
    from grader.criterion import Passes

Feedback = Literal["full", "hint", "verdict"]  # what is told of a hidden test, the most first
FEEDBACK: tuple[Feedback, ...] = get_args(Feedback)
OPERATORS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
}  # fmt: skip


@dataclass(frozen=True)
class Criterion:
    """A row of the checklist: the functions it is about, the earlier rows it builds on, three hints."""

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
        """The row of that id; raises UsageError, with near ids and all ids, when there is none."""
        ids = [row.id for row in self.criteria]
        if criterion_id not in ids:
            alike = [each for each in ids if criterion_id in each][:3] or near(criterion_id, ids)[:1]
            hint = (f"Did you mean {listed(alike)}? " if alike else "") + f"The rows are {', '.join(ids)}."
            raise UsageError(f"{criterion_id!r} is not a row of {self.name}", hint)
        return self.criteria[ids.index(criterion_id)]

    def asked(self, name: str) -> Criterion:
        """The row that somebody means by its id or a function's name; raises UsageError where none is, or several."""
        found = self.meant(name)
        if len(found) > 1:
            rows = ", ".join(row.id for row in found)
            raise UsageError(f"{name!r} stands in {len(found)} rows of {self.name}: {rows}", "Name one of them.")
        return found[0] if found else self.criterion(name)

    def meant(self, name: str) -> tuple[Criterion, ...]:
        """The rows that somebody may mean: the one of that id, else those of a function, else those of a method."""
        name = name.removesuffix("()")
        by_id = [row for row in self.criteria if row.id in (name, name.replace("_", "-"))]
        of_function = [row for row in self.criteria if name in row.functions]
        of_method = [row for row in self.criteria if any(each.endswith(f".{name}") for each in row.functions)]
        exact = [row for row in by_id if row.id == name]
        return tuple(exact or by_id or of_function or of_method)

    def criterion_of(self, function: str) -> Criterion | None:
        """The first row that names the function; for a method no row names, the first that names its class."""
        names = (function, function.partition(".")[0])
        return next((row for name in names for row in self.criteria if name in row.functions), None)


def public_names(stage: Stage) -> tuple[str, ...]:
    """The functions and classes that the rows are about, each once, in their order; a method counts as its class."""
    return tuple(dict.fromkeys(name.partition(".")[0] for row in stage.criteria for name in row.functions))


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
