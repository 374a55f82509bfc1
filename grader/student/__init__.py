"""What only students use: hints, progress, `grader watch`."""
