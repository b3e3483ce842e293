"""The whole reading of a module's text; what may take Python long is read in a bounded process.

Python's parser and compiler have inputs that take them minutes, gigabytes or the whole stack. All need something that a
module of a stage does not have: great size, depth, or length of a statement, or bodies that the compiler copies. What
has one of these is not refused, but read by `main` in another process, which costs a tenth of a second. That process is
trusted, since nothing of the text is run; what it tells is one JSON document on its standard output.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from grader import children
from grader.course.settings import UNSAID
from grader.course.stage import STAGES, Forbidden
from grader.course.table import together
from grader.errors import GraderFault
from grader.submission.forbidden import Layout, read_forbidden
from grader.submission.parsing import (
    TOO_DEEP,
    Problem,
    SourceFindings,
    and_more,
    clipped,
    decoded,
    imported,
    parsed,
    root,
    without_main_block,
)

_WORD = re.compile(r"\bimport\b")
_IMPORTS = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+(\w[\w., \t]*)$)", re.MULTILINE)
_TOLD = 5  # packages in one sentence
# Names of what runs beside a learner's module: importing one is refused, and no stand-in takes its place.
_OURS = frozenset({"grader", "msgpack", "numpy", "learner_module", STAGES})
# What decides how modules are found: whoever changes it could import what a stand-in takes the place of.
_FINDERS = frozenset({"meta_path", "path_hooks", "path_importer_cache"})


def import_problem(nodes: Sequence[ast.AST], module: str, packages: Sequence[str] = UNSAID) -> Problem | None:
    """The first import that is refused: of another file of the course, or of something of the grader's.

    A module that changes how Python finds modules may import nothing that is not there. Among packages are the modules
    of other stages by full name.
    """
    lent = [each for each in packages if root(each) == STAGES]
    foreign: dict[str, int] = {}
    found = _foreign(nodes, packages)
    is_strict = bool(found) and any(map(_changes_finders, nodes))
    for line, name in found:
        if is_strict or not _may_stand_in(name):
            foreign.setdefault(name if lent and root(name) == STAGES else root(name) or name, line)
    if not foreign:
        return None
    name, line = next(iter(foreign.items()))
    more = and_more(len(foreign) - 1)
    message = f"line {line}: {clipped(name)} is imported, but is unavailable when a stage is checked{more}"
    return Problem("import", message, line, _hint(name, module, packages))


def stand_ins(nodes: Sequence[ast.AST], packages: Sequence[str] = UNSAID) -> tuple[str, ...]:
    """The packages that are not there when the module is checked, each once, in the order of their lines."""
    return tuple(dict.fromkeys(root(name) for _, name in _foreign(nodes, packages) if _may_stand_in(name)))


def only_imports(text: str, packages: Sequence[str]) -> bool:
    """Say whether all that a text could import, at a first look, is Python's or in packages.

    >>> only_imports("import math, numpy as np", ["numpy"]), only_imports("x = 1; import torch", ["numpy"])
    (True, False)
    """
    found = list(_IMPORTS.finditer(text))
    if text.count("import") != len(found) and len(_WORD.findall(text)) != len(found):  # it stands somewhere else, too
        return False
    names = [match[1] or name.strip() for match in found for name in (match[2] or "-").split(",")]
    return all(root(name.split()[0]) in (*packages, *sys.stdlib_module_names) for name in names if name)


def told_of(stood_in: Sequence[str]) -> tuple[str, ...]:
    """Say in one sentence which packages were stood in for; nothing where none was.

    >>> told_of(["torch"])
    ('torch is not available when a stage is checked: the import does nothing, and what uses it fails',)
    """
    if not stood_in:
        return ()
    *others, last = map(clipped, stood_in[:_TOLD])
    names = f"{', '.join(others)} and {last}" if others else last
    verb, what = ("are", "them") if others else ("is", "it")
    more = and_more(len(stood_in) - _TOLD) if len(stood_in) > _TOLD else ""
    told = f"{names}{more} {verb} not available when a stage is checked: "
    return (f"{told}the import does nothing, and what uses {what} fails",)


def _foreign(nodes: Sequence[ast.AST], packages: Sequence[str]) -> list[tuple[int, str]]:
    """Each import of something that is neither Python's nor in packages, with its line."""
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    lent = [each for each in packages if root(each) == STAGES]
    return [
        (line, name)
        for line, name in sorted((node.lineno, name) for node in statements for name in imported(node))
        if root(name) not in packages and root(name) not in sys.stdlib_module_names and not _is_lent(name, lent)
    ]


