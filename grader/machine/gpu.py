"""Is there a GPU that launch plans can run on, and whose turn is it?

Asked of the driver, without CUDA's runtime.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from grader.labs.course import Course


@dataclass(frozen=True)
class Gpu:
    """The first GPU of this machine."""

    name: str  # "NVIDIA H200"
    capability: int  # 90 for 9.0
    driver: str  # CUDA version the driver supports: "13.0"


@functools.cache
def find_gpu() -> Gpu | None:
    """The first usable GPU, or None where there is no driver or no device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        count, device, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value < 1:
            return None
        name = ctypes.create_string_buffer(256)
        major, minor = ctypes.c_int(), ctypes.c_int()
        failed = (
            cuda.cuDeviceGet(ctypes.byref(device), 0)
            or cuda.cuDeviceGetName(name, len(name), device)
            or cuda.cuDeviceGetAttribute(ctypes.byref(major), _CC_MAJOR, device)
            or cuda.cuDeviceGetAttribute(ctypes.byref(minor), _CC_MINOR, device)
            or cuda.cuDriverGetVersion(ctypes.byref(version))
        )
    except (OSError, AttributeError):
        return None
    if failed:
        return None
    driver = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return Gpu(name.value.decode(errors="replace"), major.value * 10 + minor.value, driver)


# CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{MAJOR,MINOR} of the driver's interface.
_CC_MAJOR, _CC_MINOR = 75, 76


def device_file_for(course: Course, gpu: Gpu, default: str) -> str:
    """The device file that describes a GPU: by name, else by compute capability, else `default`."""
    same_capability = default
    for path in sorted((course.root / "common" / "devices").glob("*.json")):
        fields = json.loads(path.read_text())
        if fields["name"].lower() in gpu.name.lower():
            return path.stem
        major, minor = fields["compute_capability"]
        if major * 10 + minor == gpu.capability:
            same_capability = path.stem
    return same_capability


@contextlib.contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Waits for a turn at the GPU among this user's gradings and holds it.

    Any number of plain runs share the GPU; what is timed has it alone, so that gradings side by
    side don't slow each other's kernels. Nothing is left locked by a process that was killed.
    """
    path = os.path.join(tempfile.gettempdir(), f"tilewise-gpu-{os.getuid()}.lock")
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(lock)
