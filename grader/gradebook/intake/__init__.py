"""What a class handed in: folders, exports of learning platforms and CSV lists, read as data into attempts.

Only `gradebook` and commands enter. Begin with `arrivals.py`, which tells whose a file is; `taking.py` reads it.
"""