def _changes_finders(node: ast.AST) -> bool:
    """Say whether a node names what decides how modules are found."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _FINDERS
        case ast.ImportFrom(names=names):
            return any(each.name in _FINDERS for each in names)
    return False


def _may_stand_in(name: str) -> bool:
    """Say whether a name may be that of a package: of no file beside, and of nothing private."""
    return not name.startswith((".", "_")) and root(name) not in _OURS


def _hint(name: str, module: str, packages: Sequence[str]) -> str:
    if name == "grader":
        return "Remove the import: a stage needs nothing from the grader."
    lent = [each for each in packages if root(each) == STAGES]
    if root(name) == STAGES or name.startswith("."):
        may = f" Of other stages it may import {together(lent)}." if lent else ""
        return f"A stage is one file: copy what you need into {module}.{may}"
    needed = f"write, or copy into {module}, what you need from {clipped(name)}."
    *others, last = *packages, "the standard library"
    allowed = f"{', '.join(others)} and {last}" if others else last
    return f"A stage uses {allowed} only: {needed}"


def _is_lent(name: str, lent: Sequence[str]) -> bool:
    """Say whether a dotted name is one of these modules of other stages, is in one, or a package of one."""
    return any(name == each or name.startswith(f"{each}.") or each.startswith(f"{name}.") for each in lent)


def look(
    text: str, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> SourceFindings:
    """The first thing that stands in the way: syntax, then imports, then what the stage forbids those functions."""
    layout = laid_out(text)
    if isinstance(layout, Problem):
        return SourceFindings(layout)
    try:
        problem = import_problem(layout.nodes, module, packages)
        if problem is not None:
            return SourceFindings(problem)
        found = read_forbidden(layout, forbidden, functions)
        return replace(found, stood_in=stand_ins(layout.nodes, packages))
    except RecursionError:
        return SourceFindings(TOO_DEEP)


@lru_cache(4)  # it is asked for before a judge is forked, and again in it
def laid_out(text: str) -> Layout | Problem:
    """Where each part of a module stands; or what stands in the way of reading it."""
    tree = parsed(text)
    if isinstance(tree, Problem):
        return tree
    try:
        return Layout(without_main_block(tree))
    except RecursionError:
        return TOO_DEEP


def look_at_bytes(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> SourceFindings:
    """As look, with the encoding first."""
    text = decoded(source)
    return SourceFindings(text) if isinstance(text, Problem) else look(text, module, forbidden, functions, packages)


MAX_CHARS = 1 << 16
MAX_BRACKETS = 12  # open at a time
MAX_INDENTS = 16  # blocks within blocks
MAX_TOKENS = 300  # of one statement
MAX_SIGNS = 8  # + - ~ in a row: each is a level of the tree
MAX_WORD = 300  # characters of a name or number: constants are folded, and names normalised, in quadratic time
MAX_FIELDS = 8  # brackets in an f-string, which has its own parser
MAX_FSTRING = 400
MAX_NESTING_WORDS = 40  # of one statement: not, lambda, if, …
MAX_ELIFS = 60  # each lies within the one before
MAX_SCOPES = 400  # each is given a copy of the names around it
MAX_EXITS = 2000  # `with` times the ways out of it: each way out has the code of the end of each `with`
MAX_WITH_TOKENS = 40

_NESTING = frozenset({"not", "lambda", "if", "for", "await", "yield", "async", "in", "is", "and", "or"})
_SCOPES = frozenset({"def", "class", "lambda", "for", "type"})
_EXITS = frozenset({"return", "break", "continue"})
_LAYOUT = frozenset({"blank", "newline", "comment", "joined"})
_COUNTED = _NESTING | _SCOPES | _EXITS | {"elif", "with", "finally"}
# No group is repeated possessively: Python before 3.11.5 then misses what is there (3.11.2 is Debian 12's).
_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\f]++)
    |(?P<newline>\n)
    |(?:(?P<string>(?P<prefix>[rRbBuUfFtT]{0,2}+)(?P<quoted>
        '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*''' | \"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"""
        |'(?!'')[^'\\\n]*+(?:\\.[^'\\\n]*+)*' | "(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*" ))
    |(?P<comment>\#[^\n]*+)
    |(?P<word>[\w\x80-\U0010ffff]++)
    |(?P<joined>\\\n)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<sign>[-+~])
    |(?P<other>[.,:;=*/%@&|^<>!]))[ ]*+
    |(?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# An f-string whose fields hold nothing but this ends at the same quote for every version of Python.
_FIELD = r"(?:[^{}\"'\\\n\#]|'[^'\"{}\\\n]*+'(?!')|\"[^'\"{}\\\n]*+\"(?!\"))*"
_FSTRING = re.compile(r"(?:[^{}]|\{\{|\}\}|\{" + _FIELD + r"(?:\{" + _FIELD + r"\}" + _FIELD + r")?\})*")


def is_plain(text: str) -> bool:
    """Say so of a text whose lines end in \\n; True promises that ast.parse and compile take less than a second."""
    if len(text) > MAX_CHARS:
        return False
    look = _Tokens()
    if not all(look.takes(str(found.lastgroup), found) for found in _TOKEN.finditer(text)):
        return False
    return look.withs * look.exits <= MAX_EXITS


class _Tokens:
    """What has been seen on the way through a text."""

    def __init__(self) -> None:
        self.withs = self.exits = self._scopes = self._elifs = self._brackets = 0
        self._indents = [0]
        self._indent = 0  # of the line that begins here
        self._start_statement()

    def _start_statement(self) -> None:
        self._tokens = self._signs = self._nesting = 0
        self._is_with = False

    def takes(self, kind: str, found: re.Match[str]) -> bool:
        """Take one token; False where the text is not plain any more."""
        if kind in _LAYOUT:
            return self._lays_out(kind, found)
        if not self._tokens and not self._begins():
            return False
        self._tokens += 1
        self._signs = self._signs + 1 if kind == "sign" else 0
        limit = MAX_WITH_TOKENS if self._is_with else MAX_TOKENS
        return self._tokens <= limit and self._signs <= MAX_SIGNS and (kind == "other" or self._known(kind, found))

    def _lays_out(self, kind: str, found: re.Match[str]) -> bool:
        if kind == "blank":
            return self._tokens > 0 or self._blank(found[0])
        if kind == "newline":
            if self._tokens and not self._brackets:
                self._start_statement()
            self._indent = 0
        return kind != "joined" or self._tokens > 0

    def _blank(self, blank: str) -> bool:
        self._indent = len(blank)
        return not blank.strip(" ")  # how far a tab indents is for Python to say

    def _begins(self) -> bool:
        """Begin a statement: close the blocks that its indentation ends, or open one."""
        while self._indent < self._indents[-1]:
            self._indents.pop()
        if self._indent > self._indents[-1]:
            self._indents.append(self._indent)
        return len(self._indents) <= MAX_INDENTS

    def _known(self, kind: str, found: re.Match[str]) -> bool:
        if kind == "word":
            word = found["word"]
            return len(word) <= MAX_WORD and (word not in _COUNTED or self._word(word))
        if kind == "string" and set(found["prefix"]) & set("fFtT"):
            self._scopes += found["quoted"].count("for") + found["quoted"].count("lambda")
            return self._scopes <= MAX_SCOPES and _is_plain_fstring(found["quoted"])
        self._brackets += (kind == "open") - (kind == "close")
        return kind != "unknown" and 0 <= self._brackets <= MAX_BRACKETS

    def _word(self, word: str) -> bool:
        self._nesting += word in _NESTING
        self._scopes += word in _SCOPES
        self._elifs += word == "elif"
        self.exits += word in _EXITS
        if word == "with":
            self.withs += 1
            self._is_with = True
        return (
            word != "finally"  # its body is copied for each way out of the try, and for those within it again
            and self._nesting <= MAX_NESTING_WORDS
            and self._scopes <= MAX_SCOPES
            and self._elifs <= MAX_ELIFS
        )


def _is_plain_fstring(quoted: str) -> bool:
    inside = quoted.strip(quoted[0])
    brackets = sum(map(inside.count, "([{"))
    return brackets <= MAX_FIELDS and len(inside) <= MAX_FSTRING and _FSTRING.fullmatch(inside) is not None


# The process has five seconds of processor time, for which a busy machine takes a minute; Windows has no such limit.
WALL_SECONDS = 20.0 if sys.platform == "win32" else 120.0
TOO_LONG = Problem(
    "syntax",
    "Python takes too long to read this module",
    None,
    "Look for very long or deeply nested expressions, and for `finally` within `finally`.",
)
BREAKS_DOWN = Problem(
    "syntax",
    "Python itself breaks down when it reads this module",
    None,
    "Look for very long or deeply nested expressions.",
)


def look_apart(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> SourceFindings:
    """As looking.look_at_bytes; raises GraderFault where the process cannot be started or fails by itself."""
    request = {
        "source": source.decode("latin-1"), "module": module,
        "operators": forbidden.operators, "names": forbidden.names, "reason": forbidden.reason,
        "functions": list(functions), "packages": list(packages),
    }  # fmt: skip
    try:
        process = _started()
    except OSError as error:
        raise GraderFault(f"the process that reads a module cannot be started: {error.strerror}") from error
    with process:
        try:
            answer, _ = process.communicate(json.dumps(request).encode(), WALL_SECONDS)
        except subprocess.TimeoutExpired:
            return SourceFindings(TOO_LONG)
        finally:
            process.kill()
    return _understood(process.returncode, answer)


def _started() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return children.start(
        children.own("grader.submission.reading", site=False),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True,
    )  # fmt: skip


def _understood(code: int, answer: bytes) -> SourceFindings:
    """What the end of the process tells about the text."""
    if code in (-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)) and code != 0:
        return SourceFindings(TOO_LONG)
    if code not in (0, 1):  # a signal, or on Windows the number of an exception such as a stack overflow
        return SourceFindings(BREAKS_DOWN)
    try:
        return _reading(json.loads(answer))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GraderFault(f"the process that reads a module failed (exit code {code})") from error


def _reading(fields: Any) -> SourceFindings:
    refused = {str(name): Problem(**problem) for name, problem in fields["refused"].items()}
    stood_in = tuple(map(str, fields["stood_in"]))
    return SourceFindings(_problem(fields["problem"]), refused, _problem(fields["forbidden"]), stood_in)


def _problem(fields: Any) -> Problem | None:
    return None if fields is None else Problem(**fields)


CPU_SECONDS = 5
MEMORY_BYTES = 512 << 20
TOO_LARGE = Problem(
    "syntax", f"Python needs more than {MEMORY_BYTES >> 20} MB of memory to read this module", None, None
)


def main() -> None:
    """Read a request (look_apart) from standard input, and answer it."""
    _limit()
    request = json.load(sys.stdin.buffer)
    forbidden = Forbidden(tuple(request["operators"]), tuple(request["names"]), request["reason"])
    source = request["source"].encode("latin-1")
    print(json.dumps(asdict(_looked(source, request["module"], forbidden, request["functions"], request["packages"]))))


def _looked(
    source: bytes, module: str, forbidden: Forbidden, functions: Sequence[str] = (), packages: Sequence[str] = UNSAID
) -> SourceFindings:
    try:
        found = look_at_bytes(source, module, forbidden, functions, packages)
    except MemoryError:
        return SourceFindings(TOO_LARGE)
    # Python says MemoryError of a parser that ran out of stack, too.
    return SourceFindings(TOO_LARGE) if found.problem == TOO_DEEP and _peak() > MEMORY_BYTES * 3 // 4 else found


def _limit() -> None:
    """Bound processor time and memory where the system can; the parent bounds the time anyhow."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"CPU": CPU_SECONDS, "AS": MEMORY_BYTES, "CORE": 0, "FSIZE": 0}
    for name, value in limits.items():
        with contextlib.suppress(OSError, ValueError, AttributeError):  # macOS refuses some
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, hard if name == "CPU" else bound))  # beyond the hard limit it is SIGKILL


def _peak() -> int:
    """The most memory that this process has had, in bytes.

    What getrusage says begins, on Linux, with the peak of the process that started this one.
    """
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:
        for line in file:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) << 10
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
