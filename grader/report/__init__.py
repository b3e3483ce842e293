"""Reports of a verdict: for people in `terminal/`, for machines as documents, each from the same Verdict.

Nothing here grades or stores. Commands, and rooms that show something, import it. Begin with `graded.py`. A format is
one file, and its place stands in `CHECKS` of `formats.py`.
"""
