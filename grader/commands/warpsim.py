"""The command `warpsim` of an environment: starts the simulator's program in this process's place.

`warpsim show TRACE` is ours: the page is made here.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from grader.errors import GraderError
from grader.labs.course import find_course
from grader.machine import compiler_wheels
from grader.machine.toolchain import program


def main() -> NoReturn:
    if sys.argv[1:2] == ["show"]:
        os.execv(sys.executable, [sys.executable, "-m", "grader", *sys.argv[1:]])
    try:
        path = program(find_course(), "warpsim")
    except GraderError as error:
        print(f"warpsim: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    nvcc = compiler_wheels.find()
    if nvcc is not None:  # the last place to look for what tells the number of registers
        os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(nvcc.parent)])
    os.execv(path, ["warpsim", *sys.argv[1:]])
