#!/usr/bin/env python3
"""Re-orders the straight FFMA block of a compiled kernel by register bank (rung 07).

    schedule.py IN.cubin OUT.cubin [--c OUT.c --symbol NAME] [--as-compiled]

The block's instructions stay the same ones; their order, registers, scoreboards and reuse marks
change (order.py). Before it is written, the result is proved equal to the original, value by value,
and free of reads and writes that come too early (verify.py). If ptxas has produced something that
this program does not know, it says so and fails; nothing is written. Tested with the ptxas of CUDA
13.0 for sm_90a.
"""

import argparse
import os
import sys
import tempfile

import sass
from dataflow import Unsuitable, analyse
from order import Order, wait_around
from verify import check_hazards, verify


def reschedule(kernel):
    """(index of the first changed instruction, new instructions in place of as many old ones)."""
    first, end = kernel.largest_block()
    old = kernel.code[first:end]
    order = Order(kernel, analyse(old), first, end)
    new = order.build()
    if len(new) != len(old):
        raise AssertionError(f"{len(new)} instructions instead of {len(old)}")
    verify(old, new, order.lasting, order.live_out)
    check_hazards(new)
    before, after = wait_around(kernel, first, end)
    return first - 1, [before, *new, after]


def patch(cubin, kernel):
    """The cubin's bytes with the kernel's block replaced."""
    first, new = reschedule(kernel)
    old = b"".join(x.bytes() for x in kernel.code[first : first + len(new)])
    if cubin.count(old) != 1:
        raise Unsuitable("the block's bytes are not found once in the file")
    return cubin.replace(old, b"".join(x.bytes() for x in new))


def write(path, data):
    """Writes the whole file or nothing."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)


def as_c(data, symbol):
    """A C array with these bytes, aligned as the driver wants an ELF image."""
    rows = [", ".join(map(str, data[i : i + 24])) for i in range(0, len(data), 24)]
    return (
        f'extern "C" __attribute__((aligned(16))) const unsigned char {symbol}[] = {{\n'
        + ",\n".join(rows)
        + "\n};\n"
    ).encode()


def main():
    parser = argparse.ArgumentParser(description="Re-order a kernel's FFMA block by register bank.")
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--c", metavar="FILE", help="also write the result as a C++ array")
    parser.add_argument("--as-compiled", action="store_true", help="change nothing")
    parser.add_argument("--symbol", default="cubin", help="name of that array")
    options = parser.parse_args()
    try:
        with open(options.input, "rb") as file:
            data = file.read()
    except OSError as error:
        sys.exit(f"schedule: {options.input}: {error.strerror}")
    for kernel in [] if options.as_compiled else sass.load(options.input).values():
        try:
            data = patch(data, kernel)
        except Unsuitable as why:
            sys.exit(
                f"schedule: {kernel.name} in {options.input} does not have the known shape: "
                f"{why}. Was it compiled by another ptxas?"
            )
    write(options.output, data)
    if options.c:
        write(options.c, as_c(data, options.symbol))


if __name__ == "__main__":
    main()
