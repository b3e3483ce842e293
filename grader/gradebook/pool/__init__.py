"""Processes that stay warm and outlive each other: an executor as in concurrent.futures, for judges that may die.

Only `gradebook` enters. Begin with `executor.py`; `admission.py` decides how many work at once.
"""
