"""What a test asked a learner's process and what it was answered, so that another form of the module is asked alike.

How a test ends follows from the answers that it is given. Where the same questions are answered as they were when it
passed, it passes, and nothing of it but its questions has to be repeated. Begin with `asking.py`; `judging` comes in.
"""
