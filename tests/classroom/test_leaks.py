"""Hidden text is found wherever it is left, in whatever form; what learners are meant to read is not taken for it."""

from __future__ import annotations

import ast
import base64
import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Callable

import pytest

from grader.classroom.leaks import BLOCK, LEAST, Leak, _statements, _wholes, leaks
from grader.course.stub import stub_of

SOLUTION = '''\
"""Weights of attention, by their formula."""

import numpy as np


def weights(scores):
    """Return the softmax of scores along their last axis.

    Rows that are masked everywhere come out as zeros, never as NaN.
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)  # so that exp cannot overflow
    e = np.exp(shifted)
    return e / e.sum(-1, keepdims=True)


def tiny(x):
    y = x + 1
    z = y * 2
    return z - 3
'''
MISTAKES = """\
@mistake(criterion="weights", replaces="weights", text="The maximum is left in, so that exp "
         "overflows for large scores.", fix="Subtract the maximum first.")
def overflow(scores):
    return np.exp(scores)
"""
HIDDEN = {
    "s90/solution.py": SOLUTION,
    "s90/mistakes.py": MISTAKES,
    "s90/equivalent.toml": 'was = "e / e.sum(-1, keepdims=True)"\n',
}
PUBLIC = [stub_of(SOLUTION)]
LINE = "shifted = scores - scores.max(axis=-1, keepdims=True)"
TEXT = "The maximum is left in, so that exp overflows for large scores."


def found(data: bytes | str, name: str = "README.md") -> list[Leak]:
    return leaks({name: data.encode() if isinstance(data, str) else data}, HIDDEN, PUBLIC)


def test_what_a_learner_is_meant_to_have_is_no_leak() -> None:
    assert found(stub_of(SOLUTION), "weights.py") == []
    assert found("import numpy as np\nRows that are masked everywhere come out as zeros, never as NaN.\n") == []


def test_a_leak_names_the_file_and_where_the_text_is_from_and_does_not_repeat_it() -> None:
    (leak,) = found(f"A hint: `{LINE}`\n")
    assert leak == Leak("README.md", "s90/solution.py:11")


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        f"        {LINE}",
        LINE.replace(" ", "   "),
        f"x = 1; {LINE}",
        f"# {LINE}",
        TEXT,
        TEXT.replace(" left in,", "\nleft in,"),
        'here was = "e / e.sum(-1, keepdims=True)"',
        "keepdims=True)  # so that exp cannot overflow".join(["shifted = scores - scores.max(axis=-1, ", ""]),
    ],
)
def test_lines_statements_strings_and_comments_are_found(text: str) -> None:
    assert found(text)


def test_what_is_too_short_to_stand_in_one_place_only_is_passed_over() -> None:
    assert len("e / e.sum(-1, keepdims=True)") < LEAST
    assert not found("e / e.sum(-1, keepdims=True)")


def test_code_that_is_laid_out_in_another_way_is_found_in_python_files() -> None:
    text = "def f(scores):\n    shifted = (scores -\n        scores . max(axis = - 1,\n        keepdims = True))\n"
    assert found(text, "grader/other.py")


def test_the_short_statements_of_one_function_are_found_together() -> None:
    assert found("def renamed(x):\n    y = x+1\n    z = y*2\n    return z-3\n", "grader/other.py")
    assert not found("def renamed(x):\n    y = x+1\n    return y\n", "grader/other.py")


def test_a_string_that_holds_a_program_is_found() -> None:
    assert found(f"SOURCE = {SOLUTION!r}\n", "grader/other.py")
    assert found(json.dumps({"solution": SOLUTION}), "grader/other.json")
    assert found(json.dumps({"mistake": TEXT}), "grader/other.json")


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("solution.py", data)
    return file.getvalue()


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    "pack",
    [
        zlib.compress,
        gzip.compress,
        deflated,
        bz2.compress,
        lzma.compress,
        zipped,
        base64.b64encode,
        base64.urlsafe_b64encode,
    ],
)
def test_packed_and_encoded_text_is_found(pack: Callable[[bytes], bytes]) -> None:
    assert found(pack(SOLUTION.encode()), "grader/data.bin")
    assert found(base64.b64encode(pack(SOLUTION.encode())), "grader/data.txt")
    assert not found(pack(stub_of(SOLUTION).encode()), "grader/data.bin")


