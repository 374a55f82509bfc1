"""`grader new-lab`: a folder that grades, to be changed line by line into a lab of one's own.

Its kernel writes y[i] = 2 x[i]: the least that has an input, an output, a size and a guard.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.errors import CourseError, UsageError
from grader.labs.course import Course

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)

_LAB_TOML = """\
# NAME. docs/writing-a-lab.md explains this file.

id = "NAME"
title = "TITLE"
order = 100
summary = "Every element, twice as large."

[problem]
memory = "device"
solve = "const float* x, float* y, int n"
work = "n"

[problem.arrays.x]
shape = ["n"]

[problem.arrays.y]
shape = ["n"]

[[cases]]
id = "n8"
title = "8 elements"
n = 8
data = "integers"
role = "toy"

[[cases]]
id = "n1000"
title = "1000 elements: the last block has more threads than are left"
n = 1000

[[cases]]
id = "secret"
title = "a size you don't see"
n = 777
hidden = true

[[cases]]
id = "n65536"
title = "65536 elements, for the counts"
n = 65536
role = "performance"

[[checks]]
id = "sizes"
group = "correctness"
points = 60
title = "y is right for every size"
kind = "outputs"
cases = ["n8", "n1000", "secret", "n65536"]

[[checks]]
id = "memory"
group = "safety"
points = 20
title = "nothing outside the arrays is touched, y is written, x is not"
kind = "clean"
codes = ["out-of-bounds-global", "race-global", "host-crash", "api-error", "no-launch", "launch-config", "timeout", "input-modified", "unwritten-output", "host-computed"]
cases = ["n8", "n1000", "secret", "n65536"]

[[checks]]
id = "coalesced"
group = "performance"
points = 20
title = "neighbours load neighbours"
kind = "counter"
case = "n65536"
value = "loaded_sectors * 8 / n"
at_most = 1.1
none_at = 8
message = "sectors loaded, as a multiple of those that x fills"
needs = ["sizes"]

[[hints]]
for = ["out-of-bounds-global", "memory"]
tiers = [
  "The last block may have more threads than there are elements.",
  "TODO(1): which threads may load and store?",
  "if (i < n) y[i] = 2.0f * x[i];",
]

[[hints]]
for = ["sizes", "wrong-result", "unwritten-output", "coalesced"]
tiers = [
  "One thread computes one element, and neighbours have neighbouring elements.",
  "The index of the element is made of the block's index, the block's size and the thread's index.",
  "int i = blockIdx.x * blockDim.x + threadIdx.x;",
]
"""

_REFERENCE = '''\
"""What y must hold. Arrays come as float64, numbers as they are."""


def reference(x):
    return 2 * x
'''

_SOLUTION = """\
// NAME: y[i] = 2 x[i].
//
//   make grade LAB=NAME                                   grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it

#include "check.h"

constexpr int BLOCK = 256;

__global__ void kernel(const float* x, float* y, int n) {
  // TODO(1): which element is this thread's? If there is one, write it. (about 2 lines)
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
  // END TODO(1)
}

// x, y: device pointers.
void solve(const float* x, float* y, int n) {
  kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, n);
  CHECK(cudaGetLastError());
}
"""

_README = """\
# TITLE

What the lab is about, in one paragraph.

1. `TODO(1)`: what to do first.

`make grade LAB=NAME`
"""


def skeleton_of(solution: str) -> str:
    """The file without what stands between the TODO marks."""
    kept, inside = [], False
    for line in solution.splitlines(keepends=True):
        inside = inside and not line.lstrip().startswith("// END TODO(")
        if not inside:
            kept.append(line)
        inside = inside or line.lstrip().startswith("// TODO(")
    return "".join(kept)


def make(course: Course, name: str) -> list[Path]:
    """Writes exercises/NAME and solutions/NAME; the files. Raises UsageError or CourseError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be a lab's name: lower-case letters, digits and '-', a letter first."
        )
    folder, solution = course.exercises / name, course.solutions / name
    for place in (folder, solution, course.labs / name):
        if place.exists():
            raise UsageError(f"There is a {place} already: choose another name.")
    title = name.replace("-", " ").capitalize()
    files = {
        folder / "lab.toml": _LAB_TOML,
        folder / "reference.py": _REFERENCE,
        folder / "matmul.cu": skeleton_of(_SOLUTION),
        folder / "README.md": _README,
        solution / "matmul.cu": _SOLUTION,
    }
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("NAME", name).replace("TITLE", title), encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}.") from None
    return list(files)
