"""Which threads of a block have touched a word of shared memory since they last met: who must not.

Lanes go in step here, so that what races comes out right. A shadow of each array says what CUDA does
not promise: that another thread's store, or a copy that goes on meanwhile, has come before.
"""

from __future__ import annotations

import numpy as np

from grader.judging.repair.nodes import File, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault

_NOBODY, _SEVERAL = -1, -2
_WARP = 32
# Where threads of a warp wait for each other, or go together, what they do to each other is no race.
_OF_WARPS = frozenset(
    (
        "__syncwarp", "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "fragment",
        "__ballot_sync", "__any_sync", "__all_sync", "tiled_partition", "load_matrices",
        "load_matrices_transposed",
    )
)  # fmt: skip


class Race(Fault):
    """A word of shared memory is touched by two threads that have not met between; the array's name."""


class Apart(Fault):
    """Only some threads of a block come to where it meets."""


class Races:
    """What the shadows of a launch's arrays share: the lanes, and their groups of copies."""

    def __init__(self, are_warps: bool = False) -> None:
        self.are_warps = are_warps
        self.begin(1, 1)

    def begin(self, blocks: int, threads: int) -> None:
        """A launch."""
        self.blocks, self.threads = blocks, threads
        lanes = np.arange(blocks * threads)
        thread = (lanes % threads).astype(np.int32)
        self.unit = thread // _WARP if self.are_warps else thread
        self.lanes = lanes
        self.closed = np.zeros(len(lanes), np.int32)  # groups of each lane
        self.shadows: list[Shadow] = []

    def of(self, mask) -> np.ndarray:
        """The lanes that take part."""
        if mask is True:
            return self.lanes
        return np.flatnonzero(np.broadcast_to(mask, len(self.lanes)))

    def meet(self, mask) -> None:
        """Of each block that comes here all is forgotten but copies that are on their way."""
        if mask is True:
            for shadow in self.shadows:
                shadow.forget()
            return
        active = np.broadcast_to(mask, len(self.lanes)).reshape(self.blocks, self.threads)
        come = active.any(1)
        if (come != active.all(1)).any():
            raise Apart("only some threads meet")
        for shadow in self.shadows:
            shadow.forget(None if come.all() else come)

    def commit(self, mask) -> None:
        self.closed[self.of(mask)] += 1

    def wait(self, mask, most) -> None:
        """Until at most so many groups are on their way."""
        last = self.closed - np.asarray(most).astype(np.int32)  # the first group that may be
        waiting = np.zeros(len(self.lanes), bool)
        waiting[self.of(mask)] = True
        for shadow in self.shadows:
            shadow.arrive(waiting, last)


class Shadow:
    """Of one array: for each word who has stored it and who has read it, and its copy's group."""

    def __init__(self, races: Races, name: str, words: int, copies: int) -> None:
        self.races, self.name, self.copies = races, name, copies
        self.wrote = np.full(words, _NOBODY, np.int32)
        self.read = np.full(words, _NOBODY, np.int32)
        self.group: np.ndarray | None = None  # of a copy that is on its way
        self.owner: np.ndarray | None = None  # the lane that has started it
        self.is_clean = True
        races.shadows.append(self)

    def again(self, buffer) -> Shadow:
        """Of what the same memory is seen as."""
        return Shadow(self.races, self.name, len(buffer.data), self.copies)

    def forget(self, blocks: np.ndarray | None = None) -> None:
        if self.is_clean:
            return
        for one in (self.wrote, self.read):
            if blocks is None:
                one.fill(_NOBODY)
            else:
                one.reshape(self.copies, -1)[blocks] = _NOBODY
        self.is_clean = blocks is None

    def _at(self, at, mask) -> tuple[np.ndarray, np.ndarray]:
        """Places and lanes."""
        lanes = self.races.of(mask)
        if at.__class__ is np.ndarray and at.ndim == 1 and len(at) == len(self.races.lanes):
            return at[lanes], lanes
        return np.broadcast_to(at, len(self.races.lanes))[lanes], lanes

    def _mind(self, is_bad: np.ndarray) -> None:
        if is_bad.any():
            raise Race(self.name)

    def _arrived(self, places: np.ndarray) -> None:
        if self.group is not None:
            self._mind(self.group[places] >= 0)

    def load(self, at, mask) -> None:
        places, lanes = self._at(at, mask)
        self.is_clean = False
        unit, wrote = self.races.unit[lanes], self.wrote[places]
        self._arrived(places)
        self._mind((wrote != _NOBODY) & (wrote != unit))
        before = self.read[places]
        self.read[places] = np.where((before == _NOBODY) | (before == unit), unit, _SEVERAL)
        now = self.read[places]
        self.read[places[(now != unit) & (now != _SEVERAL)]] = _SEVERAL

    def store(self, at, mask) -> None:
        places, lanes = self._at(at, mask)
        self.is_clean = False
        unit, wrote, read = self.races.unit[lanes], self.wrote[places], self.read[places]
        self._arrived(places)
        self._mind((wrote != _NOBODY) & (wrote != unit))
        self._mind((read != _NOBODY) & (read != unit))
        self.wrote[places] = unit
        self._mind(self.wrote[places] != unit)

    def copy(self, at, mask) -> None:
        """What is stored there comes later."""
        self.store(at, mask)
        if self.group is None:
            self.group, self.owner = np.full(len(self.wrote), _NOBODY), np.zeros_like(self.wrote)
        places, lanes = self._at(at, mask)
        self.group[places] = self.races.closed[lanes]
        self.owner[places] = lanes

    def arrive(self, waiting: np.ndarray, last: np.ndarray) -> None:
        """Copies of groups before the last ones: others see them once they have met their lane."""
        if self.group is None:
            return
        going = np.flatnonzero(self.group >= 0)
        owner = self.owner[going]
        mine = waiting[owner] & (self.group[going] < last[owner])
        there = going[mine]
        self.group[there] = _NOBODY
        self.wrote[there] = self.races.unit[owner[mine]]
        self.is_clean = False


def goes_in_warps(file: File) -> bool:
    for function in (*file.functions.values(), *file.methods.values()):
        for node in walk(function.body):
            if node.text in _OF_WARPS and node.kind in ("name", "scoped"):
                return True
            if node.type is not None and node.type.name in _OF_WARPS:
                return True
            if node.kind == "asm" and ("mma" in node.text or "ldmatrix" in node.text):
                return True
    return False


def meeting(f, m) -> None:
    if f.world.races is not None:
        f.world.races.meet(m)


def unseen(f, what: str) -> None:
    """Where threads wait for each other in a way whose races nobody looks for here."""
    if f.world.races is not None:
        raise GivenUp(what)
