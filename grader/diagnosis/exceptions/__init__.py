"""Explain a common exception of NumPy or Python on a learner's line: one sentence that is true there, or nothing.

Pure: a message, and the place where it was raised. Judging asks for it. Begin with `help.py`; `place.py` is what can be
read from the line, `sizes.py` is about shapes, `values.py` about types, None and calls,
`names.py` about names and about methods such as `__add__`.
"""

from __future__ import annotations

from grader.diagnosis.exceptions.help import help_with, helped, is_of_a_call
from grader.diagnosis.exceptions.place import Place

__all__ = ["Place", "help_with", "helped", "is_of_a_call"]
