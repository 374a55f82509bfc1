"""nvcc's steps, side by side: the host's and the device's passes do not wait for each other.

nvcc runs its programs one after the other. `nvcc --dryrun` says which they are; here they become
one shell script that does the host's front end while the device's code is made, and links at the
end. An nvcc that works in other steps is called as it is.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from grader.labs.course import Course
from grader.machine.toolchain import Toolchain, write_atomically

_VERSION = 1  # of what is kept
_SECONDS = 60
_MODULE_ID = "_{digest}_9_matmul_cu_00000000"  # as nvcc forms it: of static names of the device
_ORDER = ("host-cpp", "cudafe++", "device-cpp", "cicc", "ptxas", "fatbinary", "host-compile")


def script(
    course: Course, toolchain: Toolchain, command: Sequence, link: Sequence, digest: str
) -> list | None:
    """A command that does what nvcc's `command` does, and then links; None if that is unknown."""
    steps = _steps(course, toolchain, tuple(str(word) for word in command))
    if steps is None:
        return None
    settings, lines = steps
    module_id = _MODULE_ID.format(digest=digest[:8])
    text = "\n".join(
        [
            *settings,
            "stop() {",
            '  [ $1 -lt 128 ] || echo "a pass died due to signal $(($1 - 128))" >&2',
            "  exit $1",
            "}",
            f"printf %s {module_id} > matmul.module_id",
            f"{{ {lines['host-cpp']} && {lines['cudafe++']}; }} > host.log 2>&1 &",
            "host=$!",
            "{ "
            + " && ".join(lines[name] for name in ("device-cpp", "cicc", "ptxas", "fatbinary"))
            + "; } > device.log 2>&1",
            "device=$?",
            # What the host's front end says comes first, and alone if it stops there.
            "wait $host; code=$?; cat host.log >&2; [ $code -eq 0 ] || stop $code",
            "cat device.log >&2; [ $device -eq 0 ] || stop $device",
            f"{lines['host-compile']} || stop $?",
            shlex.join(str(word) for word in link),
        ]
    )
    return ["/bin/sh", "-c", text]


def _steps(
    course: Course, toolchain: Toolchain, command: tuple[str, ...]
) -> tuple[list[str], dict[str, str]] | None:
    """Settings of the environment and the steps' command lines, as this nvcc gave them once."""
    stamp = [_VERSION, str(toolchain.nvcc), toolchain.nvcc.stat().st_mtime_ns, *command]
    note = course.cache / "passes.json"
    try:
        known = json.loads(note.read_text())
        if known["stamp"] == stamp:
            return known["steps"] and (known["steps"][0], known["steps"][1])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = _asked(command)
    write_atomically(note, json.dumps({"stamp": stamp, "steps": found}))
    return found


@functools.lru_cache(maxsize=8)
def _asked(command: tuple[str, ...]) -> tuple[list[str], dict[str, str]] | None:
    try:
        ended = subprocess.run(
            [command[0], "--dryrun", "--keep", *command[1:]],
            capture_output=True, text=True, timeout=_SECONDS, cwd="/",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read(ended.stderr) if ended.returncode == 0 else None


def read(dryrun: str) -> tuple[list[str], dict[str, str]] | None:
    """What nvcc --dryrun --keep says, taken apart; None if a step is missing or unknown."""
    settings, found = [], {}
    for line in dryrun.splitlines():
        if not line.startswith("#$ "):
            continue
        line = line[3:].strip()
        setting = re.fullmatch(r"(\w+)=(.*)", line)
        if setting:
            name, value = setting[1], setting[2].strip()
            if name in ("PATH", "LD_LIBRARY_PATH", "CICC_PATH", "NVVMIR_LIBRARY_DIR", "TOP"):
                settings.append(f"export {name}={shlex.quote(value)}")
            continue
        name = _step_of(line)
        if name == "rm":
            continue
        if name is None or name in found:
            return None
        found[name] = line
    if sorted(found) != sorted(_ORDER):
        return None
    # The module's name is given, so that nobody waits for it.
    without = found["cudafe++"].replace("--gen_module_id_file ", "")
    path = re.search(r'--module_id_file_name "([^"]*)"', without)
    if without == found["cudafe++"] or path is None or Path(path[1]).name != "matmul.module_id":
        return None
    # nvcc names the folder that it was called in; the script runs in another one.
    found["cudafe++"] = without
    if any("/matmul." in line.replace(_source_path(line), "") for line in found.values()):
        return None
    found = {name: _here(line) for name, line in found.items()}
    return settings, found


def _source_path(line: str) -> str:
    path = re.search(r'--orig_src_path_name "[^"]*"', line)
    return path[0] if path else "\0"


def _here(line: str) -> str:
    return re.sub(r'--orig_src_path_name "[^"]*"', '--orig_src_path_name "$PWD/matmul.cu"', line)


def _step_of(line: str) -> str | None:
    program = os.path.basename(line.split()[0].strip('"'))
    if program in ("cudafe++", "cicc", "ptxas", "fatbinary", "rm"):
        return program
    if " -E " in line:
        return "device-cpp" if "-D__CUDA_ARCH__=" in line else "host-cpp"
    if " -c " in line and "cudafe1.cpp" in line:
        return "host-compile"
    return None
