"""The command line: the commands of commands/, and how each of them may end.

Only commands print or end the process. Results go to standard output (or --output), everything
said on the way to standard error. Exit status: see grader.errors.ExitCode.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from grader.commands import options, version
from grader.errors import ExitCode, GraderError
from grader.writers.plain import plain

# Command -> its module in commands/, imported when it is called: grading need not wait for the others.
_MODULES = {
    "run": "run",
    "batch": "batch",
    "study": "study",
    "occupancy": "study",
    "write": "results",
    "explain": "results",
    "course": "course",
    "package": "packaging",
    "autograder": "packaging",
    "publish": "publish",
    "similar": "similar",
    "doctor": "doctor",
    "calibrate": "calibrate",
    "new-lab": "new_lab",
    "show": "show",
    "quiz": "quiz",
    "exam": "exam",
    "status": "student",
    "hint": "student",
    "watch": "student",
    "trace": "trace",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        return getattr(
            import_module(f"grader.commands.{_MODULES[cmd_name]}"), cmd_name.replace("-", "_")
        )


@click.group(
    cls=_Commands, epilog=options.EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=version.show,
    help="Show the version and the commit, and end.",
)
def cli() -> None:
    """Grades CUDA matrix multiplication, on a simulator or a GPU."""


def main() -> NoReturn:
    """The console script: every failure is one sentence and an exit status, never a traceback."""
    code: int = ExitCode.FULL_MARKS
    try:
        code = cli(standalone_mode=False) or 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        code = 130
    except GraderError as error:
        click.echo(f"grader: {plain(str(error))}", err=True)
        code = error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the flush at exit says nothing
        code = ExitCode.MACHINE
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except Exception as error:  # a defect of the grader
        if os.environ.get("TILEWISE_DEBUG"):
            raise
        click.echo(
            f"grader: internal error: {type(error).__name__}: {plain(str(error))}."
            " Set TILEWISE_DEBUG=1 to see where, and please report it.",
            err=True,
        )
        code = ExitCode.MACHINE
    sys.exit(code)


if __name__ == "__main__":
    main()
