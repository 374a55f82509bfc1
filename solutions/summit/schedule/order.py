"""A new order and new registers for the straight block: no FFMA waits for a register bank.

The registers of a warp lie in two banks, even and odd. A bank delivers one register (for 32 lanes)
a cycle, and an FFMA can be issued every cycle, so an FFMA must not read two registers of one bank
unless its neighbour reads none there; three operands from registers are too many in any case. The
reuse cache saves reads: it keeps, for each operand position and bank, the last register that was
marked .reuse. (micro/ and NOTES.md show the measurements behind these sentences.)

The order, for one step of k: two columns at a time stay in the cache as second operands, one in
each bank, while the rows of M pass by, each used twice and read once. Of the two FFMAs of a row the
one whose accumulator lies in the other bank than the row's value goes first; the other then reads
nothing but its accumulator. That makes 1.6 reads per FFMA, evenly over the banks. ptxas reads 2.2.

Registers: accumulators keep the register they enter with (ptxas lets them wander). M's values have
two sets, the one they enter with and one of registers that are dead during the block; a set is
loaded while the other is used. N's values have one set: as soon as the two pairs of columns of a
group have been used, the group's next step is loaded into the same registers, 96 FFMAs ahead.

Scoreboards: group g of columns uses scoreboard g, rows of M use 4 and 5. The first FFMA that reads
a group waits for its scoreboard.
"""

from dataflow import require
from liveness import dead_registers
from overhead import Overhead
from sass import ALL_SCOREBOARDS, DESTINATION, NO_SCOREBOARD, OPERANDS

PAIRS = 8  # pairs of columns in a step
M_SLOTS = (2, 4)  # after which pair of columns two loads of M are placed,
N_SLOTS = (1, 3, 5, 7)  # and the four of N; the other ends take the remaining instructions
M_SCOREBOARDS = (1 << 4) | (1 << 5)


RESERVED = 2  # of the registers a thread has; code that names them stops with "illegal instruction"


def register_limit(kernel):
    """Registers that the block may name: what setmaxnreg raises them to, else all, less RESERVED."""
    raised = [
        int(x.arguments[-1], 0) - RESERVED
        for x in kernel.code
        if x.opcode.startswith("USETMAXREG.TRY_ALLOC")
    ]
    return min(raised, default=255)


