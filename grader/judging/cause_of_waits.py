"""Where threads do not wait for each other, or never end: barriers, copies under way, loops."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging import (
    barriers,
    divergence,
    never_filled,
    stage_of_one,
    staging,
    suspects,
    tiles,
    uncovered,
)
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.wording import changes, names_in
from grader.labs.statements import Statement, shown
from grader.results.finding import Access, Cause, Facts, Scope


class OfWaits(Base):
    """The rules about races in a tile, barriers and loops without an end."""

    def race_shared(self) -> Said | None:
        facts = self.item.facts or Facts()
        if facts.other is None:
            return None
        mine, other = (facts.line, facts.writes), (facts.other_line, facts.other.writes)
        said = stage_of_one.into_used(self.kernel, re.split(r"[^\w]", facts.array)[0])
        if said is not None:
            return said
        if facts.access is Access.COPY or facts.other.access is Access.COPY:
            copies, uses = mine, other
            if facts.access is not Access.COPY:
                copies, uses = other, mine
            return (
                tiles.stages(self.kernel)
                or tiles.next_phase(self.kernel)
                or barriers.copied(self.kernel, copies[0], uses[0], facts.array)
            )
        if mine[1] == other[1]:
            return suspects.divided(self.kernel) or suspects.coordinates(self.kernel)
        of_warp = facts.scope is Scope.WARP and "__syncwarp" in self.material.text
        reads = other[0] if mine[1] else mine[0]
        writes = mine[0] if mine[1] else other[0]
        reads = barriers.reading(self.kernel, facts.array, reads)
        said = staging.flipped(self.kernel) or staging.early(self.kernel, reads, writes)
        if said is not None:
            return said
        return barriers.between(self.kernel, reads, writes, of_warp)

    def unfilled(self) -> Said | None:
        facts = self.item.facts or Facts()
        array = re.split(r"[^\w]", facts.array)[0]
        if facts.cause is Cause.COPY_IN_FLIGHT:
            return staging.closed_early(self.text, array) or self.waited()
        return (
            suspects.coordinates(self.kernel)
            or suspects.divided(self.kernel)
            or tiles.stages(self.kernel)
            or tiles.never_filled(self.kernel, array, self.item.line)
            or tiles.filled_inside_only(self.kernel, array)
            or self.threads_of_loops()
            or uncovered.uncovered(self.kernel, array)
            or self._scattered_of(array)
        )

    def without_filling(self) -> Said | None:
        """No line fills what is read."""
        facts = self.item.facts or Facts()
        if self.kernel is None or self.item.code != "uninitialised-shared":
            return None
        if facts.cause is not Cause.NEVER_WRITTEN:
            return None
        array = re.split(r"[^\w]", facts.array)[0]
        said = staging.too_small(self.text)
        if said is not None:
            return said
        said = never_filled.never_filled(self.kernel, array, self.item.line)
        other = tiles.never_filled(self.kernel, array, self.item.line)
        return other if said is not None and other is not None else said

    def _scattered_of(self, array: str) -> Said | None:
        """Of this array, or of P: what is wrong with another tile does not leave this one unfilled."""
        said = self.scattered()
        of = re.match(r"(\w+)\[", said.text) if said is not None else None
        return None if of is not None and of[1] != array else said

    def waited(self) -> Said | None:
        """A wait that lets too many groups of copies be under way, or that the block does not meet after."""
        early = tiles.met_before_wait(self.kernel, self.item.line)
        if early is not None:
            return early
        waits = self._waits_before(self.item.line)
        if waits and not any(
            "commit" in word for one in self.text.statements for word in one.words
        ):
            facts = self.item.facts or Facts()
            started = barriers.callers(self.kernel, facts.other_line)
            return Said(
                f"{shown(waits[-1].words).rstrip(';')} waits for groups of copies, and no copy is in a "
                "group: the kernel has no __pipeline_commit().",
                (started or waits)[-1].line,
                "Call __pipeline_commit() after the copies of a stage have been started.",
            )
        if not waits or waits[-1].has("(", "0", ")"):
            return None
        commit = self._not_always(waits[-1])
        if commit is not None:
            return commit
        call = shown(waits[-1].words).rstrip(";")
        return Said(
            f"{call} lets that many groups be under way, and what line {self.item.line} reads is "
            "in one of them.",
            waits[-1].line,
            "The number is that of the groups committed since, which nobody reads yet.",
        )

    def _waits_before(self, line: int) -> list[Statement]:
        """Waits for groups of copies, before a line of the kernel or of a helper that it calls."""
        waits = [one for one in self.kernel.body if "__pipeline_wait_prior" in one.words]
        last = max((one.number for one in barriers.places(self.kernel, line)), default=-1)
        return [one for one in waits if one.number < last] or waits

    def _not_always(self, wait: Statement) -> Said | None:
        """A group that is committed in some turns only, where the wait counts one for each turn."""
        loop = next(iter(self.text.loops(wait)), None)
        for item in self.kernel.body:
            if not any("commit" in word for word in item.words) or item.kind != "simple":
                continue
            branch = next(
                (one for one in self.text.above(item) if one.kind in ("if", "else")), None
            )
            if (
                branch is None
                or loop not in self.text.above(branch)
                or branch in self.text.above(wait)
            ):
                continue
            call = shown(wait.words).rstrip(";")
            return Said(
                f"A group is committed here only where if ({shown(branch.words)}) lets it: in the "
                f"last turns there is none, and {call} in line {wait.line} waits for one group less "
                "than it has to.",
                item.line,
                "Commit a group in every turn, even an empty one.",
            )
        return None

    def endless(self) -> Said | None:
        """A loop in which nothing changes what its condition asks for."""
        for item in self.kernel.body:
            if item.kind == "for" and len(item.parts) == 3:
                condition, step = item.parts[1], item.parts[2]
            elif item.kind == "while":
                condition, step = item.words, ()
            else:
                continue
            names = [name for name in names_in(condition) if "." not in name]
            inside = [item, *self.text.inside(item)]
            if step or not names or any("[" in one.words[:1] for one in inside):
                continue
            changed = any(changes(one.words, name) for one in inside[1:] for name in names) or any(
                word in ("break", "return", "goto") for one in inside for word in one.words
            )
            if not changed:
                return Said(
                    f"Nothing in the loop changes {names[0]}: {shown(condition)} stays as it is.",
                    item.line,
                    f"Let each turn change it, as in ++{names[0]}.",
                )
        return None

    def divergent(self) -> Said | None:
        """The branch that keeps threads from a barrier."""
        facts = self.item.facts or Facts()
        stops = barriers.barriers(self.kernel)
        if facts.cause is Cause.ANOTHER_BARRIER and (said := self._in_a_branch(stops)):
            return said
        other = facts.other_line if facts.other is not None else 0
        lines = [line for line in (self.item.line, other) if line]
        said = divergence.diverges(self.kernel, lines, facts.cause is Cause.EXITED)
        if said is not None:
            return said
        for barrier in stops:
            holder = next(self.text.above(barrier), None)
            branches = [s for s in self.text.above(barrier) if s.kind in ("if", "else")]
            if (
                branches
                and holder is not None
                and any(w in names_in(b.words) for b in branches for w in names_in(b.words))
            ):
                branch = branches[0]
                if branch.kind == "if":
                    return Said(
                        f"This __syncthreads() is inside if ({shown(branch.words)}): threads for "
                        "which that is false never come to it.",
                        barrier.line,
                        "Let every thread of the block reach each __syncthreads().",
                    )
        return None

    def _in_a_branch(self, stops: Sequence[Statement]) -> Said | None:
        """The one of several barriers that not all threads come to."""
        inside = [
            (barrier, branch)
            for barrier in stops
            if (branch := next(self.text.above(barrier), None)) is not None
            and branch.kind in ("if", "else")
        ]
        if len(inside) != 1:
            return None
        barrier, branch = inside[0]
        where = f"if ({shown(branch.words)})" if branch.kind == "if" else "the else above"
        return Said(
            f"This __syncthreads() is inside {where}: the other threads of the block go past it and "
            "wait at another one.",
            barrier.line,
            "Let every thread of the block reach each __syncthreads().",
        )
