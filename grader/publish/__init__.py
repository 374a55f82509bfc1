"""`grader publish`: grades to a platform, over LTI 1.3 Assignment and Grade Services 2.0.

A grade is written to the journal before it is sent and after the platform has taken it, so that a
run that is stopped at any moment goes on without sending anything twice. What a stop has left in
doubt is read back from the platform.
"""
