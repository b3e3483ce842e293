"""What is told of a repair: the way back, from what belongs in a learner's line to what stands there.

The words of single expressions are those of `diagnosis/slips/wording`. Begin with told.py.
"""
