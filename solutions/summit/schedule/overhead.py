"""The few instructions of a block that are neither FFMAs nor loads: addresses and the loop count.

They keep their order among themselves where they depend on each other. A result that does not
outlive the block moves to a register of its own, because the register that ptxas chose may now
hold an accumulator or a fragment for longer.
"""

import re

from dataflow import destination, require
from sass import DESTINATION, OPERANDS

ALU_LATENCY = 6  # cycles until an integer result may be read, with a margin
PREDICATE_LATENCY = 13
READ_DISTANCE = 40  # instructions after which a load has surely read its address register


class Overhead:
    """Places the other instructions into the new order.

    spare: registers free during the block, taken from its front. readers: address register ->
    number of loads that still need the value it has at the block's start.
    """

    def __init__(self, block, spare, readers):
        self.readers = readers
        self.addresses = {load.address[1] for load in block.loads if load.address[0] == "op"}
        self.last_read = {}  # address register -> (position of the last load, scoreboards)
        self.placed = set()
        self.register_of = {}  # index of an instruction -> register of its result
        instructions = list(block.others)
        require(instructions and instructions[-1][1].opcode == "BRA", "does not end in a branch")
        self.branch = instructions.pop()[1].copy()
        renamed = self._rename(block, instructions, spare)
        cut = len(renamed)  # copies at the end stay there: they overwrite the addresses in use
        while cut and re.match(r"MOV|IMAD\.MOV", renamed[cut - 1][1].opcode):
            cut -= 1
        self.tail = [x for _, x in renamed[cut:]]
        self.code = dict(renamed[:cut])
        self.pending = list(self.code)
        self.needs = {
            i: [p for p in self.pending if p < i and self._conflict(p, i)] for i in self.pending
        }

    def _rename(self, block, instructions, spare):
        lasting = {v[1] for v in block.final.values() if v[0] == "op"}
        family, latest = {}, {}  # a predicated write shares the register of what it may leave
        for i, x in instructions:
            d = destination(x)
            if d is not None:
                family[i] = family.get(latest.get(d), ("start", d)) if x.predicate else i
                latest[d] = i
        kept = {family[i] for i in family if i in lasting}
        kept |= {f for f in family.values() if isinstance(f, tuple)}
        now, fresh, result = {}, {}, []
        for i, x in instructions:
            x, d = x.copy(), destination(x)
            self._rename_operands(x, now)
            if d is not None:
                if family[i] not in kept and family[i] not in fresh:
                    fresh[family[i]] = (
                        spare.pop(0) if spare else self._read_out(instructions, family, fresh, i)
                    )
                now[d] = fresh.get(family[i], d)
                self.register_of[i] = now[d]
                x.set_register(DESTINATION, now[d])
                x.text = re.sub(rf"\bR{d}\b", f"R{now[d]}", x.text, count=1)
            result.append((i, x))
        return result

    def _read_out(self, instructions, family, fresh, here):
        """A register of `fresh` whose value nobody reads after instruction `here`.

        Not one that a load takes its address from: loads are placed elsewhere.
        """
        last_read, holds = {}, {}
        for i, x in instructions:
            for r in map(int, re.findall(r"\bR(\d+)\b", " ".join(x.arguments[1:]))):
                if r in holds:
                    last_read[holds[r]] = i
            if destination(x) is not None:
                holds[destination(x)] = family[i]
        addresses = {family[a] for a in self.addresses}
        newest = {r: f for f, r in fresh.items()}  # a register may have been passed on before
        for register, f in newest.items():
            if f not in addresses and last_read.get(f, here) <= here:
                return register
        require(False, "no register left for an address or a count")

    @staticmethod
    def _rename_operands(x, now):
        first = 1 if destination(x) is not None else 0
        arguments = x.arguments
        for old in {int(r) for a in arguments[first:] for r in re.findall(r"\bR(\d+)\b", a)}:
            fields = [at for at in OPERANDS if x.register(at) == old]
            mentions = sum(len(re.findall(rf"\bR{old}\b", a)) for a in arguments[first:])
            require(old not in now or len(fields) == mentions, f"{x.text}: unclear operands")
            if old in now:
                for at in fields:
                    x.set_register(at, now[old])
        arguments[first:] = [
            re.sub(r"\bR(\d+)\b", lambda m: f"R{now.get(int(m[1]), int(m[1]))}", a)
            for a in arguments[first:]
        ]
        x.set_control(reuse=0)
        x.text = f"{x.predicate} {x.opcode} {', '.join(arguments)}".strip()

    def _effects(self, i):
        x = self.code[i]
        names = re.findall(r"\b(?:R\d+|P\d)\b", " ".join(x.arguments[1:]) + " " + x.predicate)
        if x.predicate:
            names.append(x.arguments[0])
        return x.arguments[0], set(names)

    def _conflict(self, earlier, later):
        (d1, uses1), (d2, uses2) = self._effects(earlier), self._effects(later)
        return d1 in uses2 or d2 in uses1 or d1 == d2

    def _may_go(self, i, position, distance):
        d = self.code[i].arguments[0]
        return (
            all(n in self.placed for n in self.needs[i])
            and not self.readers.get(d)
            and position - self.last_read.get(d, (-READ_DISTANCE, 0))[0] >= distance
        )

    def _emit(self, i, out, stall):
        x = self.code[i].copy()
        # Overwriting an address: its loads must have read it, so wait until they have returned.
        x.set_control(stall=stall, stay=1, wait=self.last_read.get(x.arguments[0], (0, 0))[1])
        out.append(x)
        self.placed.add(i)
        self.pending.remove(i)

    def place_next(self, out):
        """Appends an instruction that may go now, if any: addresses of loads before others.

        Callers keep 16 FFMAs between two calls, so no stall is needed for a result in use.
        """
        for i in sorted(self.pending, key=lambda i: i not in self.addresses):
            if self._may_go(i, len(out), READ_DISTANCE):
                return self._emit(i, out, stall=1)

    def place(self, i, out):
        """Appends instruction i and all it needs, at once, with the stalls that this takes."""
        if i in self.placed:
            return
        for n in self.needs[i]:
            self.place(n, out)
        require(self._may_go(i, len(out), 0), f"{self.code[i].text}: needed too early")
        predicate = self.code[i].opcode.startswith("ISETP")
        self._emit(i, out, PREDICATE_LATENCY if predicate else ALU_LATENCY)

    def note_read(self, load, position, scoreboard):
        """A load from the address that the register holds at the block's start was placed."""
        name = f"R{load.register}"
        self.readers[name] -= 1
        self.last_read[name] = (position, self.last_read.get(name, (0, 0))[1] | 1 << scoreboard)
