"""The case in which changes are tried first: one in which the file is wrong, that tells much and costs little."""

from __future__ import annotations

from dataclasses import replace

from grader.judging.repair.given import Given, Size

PLAIN_OF_OTHERS = 12_000  # steps of the file as it is, in a size that was not seen to be wrong
_PLAIN_IN_ALL = 45_000  # of all sizes in which it is right, before the first in which it is not
_RICH = (5, 6, 7)  # sides in place of 1
# A case that costs so many steps is tried with products of as few terms: with one tile, or with some.
_SHORT, _COSTLY = (4, 12, 20, 36), 1_500
_COSTLY_TO_FAULT = 600  # as many up to where it ends: to the end there are more
_COSTLIEST = 12_000  # of a case that another one is given up for
_MOST_SHARPENED = 2


class WrongCase:
    """A part of Search."""

    def lacks_what_is_behind(self) -> bool:
        """Whether the first rows and columns of P are stored, and all behind these are not.

        A kernel that goes on by the size of the grid reaches all of P with any grid.
        """
        watched, size = self.watched(self.wrong), self.wrong
        if (
            "gridDim" in self.text
            or watched is None
            or watched.lacking is None
            or not isinstance(size, Size)
        ):
            return False
        stored = ~watched.lacking.reshape(size.j, size.l)
        rows, columns = int(stored.any(axis=1).sum()), int(stored.any(axis=0).sum())
        return bool(rows and stored[:rows, :columns].all())

    def first_wrong(self) -> Size | Given | None:
        """A fault that several sizes do not show, such as a missing barrier, none may show."""
        spent, too_large = 0, []
        for size in self.sizes:
            if spent > _PLAIN_IN_ALL:
                break
            if isinstance(size, Size) and any(size.is_as_large(one) for one in too_large):
                continue
            if not self.carried_out(size):
                return size
            if size in self.plain:
                spent += self.plain[size].steps
            else:
                spent += PLAIN_OF_OTHERS
                too_large += [size] if isinstance(size, Size) else []
        if self.large is not None and not self.is_square and not self.carried_out(self.large):
            return self.large
        return None

    def enrich(self) -> None:
        """A case with more rows, columns and terms, where it is wrong in the same way.

        With one row its number is 0, whatever it is multiplied with, and many changes seem right.
        """
        wrong = self.wrong
        if not isinstance(wrong, Size) or 1 not in (wrong.j, wrong.k, wrong.l):
            return
        if self.is_square:
            sides = _RICH[:1] * 3
        else:
            sides = tuple(
                rich if side == 1 else side
                for side, rich in zip((wrong.j, wrong.k, wrong.l), _RICH, strict=True)
            )
        rich = replace(wrong, j=sides[0], k=sides[1], l=sides[2])
        if not self.carried_out(rich) and self.plain[rich].why == self.plain[wrong].why:
            self.wrong = rich

    def shorten(self) -> None:
        """A case with shorter products that is wrong, too, costs less."""
        wrong = self.wrong
        if self.is_square or not isinstance(wrong, Size) or wrong.k <= _SHORT[0]:
            return
        for count in _SHORT:
            short = replace(wrong, k=count + (wrong.k % 4 != 0))
            plain = self.plain[wrong]
            if short.k >= wrong.k or plain.steps <= (_COSTLY_TO_FAULT if plain.why else _COSTLY):
                return
            if short not in self.plain and not self.carried_out(short):
                self.wrong = short
                return

    def sharpen(self) -> None:
        """What comes right in one case and not in another: the other one says more."""
        size = self.refuting
        if size is None or size == self.wrong or self.sharpened >= _MOST_SHARPENED:
            return
        if size not in self.plain and self.carried_out(size):
            return
        # The file as it is may end early there, what is right does not.
        took = max(self.took.get(size, 0), self.plain[size].steps)
        if not self.plain[size].is_right and took <= _COSTLIEST:
            self.limits[size] = max(self.limits[size], 2 * took)
            self.wrong = size
            self.sharpened += 1
            self.shorten()
