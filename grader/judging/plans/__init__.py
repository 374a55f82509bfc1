"""Small changes of a launch plan: what solve would have had to ask for, found by carrying plans out."""
