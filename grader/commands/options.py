"""Options that several commands have, written once."""

from __future__ import annotations

from pathlib import Path

import click

from grader import writers

# What every command that grades ends its help with.
EPILOG = (
    "Exit status: 0 full marks (or: it worked), 1 less, 2 usage or a submission that cannot be"
    " read, 3 the grader or its machine failed."
)

submission = click.option(
    "--submission",
    type=click.Path(path_type=Path),
    help="A file, a lab folder, or a tree laid out like labs/. Default: labs/.",
)
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "sim", "gpu", "both"]),
    default="auto",
    show_default=True,
    help="sim: the simulator. both: it judges, and a GPU adds the clock. gpu: on a GPU alone."
    " auto is both where a usable GPU is found, else sim.",
)
device = click.option("--device", help="Device file whose limits hold, such as h200.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the input data. Default: 1."
)
course_file = click.option(
    "--course",
    "course_file",
    type=click.Path(path_type=Path),
    help="The term's course.toml. Default: that of the checkout, if there is one.",
)
wheel = click.option(
    "--wheel",
    help="A wheel of the course, file or https:// address, for set-up to install instead of building."
    " Default: that of course.toml.",
)
output = click.option(
    "--output", type=click.Path(path_type=Path), help="Write the report to this file."
)
weights = click.option(
    "--weights", default="", help="Points of labs, as 01=10,02=20. Default: 100 each."
)


def format_of_results(default: str):
    """--format: any format that there is a writer for."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(list(writers.FORMATS)),
        default=default,
        show_default=True,
    )
