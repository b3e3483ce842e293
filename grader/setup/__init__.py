"""A learner's folder: made from the course that comes with an installed grader, and brought up to a newer one.

Only commands import it, and `classroom`, which packs the course. Begin with `edition.py`, then `making.py` and
`planning.py`.
"""
