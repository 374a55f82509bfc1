"""One lab from submission to result."""
