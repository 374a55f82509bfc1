"""Memory of the device that solve never frees, and where it was to be freed."""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.host_waits import HostWaits
from grader.judging.sums import several
from grader.labs.statements import Statement


class HostKept(HostWaits):
    """The rule about leaks."""

    def never_freed(self) -> Said | None:
        freed = {one.buffer for one in self.seen.of("free")}
        made = self.seen.of("malloc")
        kept = [one for one in made if one.buffer not in freed and one.lines]
        if self.item is None or self.item.code != "memory-leak" or not kept:
            return None
        loop = self._loop_that_frees(len(kept))
        if loop is not None:
            done = self._freed_in(loop)
            return Said(
                f"The loop frees {several(done, 'buffer')}; {several(len(made), 'buffer')} "
                f"{'is' if len(made) == 1 else 'are'} allocated.",
                loop.line,
                "Which number does the loop begin with, and which is the last one?",
            )
        line = self._blamed(kept[0], kept)
        here = [one for one in made if line in one.lines]
        of_here = [one for one in kept if line in one.lines]
        name = self._buffer(kept[0].buffer)
        text = "What is allocated here is never freed."
        if len(of_here) < len(here):
            text = f"{len(of_here)} of {several(len(here), 'buffer')} that are allocated here are never freed."
        elif len(here) == 1 and name.isidentifier():
            text = f"{name}, which is allocated here, is never freed."
        return Said(text, line, "Every cudaMalloc needs its cudaFree.")

    def _loop_that_frees(self, kept: int) -> Statement | None:
        """The one loop that frees, where it takes a turn or two too few."""
        loops = {
            loop.number: loop
            for one in self.seen.of("free")
            for line in one.lines
            for item in self.text.at(line)
            for loop in self.text.loops(item)
        }
        if len(loops) != 1 or kept >= len(self.seen.of("free")):
            return None
        (loop,) = loops.values()
        return loop if loop.kind == "for" and len(loop.parts) == 3 else None

    def _freed_in(self, loop: Statement) -> int:
        return sum(
            any(loop in self.text.loops(item) for line in one.lines for item in self.text.at(line))
            for one in self.seen.of("free")
        )
