"""`grader explore`: a learner's own functions on the lesson's example, step by step, in text and in pictures.

The engine is here; the steps of each stage lie in the course, in its folder of drawings. `terminal.py`, `picture.py`
and `document.py` show what was found. Commands, drawings, `capstone`, `watching` and `web` import it. Begin with
`session.py`.
"""
