"""Commands of the grader carried out in the test's own process.

Starting Python and importing the grader takes longer than most commands do. What only a process of
its own shows (signals, pipes, what is imported) is tested with one.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.cli import main


def run_here(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess:
    """What `python -m grader ARGUMENTS` in the folder `cwd` would have come to."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, open(os.devnull) as nothing:
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["grader", *map(str, arguments)])
        patch.setattr(sys, "stdin", nothing)
        if env is not None:
            for name in [*os.environ]:
                patch.delenv(name)
            for name, value in env.items():
                patch.setenv(name, value)
        status = None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                status = stop.code
    said, warned = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(["grader", *map(str, arguments)], status, said, warned)