@pytest.mark.parametrize(
    "data", [b"PK\x05\x06" + bytes(18), b"BZh9", b"\xfd7zXZ\x00", b"\x1f\x8b", b"\xff" * 100, b"A" * 41, b""]
)
def test_what_only_looks_packed_is_passed_over(data: bytes) -> None:
    assert found(data, "grader/data.bin") == []


def test_python_that_cannot_be_parsed_is_looked_at_as_text() -> None:
    assert found(f"def f(:\n    {LINE}\n", "grader/broken.py")


def test_hidden_files_that_cannot_be_parsed_are_known_by_their_lines() -> None:
    hidden = {"s90/solution.py": f"def f(:\n    {LINE}\n"}
    assert leaks({"a.md": LINE.encode()}, hidden, []) == [Leak("a.md", "s90/solution.py:2")]


def test_imports_give_nothing_away() -> None:
    line = "from collections.abc import Callable, Mapping, Sequence"
    assert leaks({"a.py": line.encode()}, {"s90/oracles.py": f"{line}\n"}, []) == []


def test_what_silences_numpy_gives_nothing_away() -> None:
    header = 'with np.errstate(divide="ignore", over="ignore"):'
    hidden = f"{header}\n    tell_what_is_hidden_here = 1\n"
    assert leaks({"a.py": f"{header}\n    pass\n".encode()}, {"s90/solution.py": hidden}, ()) == []
    longer = f"{header} tell_what_is_hidden_here = 1\n"
    assert leaks({"a.py": longer.encode()}, {"s90/solution.py": longer}, ())


NESTED = '''
"""A module that says what it holds, and more."""
class Layer(Base):
    """A layer that is documented in its own string."""
    @property
    def weights(self):
        """Return the weights, as they are 'now' and "then"."""
        if self.frozen_weights is None:
            raise ValueError(f"no {self.name!r} weights are known to this layer")
        elif self.other_weights is not None:
            return (self.other_weights * 2 + 1, [row for row in self.rows])
        try:
            with opened(self.place) as file, locked(file) as lock:
                self.frozen_weights = lock.read_all_of_it(file)
        except (OSError, ValueError) as error:
            "A string in the middle of a block of statements"
            return lambda x: x + self.rows_of_other_layers[0]
        async def nested_within(given, *rest, **more):
            match given:
                case {"weights": found, **others}:
                    return found @ self.other_weights.swapaxes(0, 1)
        return nested_within
'''


def test_every_piece_of_a_module_stands_in_what_is_looked_through() -> None:
    """Only outermost statements and strings are rewritten for that, and a piece may lie deep within."""
    wholes = list(_wholes(NESTED))
    pieces = [piece for piece, _ in _statements(ast.parse(NESTED)) if len(piece) >= LEAST]
    assert len(pieces) > 15
    assert not [piece for piece in pieces if not any(piece in whole for whole in wholes)]


def test_a_statement_within_others_is_written_as_it_would_be_alone() -> None:
    tree = ast.parse(NESTED)
    alone = {" ".join(ast.unparse(node).split()) for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    assert alone <= {piece for piece, _ in _statements(tree)}


def test_a_fragment_is_found_where_two_blocks_of_places_meet() -> None:
    secret = "the hidden sentence that nobody is to read before its time"
    for before in range(BLOCK - len(secret) - 1, BLOCK + 2):
        assert leaks({"a.txt": b"." * before + secret.encode()}, {"h.txt": secret}, ())
