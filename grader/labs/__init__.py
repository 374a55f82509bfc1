"""What to grade, and how: the course, its labs, submissions, data, options."""
