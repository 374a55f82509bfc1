"""What can go wrong, and the exit status each kind of failure ends the command with.

    GraderError                     3  the grader or its machine failed
      CourseError                   3  a lab.toml or the checkout is broken
      ToolchainError                3  no usable compiler, or the C++ programs are not built
      StepError                     3  one of our own programs failed
        UnsupportedError            3  the simulator lacks something that the submission uses
      UsageError                    2  the command line is wrong
        SubmissionError             2  there is nothing here that could be graded

Every message is one sentence, or two: what, where, and what to do next.
A failed check is not an exception: it is part of the result.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of every `grader` command."""

    FULL_MARKS = 0  # every lab that was graded has full marks; other commands: it worked
    LESS = 1  # graded, and points are missing or the lab is not started
    USAGE = 2  # the command line or the submission cannot be used
    MACHINE = 3  # the grader itself or its machine failed: never the student's fault, never a score


class GraderError(Exception):
    """A failure that ends the command with one sentence instead of a result."""

    exit_code = ExitCode.MACHINE


class CourseError(GraderError):
    """The course's own files are broken; the message names the file and the field."""


class ToolchainError(GraderError):
    """Something that grading needs is missing on this machine."""


class StepError(GraderError):
    """One of our own programs (recorder, executor, compiler driver) could not do its work."""


class UnsupportedError(StepError):
    """The simulator or its runtime lacks something; `line` of matmul.cu uses it (0: unknown)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class UsageError(GraderError):
    """The command cannot be carried out as it was given."""

    exit_code = ExitCode.USAGE


class SubmissionError(UsageError):
    """The submission cannot be graded: missing, empty, binary, a folder, unreadable, too large."""