class Order:
    """Builds the new code of `block`, which is kernel.code[first:end]."""

    def __init__(self, kernel, block, first, end):
        self.block = block
        roots = set(block.row)
        fragments = {r + c for r in block.m_in + block.n_in for c in range(4)}
        lasting = {r for r, v in block.final.items() if v[0] == "op"}
        written_by_others = {r for r, v in block.final.items() if v[0] == "op"}
        dead = dead_registers(kernel, first, end) - roots - fragments - written_by_others
        dead -= set(range(register_limit(kernel), 255))
        quads = [r for r in range(0, 252, 4) if set(range(r, r + 4)) <= dead]
        require(len(quads) >= 8, f"only {len(quads)} of 8 spare groups of four registers")
        taken = {r + c for r in quads[:8] for c in range(4)}
        self.m_sets = (block.m_in, quads[:8])
        self.live_out = roots | fragments | lasting
        self.lasting = lasting
        self.at = {(f.step, block.row[f.root], block.column[f.root]): f for f in block.ffmas}
        readers = {}
        for load in block.loads:
            if load.address[0] == "in":
                readers[f"R{load.register}"] = readers.get(f"R{load.register}", 0) + 1
        self.overhead = Overhead(block, sorted(dead - taken), readers)
        self.out = []

    def build(self):
        for step in range(self.block.steps):
            for pair in range(PAIRS):
                self._pair(step, pair)
                self._loads(step, pair)
        while self.overhead.pending:
            self.overhead.place(self.overhead.pending[0], self.out)
        for x in self.overhead.tail:
            x.set_control(stall=2, stay=1, wait=0)
            self.out.append(x)
        self.overhead.branch.set_control(wait=0)
        self.out.append(self.overhead.branch)
        return self.out

    def _pair(self, step, pair):
        """The 16 FFMAs of two columns, down the rows and next time up again."""
        sequence = []
        for row in range(8) if pair % 2 == 0 else range(7, -1, -1):
            columns = [2 * pair, 2 * pair + 1]
            # Registers of M's values in this step have the bank step % 2 (quads are aligned).
            columns.sort(key=lambda c: self.at[step, row, c].root % 2 == step % 2)
            sequence += [(row, c) for c in columns]
        for n, (row, column) in enumerate(sequence):
            wait = 0
            if n == 0 and pair % 2 == 0:
                wait = 1 << pair // 2
                if pair == 0 and step % 4 == 0:
                    wait |= M_SCOREBOARDS
            follows = sequence[n + 1 : n + 3]
            reuse = 1 if follows and follows[0][0] == row else 0
            reuse |= 2 if any(c == column for _, c in follows) else 0
            self.out.append(self._ffma(step, row, column, wait, reuse))

    def _ffma(self, step, row, column, wait, reuse):
        f = self.at[step, row, column]
        x = f.instruction.copy()
        a = self.m_sets[step // 4 % 2][row] + step % 4
        b = self.block.n_in[column // 4] + column % 4
        x.set_register(DESTINATION, f.root)
        for at, register in zip(OPERANDS, (a, b, f.root)):
            x.set_register(at, register)
        x.set_control(
            stall=1, stay=1, writes=NO_SCOREBOARD, reads=NO_SCOREBOARD, wait=wait, reuse=reuse
        )
        marks = [".reuse" if reuse >> n & 1 else "" for n in range(2)]
        x.text = f"FFMA R{f.root}, R{a}{marks[0]}, R{b}{marks[1]}, R{f.root}"
        return x

    def _loads(self, step, pair):
        if pair in M_SLOTS:
            row = step % 4 * 2 + M_SLOTS.index(pair)
            part = step // 4 + 1
            self._load(self.block.m[part][row], self.m_sets[part % 2][row], 4 + row % 2)
        elif pair in N_SLOTS:
            group = N_SLOTS.index(pair)
            self._load(self.block.n[step + 1][group], self.block.n_in[group], group)
        # The last step has more room for the others, since addresses are free to change there.
        if pair not in M_SLOTS + N_SLOTS or step == self.block.steps - 1:
            self.overhead.place_next(self.out)

    def _load(self, quad, register, scoreboard):
        load = self.block.loads[quad[1]]
        x = load.instruction.copy()
        if load.address[0] == "op":
            self.overhead.place(load.address[1], self.out)
            address = self.overhead.register_of[load.address[1]]
        else:
            address = load.register
            self.overhead.note_read(load, len(self.out), scoreboard)
        old = x.register(DESTINATION)
        x.text = x.text.replace(f"R{old},", f"R{register},").replace(
            f"[R{load.register}", f"[R{address}"
        )
        x.set_register(DESTINATION, register)
        x.set_register(OPERANDS[0], address)
        x.set_control(stall=1, stay=1, writes=scoreboard, reads=NO_SCOREBOARD, wait=0, reuse=0)
        self.out.append(x)


def wait_around(kernel, first, end):
    """Copies of the instructions before and after the block that wait for all scoreboards.

    Loads that began before the block use ptxas's scoreboards, and loads that are under way when the
    loop ends use ours; neither side knows the other's. Requires that the block is entered only from
    the instruction before it and from its own branch.
    """
    names = [n for n, i in kernel.labels.items() if i == first]
    branches = [x for x in kernel.code if any(f"`({n})" in x.text for n in names)]
    before, after = kernel.code[first - 1], kernel.code[end]
    require(
        len(branches) == 1 and branches[0] is kernel.code[end - 1], "the block has other entries"
    )
    require(not before.opcode.startswith(("BRA", "EXIT")), "the block is not fallen into")
    result = before.copy(), after.copy()
    for x in result:
        x.set_control(wait=ALL_SCOREBOARDS)
    return result
