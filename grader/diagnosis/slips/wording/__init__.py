"""What a change of the reference is, in words that a learner knows, and without a line of the reference.

Pure functions of syntax trees. `sentences.py` is the way in; `phrases.py` names single values.
"""
