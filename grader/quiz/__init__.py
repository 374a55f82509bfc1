"""Questions with numbers that differ by student, and whose answers are computed: `grader quiz`.

A question is data and small functions (bank/, a file for each lab). Its answer comes from the
simulator (counted), from the occupancy calculator, from going through all threads, or from a device
file; a second, independent way computes it again, and a test holds the two against each other.
"""
