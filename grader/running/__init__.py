"""From a submission to what happened: compile, record, execute, time."""
