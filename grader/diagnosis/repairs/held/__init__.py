"""What a learner's functions hold while they answer, and what tells one value from another.

For the search of repairs. Begin with `seen.py`; `prints.py` is what stands for a value, `scale.py` by which factor one
is wrong.
"""
