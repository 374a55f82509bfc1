"""Proof that two straight blocks compute the same: both are executed with symbols for values.

Every register starts as a symbol; an instruction's result is a term over its operands' terms. Two
terms are equal only if the same operations were applied to the same operands in the same order of
dependence (an FFMA's two factors may swap). Timing is not modelled: stalls and scoreboards are
argued for in order.py.
"""

from sass import parse_ffma, parse_lds128
from dataflow import destination

import re


def _terms(code, lasting):
    """Terms of registers and predicates after the block, and of its branches, interned as ints."""
    registers, predicates, branches = {}, {}, []
    for x in code:
        if ffma := parse_ffma(x):
            d, a, b, c = ffma
            factors = sorted((_get(registers, a), _get(registers, b)))
            registers[d] = _intern(("ffma", *factors, _get(registers, c)))
        elif load := parse_lds128(x):
            d, address, offset = load
            term = _get(registers, address)
            for c in range(4):
                registers[d + c] = _intern(("load", term, offset, c))
        else:
            _other(x, registers, predicates, branches, lasting)
    return registers, predicates, branches


def _other(x, registers, predicates, branches, lasting):
    def term(argument):
        argument = re.sub(r"\bR(\d+)\b", lambda m: f"<{_get(registers, int(m[1]))}>", argument)
        return re.sub(r"\b(P\d)\b", lambda m: f"<{predicates.get(m[1], m[1])}>", argument)

    result = [x.opcode, term(x.predicate)] + [term(a) for a in x.arguments[1:]]
    d = destination(x)
    if x.opcode.startswith("ISETP"):
        predicates[x.arguments[0]] = _intern(tuple(result))
    elif d is None:
        branches.append((term(x.predicate), x.arguments))
    else:
        # A predicated write to a register that outlives the block keeps the old value otherwise.
        if x.predicate and d in lasting:
            result.append(_get(registers, d))
        registers[d] = _intern(tuple(result))


_table = {}


def _intern(term):
    return _table.setdefault(term, len(_table))


def _get(registers, register):
    return registers[register] if register in registers else _intern(("in", register))


def verify(before, after, lasting, live_out):
    """Raises if the blocks differ in a register of live_out, a predicate or a branch.

    lasting: registers whose value at the end comes from an instruction other than FFMA and load.
    """
    old, old_predicates, old_branches = _terms(before, lasting)
    new, new_predicates, new_branches = _terms(after, lasting)
    for register in sorted(live_out):
        if _get(old, register) != _get(new, register):
            raise AssertionError(f"R{register} differs after the block")
    if old_predicates != new_predicates or old_branches != new_branches:
        raise AssertionError("predicates or branches differ after the block")
