"""The marks of a class: submissions are taken and graded in a pool, and a gradebook keeps each mark and its history.

Only commands and `similarity` import it. Begin with `grade_class.py`, which runs all of it, and resumes it
(`class_run.py`: the lock, and what a run shares). `roster.py` and `submissions.py` tell whose a file is, `intake.py`
reads it, `job.py` grades it in a process of `pool.py` or `cluster.py`, and `store.py` keeps what came of it. `marks.py`
and `policy.py` say what that is worth; `table()` gives the final marks to whoever shows or publishes them, as
`exports.py`, `pages.py` and `dossier.py` do.
"""
