"""`grader explore`: a learner's own functions on the lesson's example, step by step, in text and in pictures.

The engine is here, the steps of each stage in `stages/`; `terminal/` and `picture/` show what was found. Only commands
import it. Begin with `session.py`.
"""
