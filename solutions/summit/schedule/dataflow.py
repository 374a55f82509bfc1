"""What the straight block computes: values instead of registers.

A value is ('in', register): what the register held at the block's start; ('load', n, c): word c of
the n-th 16-byte shared load; ('ffma', n): the n-th FFMA; ('op', i): the block's i-th instruction,
anything else.
"""

import re
from dataclasses import dataclass, field

from sass import number, parse_ffma, parse_lds128

# The only other instructions understood: integer arithmetic on whole registers.
PLAIN = r"IADD3|VIADD|LOP3|SEL|ISETP|MOV|IMAD|LEA|SHF"


class Unsuitable(Exception):
    """The block does not have the shape that the scheduler knows."""


def require(condition, why):
    if not condition:
        raise Unsuitable(why)


@dataclass
class Ffma:
    instruction: object
    a: tuple  # value of M, after Block has told the operands apart
    b: tuple  # value of N
    step: int  # 0 for the first FFMA of its accumulator
    root: int  # register of the accumulator at the block's start


@dataclass
class Load:
    instruction: object
    address: tuple  # value
    register: int  # that held it


@dataclass
class Block:
    """The block as data; `steps` steps of k, 8 rows (m) and 16 columns (n) of accumulators."""

    ffmas: list = field(default_factory=list)
    loads: list = field(default_factory=list)
    others: list = field(default_factory=list)  # (index, instruction), in order
    final: dict = field(default_factory=dict)  # register -> value at the block's end
    written: set = field(default_factory=set)  # by FFMAs and loads
    steps: int = 0
    row: dict = field(default_factory=dict)  # accumulator -> 0..7
    column: dict = field(default_factory=dict)  # accumulator -> 0..15
    m: list = field(default_factory=list)  # [step / 4][row]: quad; one more than used: what
    n: list = field(default_factory=list)  # [step][column / 4]      is loaded for the next pass
    m_in: list = field(default_factory=list)  # first registers of the quads at the start
    n_in: list = field(default_factory=list)


def _read(code):
    block, value = Block(), {}

    def now(register):
        return value.setdefault(register, ("in", register))

    for i, x in enumerate(code):
        if registers := parse_ffma(x):
            d, a, b, c = registers
            before = now(c)
            require(before[0] in ("in", "ffma"), f"{x.text}: adds to something else")
            earlier = block.ffmas[before[1]] if before[0] == "ffma" else None
            block.ffmas.append(
                Ffma(
                    x,
                    now(a),
                    now(b),
                    earlier.step + 1 if earlier else 0,
                    earlier.root if earlier else c,
                )
            )
            value[d] = ("ffma", len(block.ffmas) - 1)
            block.written.add(d)
        elif parts := parse_lds128(x):
            d, address, _ = parts
            block.loads.append(Load(x, now(address), address))
            for c in range(4):
                value[d + c] = ("load", len(block.loads) - 1, c)
                block.written.add(d + c)
        else:
            require(x.opcode.startswith("BRA") or re.match(PLAIN, x.opcode), f"{x.text}: unknown")
            block.others.append((i, x))
            if destination(x) is not None:
                value[destination(x)] = ("op", i)
    block.final = value
    return block


def destination(x):
    """The general register that an instruction of `others` writes, or None."""
    if x.opcode.startswith(("ISETP", "BRA")):
        return None
    return number(x.arguments[0]) if re.fullmatch(r"R\d+", x.arguments[0]) else None


def _quad(value):
    """The 16-byte group a fragment value belongs to, and its place in it."""
    require(value[0] in ("in", "load"), f"an FFMA reads {value}")
    return (("in", value[1] & ~3), value[1] & 3) if value[0] == "in" else (value[:2], value[2])


def _tell_operands_apart(block):
    """M's values meet 16 others in a step, N's values 8. Swaps operands so that a is M's."""
    for step in range(block.steps):
        partners = {}
        here = [f for f in block.ffmas if f.step == step]
        for f in here:
            partners.setdefault(f.a, set()).add(f.b)
            partners.setdefault(f.b, set()).add(f.a)
        for f in here:
            if len(partners[f.a]) == 8:
                f.a, f.b = f.b, f.a
            require((len(partners[f.a]), len(partners[f.b])) == (16, 8), "not an 8 x 16 product")


def _place(block):
    """Rows and columns of the accumulators, and the quads that each step reads."""
    start = [f for f in block.ffmas if f.step == 0]
    rows = sorted({_quad(f.a)[0] for f in start})
    columns = sorted({_quad(f.b)[0] for f in start})
    require(len(rows) == 8 and len(columns) == 4, "not 8 rows by 4 groups of columns")
    for f in start:
        quad, place = _quad(f.b)
        block.row[f.root] = rows.index(_quad(f.a)[0])
        block.column[f.root] = columns.index(quad) * 4 + place
    require(len(set(zip(block.row.values(), block.column.values()))) == 128, "shared accumulators")
    block.m = [[None] * 8 for _ in range(block.steps // 4)]
    block.n = [[None] * 4 for _ in range(block.steps)]
    for f in block.ffmas:
        for value, table, at, place in (
            (f.a, block.m[f.step // 4], block.row[f.root], f.step % 4),
            (f.b, block.n[f.step], block.column[f.root] // 4, block.column[f.root] % 4),
        ):
            quad, found = _quad(value)
            require(found == place and table[at] in (None, quad), "fragments out of order")
            table[at] = quad
    block.m_in = [quad[1] for quad in block.m[0]]
    block.n_in = [quad[1] for quad in block.n[0]]
    for registers, table in ((block.m_in, block.m), (block.n_in, block.n)):
        values = [block.final[r] for r in registers]
        require(
            all(v[0] == "load" and v[2] == 0 for v in values), "nothing loaded for the next pass"
        )
        table.append([v[:2] for v in values])


def analyse(code):
    """The Block that `code`, a straight run of instructions, computes."""
    block = _read(code)
    roots = {f.root for f in block.ffmas}
    require(len(roots) == 128, f"{len(roots)} accumulators instead of 128")
    for register in roots:
        kind, *rest = block.final[register]
        require(
            kind == "ffma" and block.ffmas[rest[0]].root == register,
            "an accumulator ends in another register",
        )
    block.steps = max(f.step for f in block.ffmas) + 1
    require(len(block.ffmas) == 128 * block.steps and block.steps % 8 == 0, "not whole steps")
    _tell_operands_apart(block)
    _place(block)
    return block
