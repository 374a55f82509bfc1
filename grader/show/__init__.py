"""The page in which a kernel runs: `grader show`."""
