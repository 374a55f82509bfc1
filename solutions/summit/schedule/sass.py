"""Machine code of sm_90 kernels: reading a cubin with nvdisasm, and the fields that are changed.

An instruction is 128 bits. The fields used here (bit positions):
    16..23  destination register        24..31, 32..39, 64..71  first, second, third operand
    105..108 stall: cycles until this warp may issue its next instruction
    109      1: prefer to stay with this warp
    110..112 scoreboard that counts down when the result is written (7: none)
    113..115 scoreboard that counts down when the operands are read (7: none)
    116..121 scoreboards to wait for before issue, one bit each
    122..124 keep operand 1, 2, 3 in the reuse cache for the next instruction
Seen in what ptxas 13.0 writes, and tested by running what schedule.py makes of it.
"""

import os
import re
import shutil
import subprocess
import sysconfig

NO_SCOREBOARD = 7
ALL_SCOREBOARDS = 0x3F
OPERANDS = (24, 32, 64)
DESTINATION = 16

_CONTROL = {
    "stall": (105, 4),
    "stay": (109, 1),
    "writes": (110, 3),
    "reads": (113, 3),
    "wait": (116, 6),
    "reuse": (122, 4),
}


class Instruction:
    """One instruction: its 128-bit word and nvdisasm's text, kept in step by the setters."""

    def __init__(self, text, word):
        self.text = text
        self.word = word

    def copy(self):
        return Instruction(self.text, self.word)

    def control(self, name):
        at, width = _CONTROL[name]
        return self.word >> at & (1 << width) - 1

    def set_control(self, **fields):
        for name, value in fields.items():
            at, width = _CONTROL[name]
            self.word = self.word & ~(((1 << width) - 1) << at) | value << at
        if fields.get("reuse") == 0:
            self.text = self.text.replace(".reuse", "")

    def register(self, at):
        return self.word >> at & 0xFF

    def set_register(self, at, register):
        self.word = self.word & ~(0xFF << at) | register << at

    @property
    def predicate(self):
        """'@P0', '@!P2' or ''."""
        match = re.match(r"(@!?U?P[T\d]+) ", self.text)
        return match.group(1) if match else ""

    @property
    def opcode(self):
        return self.text.removeprefix(self.predicate).split()[0]

    @property
    def arguments(self):
        """Operands as text, '.reuse' removed."""
        rest = self.text.removeprefix(self.predicate).strip().replace(".reuse", "")
        return rest.partition(" ")[2].split(", ") if " " in rest else []

    def bytes(self):
        return self.word.to_bytes(16, "little")


class Kernel:
    """A kernel's instructions in order, and its labels: name -> index of the instruction."""

    def __init__(self, name):
        self.name = name
        self.code = []
        self.labels = {}

    def block_starts(self):
        """Indices at which straight-line code begins, in order."""
        leaves = {
            i + 1
            for i, x in enumerate(self.code)
            if re.match(r"BRA|EXIT|RET|BSYNC|BREAK|WARPSYNC|CALL", x.opcode)
        }
        return sorted(set(self.labels.values()) | leaves | {0})

    def largest_block(self):
        """(first, end) of the straight-line block with the most FFMAs."""
        starts = self.block_starts()
        spans = zip(starts, starts[1:] + [len(self.code)])
        return max(spans, key=lambda s: sum(x.opcode == "FFMA" for x in self.code[s[0] : s[1]]))


def nvdisasm():
    """Path of the disassembler: $NVDISASM, the PATH, next to nvcc, or NVIDIA's wheel in this Python."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    wheel = f"{sysconfig.get_path('purelib')}/nvidia/cu13/bin/nvdisasm"
    given = os.environ.get("NVDISASM")
    for path in (given, shutil.which("nvdisasm"), f"{home}/bin/nvdisasm", wheel):
        if path and os.path.exists(path):
            return path
    raise SystemExit(
        "schedule: nvdisasm not found; install the CUDA toolkit's nvdisasm "
        "(package cuda-nvdisasm) or name it in NVDISASM"
    )


def load(path):
    """The kernels of a cubin, by name."""
    run = subprocess.run([nvdisasm(), "-c", "-hex", path], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"schedule: nvdisasm cannot read {path}: {run.stderr.strip()}")
    kernels, kernel, half = {}, None, None
    for line in run.stdout.splitlines():
        if match := re.match(r"\.text\.(\S+):", line):
            kernel = kernels.setdefault(match.group(1), Kernel(match.group(1)))
        elif kernel is None:
            continue
        elif match := re.match(r"(\.L_x_\d+):", line):
            kernel.labels[match.group(1)] = len(kernel.code)
        elif match := re.match(
            r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/", line
        ):
            half = match
        elif half and (match := re.match(r"\s+/\* 0x([0-9a-f]{16}) \*/", line)):
            word = int(half.group(2), 16) | int(match.group(1), 16) << 64
            kernel.code.append(Instruction(half.group(1), word))
            half = None
    return kernels


def number(register):
    """'R12' -> 12."""
    return int(register[1:])


def parse_ffma(x):
    """(destination, a, b, c) of an FFMA of four plain registers, else None."""
    match = re.fullmatch(
        r"FFMA (R\d+), (R\d+)(?:\.reuse)?, (R\d+)(?:\.reuse)?, (R\d+)(?:\.reuse)?", x.text
    )
    return tuple(map(number, match.groups())) if match else None


def parse_lds128(x):
    """(first destination, address register, offset text) of a 16-byte shared load, else None."""
    match = re.fullmatch(r"LDS\.128 (R\d+), \[(R\d+)(?:\+(0x[0-9a-f]+))?\]", x.text)
    if not match:
        return None
    return number(match.group(1)), number(match.group(2)), match.group(3) or "0x0"
