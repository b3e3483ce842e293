"""What `grader explore` shows of each stage: its steps, one module a stage; `pictures/` holds what is drawn of them.

The grader reads `plans.py`, the table of all stages, and only that imports the rest. Begin there.
"""
