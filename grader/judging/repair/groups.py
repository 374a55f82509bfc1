"""Cooperative groups: the block, and tiles of it within a warp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.judging.repair.races import meeting
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Struct, has_rows

TYPES = frozenset(("thread_block_tile", "thread_group"))
_WARP = 32
_PLACES = {"thread_index": "threadIdx", "group_index": "blockIdx", "group_dim": "blockDim",
           "dim_threads": "blockDim"}  # fmt: skip
_SHUFFLES = {
    "shfl_down": "__shfl_down_sync", "shfl_up": "__shfl_up_sync", "shfl_xor": "__shfl_xor_sync",
    "shfl": "__shfl_sync",
}  # fmt: skip
_NUMBERS = frozenset(("thread_rank", "size", "num_threads", "meta_group_rank", "meta_group_size"))
OF_GROUP = frozenset((*_PLACES, *_SHUFFLES, *_NUMBERS, "sync"))


class Group:
    """`width`: threads of a tile; 0: the whole block."""

    __slots__ = ("width",)

    def __init__(self, width: int = 0) -> None:
        self.width = width


def rank_of(world):
    place, sides = (world.globals[one].fields for one in ("threadIdx", "blockDim"))
    return (place["z"] * sides["y"] + place["y"]) * sides["x"] + place["x"]


def _number(name: str, group: Group, world):
    width = group.width or world.threads
    if name in ("size", "num_threads"):
        return width
    if name == "thread_rank":
        return rank_of(world) % width
    if name == "meta_group_rank":
        return rank_of(world) // width
    return -(-world.threads // width)


def asked_of_group(name: str, group, given: list[Callable], builtin: dict) -> Callable:
    """f, m -> what a group says."""
    if group.__class__ is not Group:
        raise GivenUp("method")

    def said(f, m):
        if name == "sync":
            if not group.width:
                meeting(f, m)
            return 0
        if name in _PLACES:
            return f.world.globals[_PLACES[name]]
        if name in _NUMBERS:
            return _number(name, group, f.world)
        if not group.width or len(given) != 2:
            raise GivenUp(name)
        width = lambda f, m: group.width  # noqa: E731
        return builtin[_SHUFFLES[name]]([width, *given, width], [])(f, m)

    return said


def this_block(given, templates):
    return lambda f, m: Group()


def tiled_partition(given, templates):
    def run(f, m):
        width = int(templates[0](f, m)) if templates else int(given[1](f, m))
        if not 0 < width <= _WARP or width & (width - 1):
            raise GivenUp("a tile of a block")
        return Group(width)

    return run


def plus_of(given, templates):
    return lambda f, m: Struct({}, "plus")


def _shape(value, lanes: int) -> tuple[int, ...]:
    return (len(value), lanes) if has_rows(value) else (lanes,)


def reduce(given, templates):
    """The sum over a tile, for all of its threads."""

    def run(f, m):
        group, value, sign = (part(f, m) for part in given[:3])
        if group.__class__ is not Group or not group.width:
            raise GivenUp("reduce")
        if sign.__class__ is not Struct or sign.kind != "plus":
            raise GivenUp("reduce")
        if f.world.effects is not None:
            f.world.effects.is_joint = True
        lanes = f.world.blocks * f.world.threads
        if f.world.threads % group.width:
            raise GivenUp("reduce")
        active = np.broadcast_to(m, _shape(m, lanes)).reshape(-1, group.width)
        if (active.any(1) != active.all(1)).any():
            raise Fault("a tile of which only some threads add")
        shape = _shape(value, lanes)
        tiles = np.broadcast_to(value, shape).reshape(*shape[:-1], -1, group.width)
        return np.repeat(tiles.sum(-1), group.width, axis=-1)

    return run
