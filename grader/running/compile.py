"""From `matmul.cu` to a shared object, once per identical file.

    nvcc -c (host object with embedded PTX and line information), its passes side by side
    g++ -shared against our own CUDA runtime; nvcc's link step is not needed

The result lies in build/cache under the hash of everything that went in. A failure that the
source explains is kept too; a time-out or a failing machine is not.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from grader import sandbox
from grader.errors import StepError, ToolchainError
from grader.labs.course import Course
from grader.labs.submission import FILE_NAME
from grader.machine.toolchain import Toolchain, write_atomically
from grader.running import passes
from grader.sandbox.limits import StepLimits
from grader.text import clean, lines_of

_FILE_BYTES = 128 << 20  # of each file the compiler writes
_FOLDER_BYTES = 512 << 20
_STALLED_SECONDS = 300  # on the clock: then the machine is to blame
_LINE = 2000  # characters of the compiler's that are looked at
CACHE_BYTES = 1 << 30  # of all compiled files together
_KEPT = (FILE_NAME, "compile.json", "submission.so")
_VERSION = "3"  # of this module's command lines: part of every key


@dataclass(frozen=True)
class CompileError:
    """Why a file does not compile: the compiler's first error."""

    line: int  # of matmul.cu, 1-based; 0 where the compiler names none
    message: str
    more: int = 0  # further errors after the first
    stopped: bool = False  # by a limit: another machine, or another hour, may say otherwise


@dataclass(frozen=True)
class Warned:
    """A warning of the compiler about matmul.cu."""

    line: int  # 1-based
    message: str


@dataclass(frozen=True)
class _Build:
    """Where one file is compiled, and with what."""

    course: Course
    toolchain: Toolchain
    scratch: Path
    architecture: int
    limits: StepLimits


@dataclass(frozen=True)
class Compiled:
    """A shared object that the recorder can load."""

    folder: Path  # also holds matmul.cu, whose path line information speaks of
    shared_object: Path
    key: str
    warnings: tuple[Warned, ...] = ()


