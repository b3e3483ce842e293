"""Which small slip explains a wrong answer: changes of the reference that answer as the learner's module did.

Trusted; `diagnostician.py` and `evidence.py` import it. Begin with `search.py`: it tries the changes, which `schema.py`
puts into one function, one after the other; `wording/` says what a change is without a line of the reference.
"""
