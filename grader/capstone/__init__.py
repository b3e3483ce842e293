"""`grader capstone`: a course's last project is trained in the sandbox, on the learner's own modules, and writes.

What is trained stands in the course (`plan.py` reads it); a script of the course runs where a learner's module would.
Only commands and `classroom` import it. Begin with `session.py`; `checkpoint.py` is what survives an end at any moment.
"""
