"""Which registers hold nothing while a block runs: a conservative liveness analysis.

Conservative means: when in doubt a register is live. An operand of a wide instruction counts as
all the registers it could cover, but for an address in shared memory, which is one, and what a
wait on an mbarrier names, a parity; a destination only ends a life if its width is certain and the
instruction has no predicate.
"""

import re

_WIDE_DESTINATIONS = {"LDS.128": 4, "CS2R": 2, "LDC.64": 2}
# The first operand of these is read, not written (or is no general register).
_NO_DESTINATION = r"ST|RED|ISETP|FSETP|SYNCS|BRA|R2UR|UTMA|WARPSYNC|BAR|EXIT|NOP"


def uses_and_ends(x):
    """(registers that the instruction may read, registers that it surely overwrites)."""
    arguments = x.arguments
    width = 4 if ".128" in x.opcode else 2 if re.search(r"64|WIDE|CS2R|\.E", x.opcode) else 1
    writes = bool(
        arguments
        and re.fullmatch(r"R\d+", arguments[0])
        and not re.match(_NO_DESTINATION, x.opcode)
    )
    in_shared = re.match(r"LDS|STS|SYNCS\.PHASECHK", x.opcode)
    uses, ends = set(), set()
    for argument in arguments[1:] if writes else arguments:
        one = in_shared and (argument.startswith("[") or x.opcode.startswith("SYNCS"))
        for register in map(int, re.findall(r"\bR(\d+)\b", argument)):
            span = 1 if one else max(width, 2 if ".64" in argument or width > 1 else 1)
            uses |= set(range(register, register + span))
    if writes and not x.predicate:
        first = int(arguments[0][1:])
        size = 2 if "WIDE" in x.opcode else _WIDE_DESTINATIONS.get(x.opcode, 1)
        if x.opcode.startswith("LDG.E.128"):  # of any strength and cache level
            size = 4
        ends = set(range(first, first + size))
    return uses, ends


def _successors(kernel):
    """For each instruction the indices that may follow it."""
    result, waits = [], []
    for i, x in enumerate(kernel.code):
        following = [i + 1]
        if re.match(r"EXIT|RET", x.opcode):
            following = [i + 1] if x.predicate else []
        elif x.opcode == "BSYNC":
            waits.append(i)
        elif x.opcode == "BSSY":
            pass  # says where a BSYNC goes, and goes nowhere itself
        elif x.opcode.startswith("BRA"):
            following = [kernel.labels[re.search(r"`\((\S+)\)", x.text).group(1)]]
            if x.predicate or len(x.arguments) > 1 or "." in x.opcode:
                following.append(i + 1)
        elif match := re.search(r"`\((\.L\S+)\)", x.text):
            following.append(kernel.labels[match.group(1)])
        result.append(following)
    # At a BSYNC the threads go on where their BSSY says. Which one that was is found by following
    # the code from each BSSY on; an edge that this adds may let another BSSY reach further.
    changed = True
    while changed:
        changed = False
        reaching = _reaching(kernel, result)
        for i in waits:
            targets = reaching[i].get(kernel.code[i].arguments[0], set())
            if not targets <= set(result[i]):
                result[i] = sorted({*result[i], *targets})
                changed = True
    return result


def _reaching(kernel, successors):
    """For each instruction: convergence barrier -> where the BSSYs lead that may have set it."""
    reaching = [{} for _ in range(len(kernel.code) + 1)]
    work = list(range(len(kernel.code)))
    while work:
        i = work.pop()
        x, after = kernel.code[i], reaching[i]
        if match := re.match(r"BSSY (B\d+), `\((\S+)\)", x.text):
            after = {**after, match.group(1): {kernel.labels[match.group(2)]}}
        for s in successors[i]:
            old = sum(map(len, reaching[s].values()))
            for barrier, targets in after.items():
                reaching[s][barrier] = reaching[s].get(barrier, set()) | targets
            if sum(map(len, reaching[s].values())) != old and s < len(kernel.code):
                work.append(s)
    return reaching


def dead_registers(kernel, first, end):
    """Registers whose values are needed neither by the block [first, end) nor after it."""
    count = len(kernel.code)
    effects = [uses_and_ends(x) for x in kernel.code]
    successors = _successors(kernel)
    live = [set() for _ in range(count + 1)]
    changed = True
    while changed:
        changed = False
        for i in range(count - 1, -1, -1):
            after = set().union(*(live[s] for s in successors[i]))
            before = effects[i][0] | after - effects[i][1]
            if before != live[i]:
                live[i], changed = before, True
    outside = set(live[end])
    for i in range(first, end):
        for s in successors[i]:
            if not first < s < end:
                outside |= live[s]
    # R1 is the stack pointer by convention; R255 is zero.
    return set(range(255)) - {1} - outside - live[first]
