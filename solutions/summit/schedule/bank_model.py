#!/usr/bin/env python3
"""How many cycles a loop's FFMAs take if only issue and the register banks count.

    bank_model.py FILE ...      cubins or objects; one line per innermost FFMA loop

The model: FFMAs are taken in pairs. A pair lasts as many cycles as it reads registers from the bank
it reads most, two at least; any other instruction lasts one cycle. A .reuse mark keeps an operand
for its position and bank until something else is read there. Which FFMAs form pairs is not known,
so both alignments are averaged. Microbenchmarks on an H200 (micro/, NOTES.md) agree within 4%.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import sass


def cycles(code):
    """(cycles, [reads of bank 0, of bank 1]) of one pass through a loop in its steady state."""
    cache, needs = {}, []
    for _ in range(2):  # the first pass fills the cache
        needs = []
        for x in code:
            if x.opcode == "FFMA":
                needs.append([0, 0])
                _read_operands(x, cache, needs[-1])

    def total(start):
        turned = needs[start:] + needs[:start]
        pairs = zip(turned[::2], turned[1::2])
        return sum(max(2, first[0] + second[0], first[1] + second[1]) for first, second in pairs)

    others = len(code) - len(needs)
    return others + (total(0) + total(1)) / 2, [sum(n[bank] for n in needs) for bank in (0, 1)]


def _read_operands(x, cache, need):
    raw = x.text.removeprefix(x.predicate).strip().partition(" ")[2].split(", ")[1:]
    for position, argument in enumerate(raw):
        match = re.match(r"-?R(\d+)(\.reuse)?$", argument)
        if not match:
            continue
        register, bank = int(match[1]), int(match[1]) % 2
        if cache.get((position, bank)) != register:
            need[bank] += 1
        cache.pop((position, bank), None)
        if match[2]:
            cache[position, bank] = register


def inner_loops(kernel):
    loops = []
    for i, x in enumerate(kernel.code):
        match = re.search(r"`\((\.L_x_\d+)\)", x.text) if x.opcode.startswith("BRA") else None
        if match and kernel.labels.get(match[1], i + 1) <= i:
            loops.append((kernel.labels[match[1]], i + 1))
    count = {s: sum(x.opcode == "FFMA" for x in kernel.code[s[0] : s[1]]) for s in loops}
    loops = [s for s in loops if count[s] >= 64]
    return [s for s in loops if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in loops)]


def _cubins(path):
    """The file itself if it is a cubin, else the cubins inside an object file."""
    if path.suffix == ".cubin":
        return [path], None
    folder = tempfile.TemporaryDirectory()
    run = subprocess.run(
        ["cuobjdump", "-xelf", "all", str(path.resolve())],
        cwd=folder.name,
        capture_output=True,
        text=True,
    )
    return (
        sorted(pathlib.Path(folder.name).glob("*.cubin")) if run.returncode == 0 else []
    ), folder


def main_loops(path):
    """Per kernel with a large FFMA loop: its instruction counts and the model's verdict."""
    try:
        files, folder = _cubins(pathlib.Path(path))
    except FileNotFoundError:
        return []  # no cuobjdump here
    result = []
    for file in files:
        for kernel in sass.load(str(file)).values():
            for first, end in inner_loops(kernel):
                code = kernel.code[first:end]
                ffma = sum(x.opcode == "FFMA" for x in code)
                model, reads = cycles(code)
                result.append(
                    {
                        "kernel": kernel.name,
                        "instructions": len(code),
                        "ffma": ffma,
                        "shared_loads": sum(x.opcode.startswith("LDS") for x in code),
                        "ffma_share": round(ffma / len(code), 4),
                        "reads_per_ffma": round(sum(reads) / ffma, 3),
                        "model_ffma_per_cycle": round(ffma / model, 4),
                    }
                )
    return result


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        for loop in main_loops(argument):
            print(argument, loop)
