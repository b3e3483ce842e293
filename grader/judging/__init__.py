"""pytest over one stage's tests, against a learner's process: outcomes of tests, and from them a verdict.

Rooms from `progress` on enter through `grading.py`: a stage, a snapshot and options give a verdict, and a `Grader` that
is kept stays warm. Tests run in a judge, a bounded process of its own (`judge.py`), which `watchdog.py` watches over;
`processes/` is how such a process is made, and `explore` uses that part alone; `collecting/` has the tests' files.
"""
