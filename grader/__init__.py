"""A staged course in numerical machine learning, and the grader that names a learner's mistake."""

__version__ = "0.1.0"
