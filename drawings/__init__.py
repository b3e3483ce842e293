"""What `grader explore` shows of each stage: a folder a stage, its steps and what is drawn of them.

The grader reads `plans.py`, the table of all stages, and only that imports the rest. Begin there.
"""
