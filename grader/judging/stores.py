"""Where sums are stored: elsewhere, twice, never."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.left_out import LeftOut
from grader.judging.registers import is_stored_elsewhere, layout, line_of_place
from grader.judging.sums import Sum, in_line, place_name
from grader.labs.statements import listing
from grader.results.explanation import Explanation


class Stores(LeftOut):
    """Sums that are right and in the wrong place, or stored by two threads, or by none."""

    def never_stored(self, sums: Sequence[Sum]) -> Explanation | None:
        missing = [one for one in sums if not one.history.stored]
        if not missing or not self.found.all_blocks:
            return None
        first = missing[0]
        name = place_name(first.place)
        for one in sums:
            if one.history.stored and self.holds(one) == first.place:
                line = one.history.stores[0].line
                text = f"{name} is never stored: its sum goes to {place_name(one.place)}{in_line(line)}."
                return self._explained("misplaced", text, first, "P", line, self._moved(sums))
        return self._explained("not-stored", f"No thread stores {name}.", first, "P")

    def misplaced(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            if not one.history.stored:
                continue
            belongs = self.holds(one)
            if belongs is None or belongs == one.place or not self._is_moved(one, belongs, sums):
                continue
            line = one.history.stores[0].line
            text = f"{place_name(one.place)} holds the whole sum of {place_name(belongs)}"
            text += f" (stored in line {line})." if line else "."
            common = self._moved(sums)
            if is_stored_elsewhere(one.products, one.place):
                common = layout(belongs)
                line = line_of_place(listing(self.source), line, belongs[0] != one.place[0])
            return self._explained("misplaced", text, one, "P", line, common)
        return None

    def _is_moved(self, one: Sum, belongs: tuple[int, int], sums: Sequence[Sum]) -> bool:
        """Whether the store is wrong, rather than a load in the same way for all products."""
        is_elsewhere = is_stored_elsewhere(one.products, one.place)
        if is_elsewhere is not None:
            return is_elsewhere
        if any(item.place == belongs and self.is_right(item) for item in sums):
            return False  # the sum is where it belongs, and was formed a second time
        natural = self._natural(one)
        if natural is not None:
            return natural != one.place
        if any(item.history.stored and self.holds(item) is None for item in sums):
            return False
        both = belongs[0] != one.place[0] and belongs[1] != one.place[1]
        return both or any(not item.history.stored for item in sums)

    def _natural(self, one: Sum) -> tuple[int, int] | None:
        """The element that is the storing thread's by its place in the grid, if it has one."""
        if self.stores_several:
            return None
        across, down = (self.found.grid[axis] * self.found.block[axis] for axis in (0, 1))
        spare_x, spare_y = across - self.shape.l, down - self.shape.j
        if not (0 <= spare_x < self.found.block[0] and 0 <= spare_y < self.found.block[1]):
            return None
        who = one.history.stores[0]
        x, y = (who.block[axis] * self.found.block[axis] + who.thread[axis] for axis in (0, 1))
        return y, x

    def _moved(self, sums: Sequence[Sum]) -> str:
        pairs = [(self.holds(one), one.place) for one in sums if one.history.stored]
        moved = [(right, got) for right, got in pairs if right is not None]
        if len(moved) < 2 or all(right == got for right, got in moved):
            return ""
        if all(right == got[::-1] for right, got in moved):
            return "Row and column are exchanged: either in the store or in both loads."
        steps = {(got[0] - right[0], got[1] - right[1]) for right, got in moved}
        if len(steps) == 1:
            down, across = steps.pop()
            return (
                "Every sum is stored "
                + " and ".join(
                    f"{abs(step)} {what}{'s' if abs(step) > 1 else ''} too far {way}"
                    for step, what, way in (
                        (down, "row", "down" if down > 0 else "up"),
                        (across, "column", "right" if across > 0 else "left"),
                    )
                    if step
                )
                + "."
            )
        return ""

    def stored_twice(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            threads = {(who.block, who.thread) for who in one.history.stores}
            if len(threads) < 2 or self.is_right(one):
                continue
            text = (
                f"{place_name(one.place)} is stored by {len(threads)} threads; the last one counts."
            )
            return self._explained("stored-twice", text, one, "P", one.history.stores[0].line)
        return None
