"""What grading one lab gives: the result, what students see of it, results read back."""
