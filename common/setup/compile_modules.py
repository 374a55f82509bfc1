#!/usr/bin/env python3
"""Compiles to .pyc what grading imports, for where Python itself may not write it
(PYTHONDONTWRITEBYTECODE, as in many container images): half a second less for each report.

    .venv/bin/python common/setup/compile_modules.py
"""

import contextlib
import importlib
import py_compile
import sys

# A report from its start to its end.
MODULES = (
    "grader.cli", "grader.commands.run", "grader.commands.student", "grader.pipeline.conclude",
    "grader.pipeline.grade", "grader.writers.text", "rich.console", "rich.status",
)  # fmt: skip


def main() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if path.endswith(".py") and module.__name__ != "__main__":
            # The system's own modules may lie where this user does not write.
            with contextlib.suppress(OSError):
                py_compile.compile(path, quiet=1)


if __name__ == "__main__":
    main()
