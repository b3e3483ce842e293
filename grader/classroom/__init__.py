"""For instructors: the learner's copy of the course, and receipts for what was graded."""
