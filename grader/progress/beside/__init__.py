"""The reference beside a learner's own module, function by function: how each is written, and how long it takes.

Only for stages that have passed. Begin with `comparison.py`; `pieces.py` reads a module's text, `timing.py` measures.
"""
