"""A learner's folder: made from the course that comes with an installed grader, and brought up to a newer one.

Only commands import it, `doctor`, and `authoring` and `classroom`, which pack the course. Begin with `edition.py`, then
`making.py` and `updating.py`.
"""
