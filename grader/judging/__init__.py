"""pytest over one stage's tests, against a learner's process: outcomes of tests, and from them a verdict.

Rooms from `progress` on enter through `grading.py`: a stage, a snapshot and options give a verdict, and a `Grader` that
is kept stays warm. Tests run in a judge (`session.py`), a bounded process of its own (`judge_process.py`), which a
supervisor watches over. `explore` uses a bounded process without a judge.
"""
