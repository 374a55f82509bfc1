"""What a submission that cannot be loaded lacks, by the name of the symbol or library alone."""

from __future__ import annotations

import re

# Functions and files of libraries that multiply matrices.
_LIBRARY = r"(?:cublas|cublasLt|nvblas|cudnn|cusparse|cusolver|cutensor)"
_LIBRARY_FUNCTION = re.compile(rf"{_LIBRARY}[A-Z]\w*")
_LIBRARY_NAMESPACE = re.compile(r"_ZNK?7cutlass\w*")  # cutlass::..., mangled
_LIBRARY_FILE = re.compile(rf"lib{_LIBRARY}\.so[.\d]*")
# Functions of the CUDA runtime: those that ours has are never missing.
_RUNTIME_FUNCTION = re.compile(r"(?:__)?cuda[A-Z]\w*")


def code_of(symbol: str) -> str:
    """The diagnostic code of an undefined symbol, given as it stands in the file."""
    if _LIBRARY_FUNCTION.fullmatch(symbol) or _LIBRARY_NAMESPACE.fullmatch(symbol):
        return "library-call"
    return "unsupported" if _RUNTIME_FUNCTION.fullmatch(symbol) else "does-not-compile"


def is_library(name: str) -> bool:
    """Whether a file such as "libcublas.so.13" multiplies matrices."""
    return _LIBRARY_FILE.fullmatch(name) is not None
