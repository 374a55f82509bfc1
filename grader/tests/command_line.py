"""`grader` as it is called, without a process of its own: what it says and its exit status."""

from __future__ import annotations

import contextlib
import io
import sys
from types import SimpleNamespace
from unittest import mock

from grader.cli import main
from grader.tests.conftest import REPOSITORY


def call(*words: object) -> SimpleNamespace:
    """Runs one command in the checkout."""
    out, said = io.StringIO(), io.StringIO()
    code = None
    with (
        mock.patch.object(sys, "argv", ["grader", *map(str, words)]),
        contextlib.chdir(REPOSITORY),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(said),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    assert code is not None and "internal error" not in said.getvalue(), said.getvalue()
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=said.getvalue())
