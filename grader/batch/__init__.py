"""`grader batch`: a whole class at once.

    names       who an entry of an export belongs to, as its name tells
    platforms   which platform an export comes from, and whose its entries are
    intake      what each student handed in, in the order of their keys
    choose      which of a student's files is which lab's
    roster      the platform's own list of students: who is missing, and their ids
    times       when each student handed in
    credit      what counts: late days, decisions of the instructor, beside the grade
    units       what is graded: one file for one lab, under a key of all that its result depends on
    store       the batch's folder: results of units, written whole or not at all
    worker      grades one unit, in a process of its own
    local       runs workers on this machine
    slurm       runs them on a cluster, as one job array
    run         the whole batch, from export to gradebook
    gradebook   CSV files as the platforms import them
    feedback    pages for students in a zip that the platform takes back
    changed     what is different from the last gradebook
    history     since when somebody has had their points
    termtable, classpage   several batches in one table; the class on one page
    summary     what the class did, as Markdown and JSON
    memory, progress   how much memory a batch takes, how far it is
    similarity  which files resemble each other, if asked for; likeness: by what
    command     the command line

What is in the folder decides what is left to do: a batch that was killed goes on when it is
started again, and one whose labs or grader changed grades what they concern.
"""
