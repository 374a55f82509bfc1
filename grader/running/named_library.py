"""Which library that multiplies matrices a compiled submission names, if any.

Names can be hidden, and then this finds nothing: a library is out of reach in the sandbox all the
same, and what it would compute is not recorded. It explains why nothing was launched; it takes no
points from a submission that launches its own kernels.
"""

from __future__ import annotations

import re
from pathlib import Path

_LIBRARIES = re.compile(
    rb"lib(?:cublas|cublasLt|nvblas|cudnn|cusparse|cusolver|cutensor|cuda|openblas|mkl_rt)"
    rb"\.so[.\d]{0,12}"
)


def named_library(shared_object: Path) -> str:
    """ "libcublas.so.13", or "" """
    try:
        found = _LIBRARIES.search(shared_object.read_bytes())
    except OSError:
        return ""
    return found[0].decode().rstrip(".") if found else ""
