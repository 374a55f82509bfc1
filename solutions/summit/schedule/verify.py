"""Proof that two straight blocks compute the same: both are executed with symbols for values.

Every register starts as a symbol; an instruction's result is a term over its operands' terms. Two
terms are equal only if the same operations were applied to the same operands in the same order of
dependence (an FFMA's two factors may swap). check_hazards() then looks at time: that no instruction
reads or overwrites a register too early.
"""

import re

from dataflow import destination
from sass import parse_ffma, parse_lds128

FFMA_LATENCY = 4  # cycles from issue until another FFMA may read the result
ALU_LATENCY = 6  # the same for integer results, with a margin


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


def _reads_and_writes(x):
    """(registers and predicates read, written); loads write four registers."""
    if ffma := parse_ffma(x):
        return {f"R{r}" for r in ffma[1:]}, {f"R{ffma[0]}"}
    if load := parse_lds128(x):
        return {f"R{load[1]}"}, {f"R{load[0] + c}" for c in range(4)}
    names = re.findall(r"\b(?:R\d+|P\d)\b", x.predicate + " " + " ".join(x.arguments[1:]))
    return set(names), set() if x.opcode == "BRA" else {x.arguments[0]}


def check_hazards(code):
    """Raises if an instruction comes too early, in the block or from one pass to the next.

    Three rules: a register that a load will write is touched only after a wait for the load's
    scoreboard; an address register is overwritten only after the loads from it have returned; a
    result is read only after its unit's latency. When the block is entered nothing is open.
    """
    clock, ready = 0, {}  # register -> cycle from which its result may be read
    open_loads, addresses = {}, {}  # register -> scoreboard of the load that writes / reads it
    for x in [*code, *code]:
        wait = x.control("wait")
        open_loads = {r: s for r, s in open_loads.items() if not wait >> s & 1}
        addresses = {r: s for r, s in addresses.items() if not wait >> s & 1}
        reads, writes = _reads_and_writes(x)
        if early := (reads | writes) & set(open_loads):
            raise AssertionError(f"{x.text}: touches {min(early)} before its load is waited for")
        if early := writes & set(addresses):
            raise AssertionError(f"{x.text}: overwrites {min(early)}, an address still in use")
        if early := {r for r in reads if ready.get(r, 0) > clock}:
            raise AssertionError(f"{x.text}: reads {min(early)} too early")
        if parse_lds128(x):
            scoreboard = x.control("writes")
            open_loads |= dict.fromkeys(writes, scoreboard)
            addresses |= dict.fromkeys(reads, scoreboard)
        else:
            latency = FFMA_LATENCY if parse_ffma(x) else ALU_LATENCY
            ready |= dict.fromkeys(writes, clock + latency)
        clock += x.control("stall")
