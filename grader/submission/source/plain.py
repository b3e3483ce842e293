"""Whether a text is plain: one look along it shows that Python reads it at once, with a shallow stack.

Python's parser and compiler have inputs that take them minutes, gigabytes or the whole stack. All need something that a
module of a stage does not have: great size, depth, or length of a statement, or bodies that the compiler copies. What
has one of these is not refused, but read in another process (apart.py), which costs a tenth of a second.
"""

from __future__ import annotations

import re

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
# No group is repeated possessively: Python before 3.11.5 then misses what is there (3.11.2 is Debian 12's).
_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\f]++)
    |(?P<string>(?P<prefix>[rRbBuUfFtT]{0,2}+)(?P<quoted>
        '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*''' | \"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"""
        |'(?!'')[^'\\\n]*+(?:\\.[^'\\\n]*+)*' | "(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*" ))
    |(?P<comment>\#[^\n]*+)
    |(?P<word>[\w\x80-\U0010ffff]++)
    |(?P<newline>\n)
    |(?P<joined>\\\n)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<sign>[-+~])
    |(?P<other>[.,:;=*/%@&|^<>!])
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
    look = _Look()
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or not look.takes(str(found.lastgroup), found):
            return False
        position = found.end()
    return look.withs * look.exits <= MAX_EXITS


class _Look:
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
        match kind:
            case "blank":
                return self._blank(found[0])
            case "comment":
                return True
            case "joined":
                return self._tokens > 0
            case "newline":
                if self._tokens and not self._brackets:
                    self._start_statement()
                self._indent = 0
                return True
        if not self._tokens and not self._begins():
            return False
        self._tokens += 1
        self._signs = self._signs + 1 if kind == "sign" else 0
        limit = MAX_WITH_TOKENS if self._is_with else MAX_TOKENS
        return self._tokens <= limit and self._signs <= MAX_SIGNS and self._known(kind, found)

    def _blank(self, blank: str) -> bool:
        if self._tokens:
            return True
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
        match kind:
            case "string" if set(found["prefix"]) & set("fFtT"):
                self._scopes += found["quoted"].count("for") + found["quoted"].count("lambda")
                return self._scopes <= MAX_SCOPES and _is_plain_fstring(found["quoted"])
            case "word":
                return len(found[0]) <= MAX_WORD and self._word(found[0])
            case "open":
                self._brackets += 1
            case "close":
                self._brackets -= 1
        return 0 <= self._brackets <= MAX_BRACKETS

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
