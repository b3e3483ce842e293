"""What a learner has passed and unlocked, and what helps beside a check: hints, starting over, the solution.

Commands, reports and the rooms for instructors may import it. Begin with `state.py`, then `actions.py`; the file on
disk is `store.py`; `beside/` compares a solution with a learner's own module.
"""
