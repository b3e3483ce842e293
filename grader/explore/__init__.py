"""`grader explore`: a learner's own functions on a short sentence, step by step, and which word attends to which."""
