"""How the bytes that a program copies to the host differ between the GPU and warpsim, and what may be the reason."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy

# Of single precision, computed with a table on the GPU and rounded correctly by warpsim.
APPROXIMATE = re.compile(
    r"\b(ex2|lg2|sin|cos|tanh|rsqrt|rcp|sqrt|div)\.(?:approx|full)(?:\.ftz)?\.f(32|64)\b"
)


def approximate(program: Path) -> list[str]:
    if shutil.which("cuobjdump") is None:
        return []
    ptx = subprocess.run(["cuobjdump", "-ptx", str(program)], capture_output=True, text=True)
    found = {f"{name}.f{bits}" for name, bits in APPROXIMATE.findall(ptx.stdout)}
    return sorted(found)


def distance(ours: numpy.ndarray, theirs: numpy.ndarray) -> numpy.ndarray:
    """In steps from one number of this precision to the next; the arrays hold the bits as integers."""
    lowest = numpy.iinfo(ours.dtype).min
    order = [
        numpy.where(bits < 0, lowest - bits, bits).astype(numpy.float64) for bits in (ours, theirs)
    ]
    return numpy.abs(order[0] - order[1])


def of_files(theirs: Path, ours: Path) -> dict:
    """Copies that differ; of the bytes on both sides, words that differ, and how far they lie apart as floats."""
    listed = [path.read_text().splitlines() if path.exists() else [] for path in (theirs, ours)]
    sizes = [[int(line.split()[0]) for line in lines] for lines in listed]
    found: dict = {
        "copies": [len(lines) for lines in listed],
        "differ": sum(a != b for a, b in zip(*listed, strict=False)),
        "same_sizes": sizes[0] == sizes[1],
    }
    files = [Path(f"{path}.bytes") for path in (theirs, ours)]
    if not all(file.exists() for file in files):
        return found  # nothing was copied on one side
    data = [numpy.fromfile(file, numpy.uint8) for file in files]
    count = min(len(data[0]), len(data[1])) // 8 * 8
    if not found["same_sizes"] or not count:
        return found
    for name, kind in (("f32", numpy.int32), ("f64", numpy.int64)):
        a, b = (one[:count].view(kind) for one in data)
        differ = a != b
        steps = distance(b[differ], a[differ])
        if len(steps):
            found[name] = {
                "words": len(a),
                "differ": len(steps),
                "median": float(numpy.median(steps)),
                "highest": float(steps.max()),
            }
    return found
