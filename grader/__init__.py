"""Tilewise's grader: compiles, records, executes and judges one `matmul.cu` per lab.

The modules follow the data:

    cli         the command line: the only module that prints or exits
    course      where the labs, the build and the cache are
    lab         lab.toml as frozen dataclasses
    submission  what the student handed in, and whether it can be graded at all
    compile     nvcc, its messages, the cache of compiled files
    record      the launch plan of a submission
    execute     a plan carried out on the simulator or a GPU
    data        inputs of the cases;  numerics, patterns: is P right, and how is it wrong
    explain     diagnostics as sentences a student understands
    rubric      checks and points
    grade       the pipeline of one lab, from file to result;  conclude: putting results together
    result      what comes out;  writers: the same as text, JSON, ...
"""

__version__ = "0.1.0"
