"""`grader watch`: a stage is graded again each time its module is saved, and the screen says what is wrong first.

Only commands and `web` import it. Begin with `session.py`, which decides what happens; `grading_process.py` and
`service.py` are the two ends of a process that stays warm and grades, `saves.py` notices saves; `tui.py` and `plain.py`
show it all.
"""
