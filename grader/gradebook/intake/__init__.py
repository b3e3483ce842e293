"""What a class handed in: folders, exports of learning platforms and CSV lists, read as data into attempts.

Only `gradebook` and commands enter. Begin with `listing.py`, which tells whose a file is; `taking.py` reads it.
"""