def compile_submission(
    course: Course,
    toolchain: Toolchain,
    content: bytes,
    architecture: int,
    limits: StepLimits | None = None,
) -> Compiled | CompileError:
    """Compiles for one compute capability (90 for 9.0). Raises StepError if nvcc itself breaks."""
    key = _key(course, toolchain, content, architecture)
    folder = course.cache / "compiled" / key
    cached = _load(folder, key)
    if cached is not None:
        return cached
    course.cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="compile-", dir=course.cache))
    try:
        (scratch / FILE_NAME).write_bytes(content)
        build = _Build(course, toolchain, scratch, architecture, limits or StepLimits())
        error, output = _both_passes(build, hashlib.sha256(content).hexdigest())
        if error is not None and error.stopped:
            return error
        note = {"error": error and vars(error), "warnings": [vars(w) for w in warnings_in(output)]}
        write_atomically(scratch / "compile.json", json.dumps(note))
        for path in scratch.iterdir():  # what the passes handed to each other
            if path.name not in _KEPT and path.is_file():
                path.unlink()
        _publish(scratch, folder)
        prune(folder.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    result = _load(folder, key)
    if result is None:
        raise StepError(f"{folder} could not be written: is the disk full?")
    return result


def _key(course: Course, toolchain: Toolchain, content: bytes, architecture: int) -> str:
    digest = hashlib.sha256(content)
    words = [_VERSION, str(toolchain.nvcc), toolchain.version, toolchain.cxx, str(architecture)]
    digest.update("\0".join([*words, _include_digest(course)]).encode())
    return digest.hexdigest()[:32]


@functools.cache
def _include_digest(course: Course) -> str:
    digest = hashlib.sha256()
    for path in sorted(course.include.rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _load(folder: Path, key: str) -> Compiled | CompileError | None:
    try:
        note = json.loads((folder / "compile.json").read_text())
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)  # it is in use: see prune
    if note["error"] is not None:
        return CompileError(**note["error"])
    warnings = tuple(Warned(**fields) for fields in note["warnings"])
    return Compiled(folder, folder / "submission.so", key, warnings)


def _publish(scratch: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        scratch.rename(folder)
    except OSError:  # another process was faster, or an unfinished folder is in the way
        if not (folder / "compile.json").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            scratch.rename(folder)


def prune(folder: Path, most_bytes: int = CACHE_BYTES, spared_seconds: float = 900) -> None:
    """Removes what was used least recently until the rest has at most `most_bytes`.

    What was used in the last `spared_seconds` stays: somebody may be grading with it.
    """
    entries = []
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            size = sum(path.stat().st_size for path in entry.iterdir())
            entries.append((entry.stat().st_mtime, size, entry))
    total = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries):
        if total <= most_bytes or used > time.time() - spared_seconds:
            return
        aside = folder.parent / f"compile-old-{entry.name}-{os.getpid()}"
        with contextlib.suppress(OSError):  # another process does the same
            entry.rename(aside)  # at once, so that nobody finds half of it
            shutil.rmtree(aside, ignore_errors=True)
        total -= size


def _both_passes(build: _Build, digest: str) -> tuple[CompileError | None, str]:
    """Compiles and links: in one step where the passes are known, else nvcc's way.

    Nvcc's way, too, where a pass ends without naming an error: nvcc knows what that means.
    """
    together = passes.script(
        build.course, build.toolchain, _nvcc_command(build), _link_command(build), digest
    )
    if together is not None:
        ended = _step(build, together)
        output = ended.stderr + ended.stdout
        if ended.returncode == 0 or ended.exceeded or ended.timed_out:
            return _error_of(build, ended), output
        with contextlib.suppress(StepError):
            if not _OUT_OF_ROOM.search(output):
                return first_error(output), output
    error, output = _nvcc(build)
    return error or _link(build), output


def _nvcc(build: _Build) -> tuple[CompileError | None, str]:
    ended = _step(build, _nvcc_command(build))
    return _error_of(build, ended), ended.stderr + ended.stdout


def _nvcc_command(build: _Build) -> list:
    virtual = f"compute_{build.architecture}"
    return [
        build.toolchain.nvcc, "-std=c++17", "-O3", "-lineinfo", "--no-compress",
        "-gencode", f"arch={virtual},code={virtual}",
        "-ccbin", build.toolchain.cxx, "-Xcompiler", "-fPIC,-g1",
        "-I", build.course.include, "-c", FILE_NAME, "-o", "matmul.o",
    ]  # fmt: skip


def _link(build: _Build) -> CompileError | None:
    return _error_of(build, _step(build, _link_command(build)))


def _link_command(build: _Build) -> list:
    libraries = build.course.programs / "lib"
    library = f"libcudart.so.{build.toolchain.major}"
    if not (libraries / library).exists():
        raise ToolchainError(f"{libraries / library} is not built: run `make setup`.")
    return [
        build.toolchain.cxx, "-shared", "matmul.o", "-o", "submission.so",
        f"-L{libraries}", f"-l:{library}",
    ]  # fmt: skip


def _step(build: _Build, command: list) -> sandbox.Ended:
    readable = [build.course.include, build.course.programs / "lib"]
    # The tools with what lies around them: lib, include.
    for tool in (build.toolchain.nvcc, Path(build.toolchain.cxx)):
        readable += [tool.parents[1], tool.resolve().parents[1]]
    home = Path.home()
    readable = [path for path in readable if path not in (home, Path("/"))]
    scratch = build.scratch
    try:
        return sandbox.run(
            command,
            limits=sandbox.Limits(
                seconds=max(_STALLED_SECONDS, build.limits.compile_seconds),
                processor_seconds=build.limits.compile_seconds,
                memory_bytes=build.limits.compile_memory_bytes,
                file_bytes=_FILE_BYTES,
                folder_bytes=_FOLDER_BYTES,
            ),
            view=sandbox.View(writable=[scratch], readable=[p for p in readable if p.exists()]),
            cwd=scratch,
            # Where the compiler is a wrapper that caches, it must neither fail nor remember.
            env={"TMPDIR": str(scratch), "HOME": str(scratch), "CCACHE_DISABLE": "1"},
        )
    except OSError as error:
        raise StepError(f"{command[0]} could not be started: {error.strerror}.") from None


def _error_of(build: _Build, ended: sandbox.Ended) -> CompileError | None:
    """Raises StepError where the compiler failed for a reason that the file does not explain."""
    if ended.exceeded == "stall":
        raise StepError(
            f"The compiler had not ended after {_STALLED_SECONDS:g} seconds, in which it "
            "got little processor time: the machine is overloaded. Grade again."
        )
    if ended.timed_out:
        seconds = f"{build.limits.compile_seconds:g}"
        message = f"the compiler was stopped after {seconds} seconds of processor time"
        return CompileError(0, message, stopped=True)
    if ended.exceeded:
        message = f"the compiler was stopped, since it used {ended.too_much}"
        return CompileError(0, message, stopped=True)
    if ended.returncode == 0:
        return None
    output = ended.stderr + ended.stdout
    # The limits of a single process show as the failure of one of the compiler's programs.
    if _OUT_OF_ROOM.search(output):
        message = "the compiler ran out of memory or of room for its files"
        return CompileError(0, message, stopped=True)
    try:
        return first_error(output)
    except StepError as error:
        if not _works_otherwise(build):
            raise
        said = str(error).removeprefix("The compiler itself failed: ")
        return CompileError(0, clean(f"the compiler fails on this file alone: {said}"))


_OUT_OF_ROOM = re.compile(
    r"out of memory|cannot allocate|bad_alloc|[Ff]ile size limit exceeded|[Ff]ile too large"
    r"|died due to signal (?:9|25)|Killed signal|No space left",
)


def _works_otherwise(build: _Build) -> bool:
    """Whether an empty function goes through both steps: then it is the file that breaks one."""
    with tempfile.TemporaryDirectory(prefix="probe-", dir=build.course.cache) as folder:
        probe = replace(build, scratch=Path(folder))
        (probe.scratch / FILE_NAME).write_text("void solve() {}\n")
        commands = (_nvcc_command(probe), _link_command(probe))
        return all(_step(probe, command).returncode == 0 for command in commands)


# matmul.cu(12): error: identifier "x" is undefined      (nvcc's front end)
# matmul.cu:12:5: error: expected ';'                    (the host compiler, the preprocessor)
_NVCC_ERROR = re.compile(
    r"^(?P<file>[^\s(:]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>.*)$"
)
_END_ERROR = re.compile(r"^At end of source: error(?: #[\w-]+)?: (?P<text>.*)$", re.MULTILINE)
_HOST_ERROR = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$"
)


