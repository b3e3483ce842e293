"""A half-finished stage for `grader demo`; its code is only ever run as a learner's is."""
