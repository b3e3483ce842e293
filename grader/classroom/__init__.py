"""For instructors and their CI: learners' copies of the course, receipts for what was graded, published results.

Only commands and `web` import it. Begin with `release.py` (copies), `receipt.py` (signed results) and `publish.py`
(CI). `collecting.py` takes verdicts of CI into a gradebook, `canvas.py` writes marks into Canvas.
"""
