"""The marks of a class: submissions are taken and graded in a pool, and a gradebook keeps each mark and its history.

Only commands import it, and what shows marks. Begin with `records.py`; `table.py` gives the final table of marks
(student and stage: points, verdict, lateness, override) to whoever shows or publishes it. `store.py` is the gradebook
on disk, `schema.py` its tables.
"""
