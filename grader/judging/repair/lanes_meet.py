"""How often lanes of a warp meet in a bank of shared memory, as the simulator counts it.

32 banks of 4 bytes serve a whole warp: a pass gives each bank's one word to all lanes that want it.
Accesses of 8 bytes go by half warps, of 16 bytes by quarters; of loads two neighbouring ones go together
where all lanes share their place with the lane beside them, or with the one two further on.
"""

from __future__ import annotations

import numpy as np

_LANES = _BANKS = 32
_ALL = 1 << 30


class Meet(Exception):
    """Lanes have met in a bank: the run need not go on."""


class Meter:
    """What the first block of each launch does."""

    def __init__(self, is_strict: bool) -> None:
        self.is_strict = is_strict  # the first time is enough
        self.taken = self.needed = 0
        self.silent = 0  # words that belong to what has been counted
        self.threads = 0
        self._known: dict[bytes, tuple[int, int]] = {}

    def begin(self, threads: int) -> None:
        self.threads = threads

    def note_copy(self, off, mask, is_half: bool, words: int) -> None:
        """A copy that goes on meanwhile; `silent` is 0 again when it is done."""
        self.note(off, mask, is_half, True, words, is_copy=True)
        self.silent = _ALL

    def note(
        self, off, mask, is_half: bool, is_store: bool, words: int = 1, is_copy: bool = False
    ) -> None:
        if self.silent:
            self.silent -= 1
            return
        if is_half:
            off, words = np.floor_divide(off, 2), max(1, words // 2)
        if off.__class__ is not np.ndarray or off.ndim != 1:
            return  # all lanes take the same word
        for first in range(0, self.threads, _LANES):
            last = min(first + _LANES, self.threads)
            places, lanes = off[first:last], np.arange(last - first)
            if mask is not True:
                lanes = np.flatnonzero(np.broadcast_to(mask, off.shape)[first:last])
                places = places[lanes]
            if len(places):
                self._count(places - places[0] // _BANKS * _BANKS, lanes, words, is_store, is_copy)
        if self.is_strict and self.taken > self.needed:
            raise Meet

    def _count(
        self, places: np.ndarray, lanes: np.ndarray, words: int, is_store: bool, is_copy: bool
    ) -> None:
        key = places.tobytes() + lanes.tobytes() + bytes((words, is_store, is_copy))
        known = self._known.get(key)
        if known is None:
            taken, needed = passes(places, lanes, words, is_store)
            if (
                is_copy and words == 4
            ):  # how these are written is not known, they may take twice as many
                needed = max(needed, min(taken, 2 * needed))
            known = self._known[key] = taken, needed
        self.taken += known[0]
        self.needed += known[1]


def passes(places: np.ndarray, lanes: np.ndarray, words: int, is_store: bool) -> tuple[int, int]:
    """(how many are taken, how many would do): of an access of so many words by these lanes."""
    each = _LANES // words if words in (2, 4) else _LANES
    if each < _LANES and not is_store and any(_share(places, lanes, by) for by in (1, 2)):
        each *= 2
    taken = needed = 0
    for first in range(0, _LANES, each):
        here = places[(lanes >= first) & (lanes < first + each)]
        if len(here):
            different = np.unique(here[:, None] + np.arange(words))
            taken += int(np.bincount(different % _BANKS).max())
            needed += 1
    return taken, needed


def _share(places: np.ndarray, lanes: np.ndarray, by: int) -> bool:
    """Whether every lane has its place in common with its partner, if that is active."""
    known = dict(zip(lanes.tolist(), places.tolist(), strict=True))
    return all(known.get(lane ^ by, place) == place for lane, place in known.items())