def first_error(output: str) -> CompileError:
    """The compiler's first error; in an included file it is shown with that file's name.

    Raises StepError if the output holds no error of the source: then the compiler itself failed.
    """
    found = []
    lines = [line[:_LINE] for line in lines_of(output)]
    output = "\n".join(lines)
    for index, line in enumerate(lines):
        match = _NVCC_ERROR.match(line) or _HOST_ERROR.match(line)
        if match is not None:
            found.append((match, lines[index + 1 :]))
    if not found:
        other = next((line.strip() for line in lines if "error" in line.lower()), "")
        undefined = re.search(r"undefined reference to [`'](.+?)'", output)
        if undefined:
            return CompileError(0, clean(f"{undefined[1]} is used but nowhere defined"))
        at_end = _END_ERROR.search(output)
        if at_end:
            return CompileError(0, clean(f"at the end of the file: {at_end['text']}"))
        ptx = re.search(r"^ptxas .*error\s*: (.*)$", output, re.MULTILINE)
        if ptx:
            return CompileError(0, clean(ptx[1]))
        assembler = re.search(r"^\S+\.s:\d+: Error: (.*)$", output, re.MULTILINE)
        if assembler:
            return CompileError(0, clean(f"the assembler says: {assembler[1]}"))
        last = other or next(
            (line.strip() for line in reversed(lines) if line.strip()), "it said nothing"
        )
        raise StepError(f"The compiler itself failed: {last}")
    match, after = found[0]
    name = clean(Path(match["file"]).name)
    message = clean(" ".join([match["text"], *_goes_on(after)]))
    if name == FILE_NAME:
        return CompileError(int(match["line"]), message, len(found) - 1)
    # An error inside a header: the line of matmul.cu that brought it in follows or precedes.
    return CompileError(_own_line(lines), f"{name}:{match['line']}: {message}", len(found) - 1)


_MOST_LINES = 8  # of one message


def _goes_on(after: list[str]) -> list[str]:
    """The rest of a message: what stands before the line of the source that is shown with a caret."""
    caret = next((at for at, one in enumerate(after[:_MOST_LINES]) if one.strip() == "^"), 0)
    rest = [one.strip() for one in after[: max(caret - 1, 0)]]
    return [f"({one})" for one in rest if one]


_NVCC_WARNING = re.compile(
    rf"^\S*{re.escape(FILE_NAME)}\((?P<line>\d+)\): warning(?: #[\w-]+)?: (?P<text>.*)$",
    re.MULTILINE,
)


def warnings_in(output: str) -> list[Warned]:
    """Warnings about matmul.cu itself, each once (device and host passes repeat them)."""
    found = [Warned(int(m["line"]), clean(m["text"])) for m in _NVCC_WARNING.finditer(output)]
    return list(dict.fromkeys(found))


def _own_line(lines: list[str]) -> int:
    for line in lines:
        match = re.search(
            rf"{re.escape(FILE_NAME)}[(:](\d+)|at line (\d+) of \S*{re.escape(FILE_NAME)}", line
        )
        if match:
            return int(match[1] or match[2])
    return 0
