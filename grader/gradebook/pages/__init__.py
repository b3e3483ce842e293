"""The report of a class: one page of figures for whoever teaches, and a page of feedback for each student.

Only commands enter. Begin with `writing.py`; `sheets.py` reads the gradebook student by student, `figures.py` counts,
and `page.py` makes HTML of it.
"""
