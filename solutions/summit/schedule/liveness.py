"""Which registers hold nothing while a block runs: a conservative liveness analysis.

Conservative means: when in doubt a register is live. An operand of a wide instruction counts as
all the registers it could cover; a destination only ends a life if its width is certain and the
instruction has no predicate.
"""

import re

_WIDE_DESTINATIONS = {"LDS.128": 4, "LDG.E.128": 4, "CS2R": 2, "LDC.64": 2}
# The first operand of these is read, not written (or is no general register).
_NO_DESTINATION = r"ST|RED|ISETP|FSETP|SYNCS|BRA|R2UR|UTMA|WARPSYNC|BAR|EXIT|NOP"


def _uses_and_ends(x):
    arguments = x.arguments
    width = 4 if ".128" in x.opcode else 2 if re.search(r"64|WIDE|CS2R|\.E", x.opcode) else 1
    writes = bool(
        arguments
        and re.fullmatch(r"R\d+", arguments[0])
        and not re.match(_NO_DESTINATION, x.opcode)
    )
    uses, ends = set(), set()
    for argument in arguments[1:] if writes else arguments:
        for register in map(int, re.findall(r"\bR(\d+)\b", argument)):
            span = max(width, 2 if ".64" in argument or width > 1 else 1)
            uses |= set(range(register, register + span))
    if writes and not x.predicate:
        first = int(arguments[0][1:])
        size = 2 if "WIDE" in x.opcode else _WIDE_DESTINATIONS.get(x.opcode, 1)
        ends = set(range(first, first + size))
    return uses, ends


def _successors(kernel):
    """For each instruction the indices that may follow it."""
    meeting = {}  # convergence barrier -> where its BSYNC leads
    for x in kernel.code:
        if match := re.match(r"BSSY (B\d+), `\((\S+)\)", x.text):
            meeting.setdefault(match.group(1), set()).add(kernel.labels[match.group(2)])
    result = []
    for i, x in enumerate(kernel.code):
        following = []
        if re.match(r"EXIT|RET", x.opcode):
            following = [i + 1] if x.predicate else []
        elif x.opcode == "BSYNC":
            # The threads go on where their BSSY says; where that is this very BSYNC, behind it.
            targets = meeting.get(x.arguments[0], set())
            following = [i + 1] if i in targets else [i + 1, *sorted(targets)]
        elif x.opcode.startswith("BRA"):
            following = [kernel.labels[re.search(r"`\((\S+)\)", x.text).group(1)]]
            if x.predicate or len(x.arguments) > 1 or "." in x.opcode:
                following.append(i + 1)
        else:
            following = [i + 1]
            if match := re.search(r"`\((\.L\S+)\)", x.text):
                following.append(kernel.labels[match.group(1)])
        result.append(following)
    return result


def dead_registers(kernel, first, end):
    """Registers whose values are needed neither by the block [first, end) nor after it."""
    count = len(kernel.code)
    effects = [_uses_and_ends(x) for x in kernel.code]
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
