#!/usr/bin/env python3
"""Writes one cubin per register pattern, and what bank_model.py predicts for it.

    patterns.py TEMPLATE.cubin OUTPUT_DIR

Each pattern is a list of 512 FFMAs (accumulator, a, b, reuse marks). run.cu times them: cycles per
FFMA with one, two and four warps per scheduler. The results are the ground that order.py stands on.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "schedule"))
import bank_model  # noqa: E402
import sass  # noqa: E402

COUNT = 512
A, B = 1, 2  # reuse marks of the first and the second operand


def registers_of(kernel):
    """Registers that the loop's FFMAs use and nothing else in the kernel's loop does."""
    first, end = next(s for s in bank_model.inner_loops(kernel))
    ffmas = [i for i in range(first, end) if kernel.code[i].opcode == "FFMA"]
    used = {kernel.code[i].register(at) for i in ffmas for at in (16, 24, 32, 64)}
    sums = sorted({kernel.code[i].register(16) for i in ffmas})
    return ffmas, sums, sorted(used - set(sums) - {0})


def patterns(sums, operands):
    """name -> list of (sum, a, b, marks)."""
    even, odd = [r for r in sums if r % 2 == 0], [r for r in sums if r % 2]
    mixed = [r for pair in zip(even, odd) for r in pair]
    e, o = [r for r in operands if r % 2 == 0], [r for r in operands if r % 2]
    n = range(COUNT)

    def at(of, t):
        return of[t % len(of)]

    result = {
        "one read": [(at(mixed, t), e[0], o[0], A | B) for t in n],
        "three reads, banks balanced": [(at(mixed, t), e[0], o[0], 0) for t in n],
        "two reads, two banks": [(at(even, t), e[0], at(o, t), A) for t in n],
        "two reads, one bank": [(at(even, t), e[0], at(e[1:], t), A) for t in n],
        "two reads, one bank, banks in turn": [
            (at(mixed, t), e[0], at(o if t % 2 else e[1:], t // 2), A) for t in n
        ],
        "same registers, not marked": [(at(even, t), e[0], o[0], 0) for t in n],
        "cache holds one per bank": [
            (at(mixed, t), (e if t % 2 else o)[0], o[1], A | B) for t in n
        ],
        "cache holds not two of a bank": [(at(even, t), e[t % 2], o[1], A | B) for t in n],
        "three reads, then one": [(at(mixed, t), e[0], o[0], 0 if t % 2 else A | B) for t in n],
        "two by three reads, two by one": [
            (at(mixed, t), e[0], o[0], 0 if t // 2 % 2 == 0 else A | B) for t in n
        ],
        "order.py: pairs of columns": [
            (
                at(mixed, t + 1 - t % 2 * 2),
                at(e, t // 2),
                (o[0] if t % 2 == 0 else e[-1]),
                B | (A if t % 2 == 0 else 0),
            )
            for t in n
        ],
    }
    for seed, (keep_a, keep_b) in enumerate([(0.5, 0.5), (0.7, 0.3), (0.3, 0.3), (0.9, 0.5)]):
        rng, a, b, walk = random.Random(seed), e[0], o[0], []
        for t in n:
            a = a if rng.random() < keep_a else rng.choice(e)
            b = b if rng.random() < keep_b else rng.choice(o)
            walk.append((a, b))
        result[f"random, keeping a {keep_a:.0%}, b {keep_b:.0%}"] = [
            (
                at(mixed, 7 * t),
                *walk[t],
                (A if walk[(t + 1) % COUNT][0] == walk[t][0] else 0)
                | (B if walk[(t + 1) % COUNT][1] == walk[t][1] else 0),
            )
            for t in n
        ]
    return result


def main():
    template, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    kernel = sass.load(str(template))["micro"]
    ffmas, sums, operands = registers_of(kernel)
    data = template.read_bytes()
    start = data.find(b"".join(x.bytes() for x in kernel.code))
    assert start >= 0 and len(ffmas) == COUNT
    lines = []
    for number, (name, pattern) in enumerate(patterns(sums, operands).items()):
        image, code = bytearray(data), []
        for i, (d, a, b, marks) in zip(ffmas, pattern):
            x = kernel.code[i].copy()
            for place, register in ((16, d), (24, a), (32, b), (64, d)):
                x.set_register(place, register)
            x.set_control(reuse=marks, stall=1)
            x.text = f"FFMA R{d}, R{a}{'.reuse' * (marks & 1)}, R{b}{'.reuse' * (marks >> 1)}, R{d}"
            image[start + 16 * i : start + 16 * i + 16] = x.bytes()
            code.append(x)
        file = output / f"pattern{number}.cubin"
        file.write_bytes(image)
        lines.append(f"{file}\t{bank_model.cycles(code)[0] / COUNT:.3f}\t{name}")
    (output / "list").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
