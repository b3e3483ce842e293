"""How a verdict is shown: for people in `terminal/`, for machines as documents, each from the same Verdict.

Nothing here grades or stores. Commands, and rooms that show something, import it. Begin with `graded.py`.
"""
