"""A loop that only computes, for the few lanes whose elements of P are looked at.

Most of a kernel's work is done in such loops, by threads whose results decide nothing in a search:
a change is right only if the threads that were wrong are right. All lanes load tiles and store
results; between that only the chosen ones multiply and add.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.judging.repair.iterations import Iteration
from grader.judging.repair.memory import Buffer, Forked, Local
from grader.judging.repair.nodes import Node, walk
from grader.judging.repair.values import Closure, Pointer, Ref, Struct, settled
from grader.judging.repair.views import Seen, is_of_fields
from grader.judging.repair.world import Frame, World


def may_be_narrow(node: Node) -> bool:
    """Whether all lanes that begin a loop end it, and it makes no shared memory."""
    if node.is_narrow is None:
        node.is_narrow = not any(
            one.kind == "return" or (one.kind == "declare" and one.type.is_shared)
            for one in walk(node)
        )
    return node.is_narrow


def watched(node: Node, run: Callable) -> Callable:
    """A loop that is carried out for the chosen lanes where nothing else comes of it.

    Whether it stores words that others see is what the file as it is has shown.
    """
    key = node.loop

    def carried_out(f, m):
        world = f.world
        seen = world.effects
        if seen is not None:
            before, filled = seen.count, seen.filled
            after = run(f, m)
            if seen.count != before:
                seen.loops.add(key)
            if seen.filled != filled:
                seen.filling.add(key)
            return after
        # A loop that stands nowhere in the file has no key; what it does is not known.
        if world.few is None or key[0] < 0 or key in world.loud:
            return run(f, m)
        if any(_has_all_lanes(value, f) for value in f.env.values()):
            return run(f, m)
        return _for_few(run, f, m)

    return carried_out


def _has_all_lanes(value, f) -> bool:
    """Whether it is another name of something outside."""
    if value.__class__ is Pointer:
        return is_of_fields(value.memory)
    if value.__class__ is Ref:
        return value.target.__class__ is not Pointer or _has_all_lanes(value.target, f)
    if value.__class__ is Struct:
        return any(one.__class__ is Ref and _has_all_lanes(one, f) for one in value.fields.values())
    if value.__class__ is Iteration:
        return True
    return value.__class__ is Closure and value.home is not f


def _for_few(run: Callable, f: Frame, m):
    world = f.world
    few = world.few
    mine = m if m is True else settled(m[..., few])
    if mine is False:
        return m
    view = _View(world)
    before = {name: view.of(value) for name, value in f.env.items()}
    fields = {n: _kept(v) for n, v in before.items() if v.__class__ is Struct}
    inner = Frame(world, dict(before))
    for name, value in before.items():
        if value.__class__ is Closure:
            inner.env[name] = replace(value, home=inner)
    if f.fields is not None:
        inner.fields = before["this"].fields
    kept = view.enter()
    try:
        run(inner, mine)
    finally:
        view.leave(kept)
    for name, old in before.items():
        new = inner.env[name]
        # A struct is changed where it lies.
        if new is old and name in fields:
            _put_back(view, fields[name], new, f.env[name])
        elif new is not old and new.__class__ is not Closure:
            f.env[name] = view.back(new, f.env[name])
    view.restore()
    return m


def _kept(struct: Struct) -> dict:
    """What its fields are before the loop."""
    return {n: (v, _kept(v) if v.__class__ is Struct else None) for n, v in struct.fields.items()}


def _put_back(view: _View, kept: dict, new: Struct, old: Struct) -> None:
    """What has changed, into the struct that others know, too."""
    for name, value in new.fields.items():
        before, inside = kept.get(name, (None, None))
        if value is before and inside is not None:
            _put_back(view, inside, value, old.fields[name])
        elif value is not before:
            old.fields[name] = view.back(value, old.fields.get(name))


class _View:
    """What lanes see, as some of them do."""

    def __init__(self, world: World) -> None:
        self.world, self.few, self.count = world, world.few, world.blocks * world.threads
        self.memories: dict[int, tuple] = {}  # by the original's id: it, and the view
        self.originals: dict[int, object] = {}
        self.firsts: dict[int, list] = {}

    def of(self, value):
        kind = value.__class__
        if kind is np.ndarray:
            return value[..., self.few] if value.shape[-1:] == (self.count,) else value
        if kind is Pointer:
            memory, off = self.memory(value.memory), self.of(value.off)
            return Pointer(memory, off, value.dims, value.unit, value.names, value.is_packed)
        if kind is Struct:
            parts = {n: self.of(one) for n, one in value.fields.items()}
            return value.like(parts)
        if kind is Ref:
            return Ref(self.of(value.target))
        return value

    def memory(self, memory):
        known = self.memories.get(id(memory))
        if known is not None:
            return known[1]
        found = copy.copy(memory)
        if isinstance(memory, Seen):
            found.memory = self.memory(memory.memory)
        if memory.__class__ is Local:
            if memory.lanes is None:
                found.items = [self.of(item) for item in memory.items]
                self.firsts[id(memory)] = list(found.items)
            else:
                found.items = memory.items[..., self.few]
                found.lanes = np.arange(len(self.few))
        elif memory.__class__ is Buffer:
            found.base = self.of(memory.base)
        elif memory.__class__ is Forked:
            found.parts = [(self.of(lanes), self.memory(one)) for lanes, one in memory.parts]
        self.memories[id(memory)] = (memory, found)
        self.originals[id(found)] = memory
        return found

    def enter(self) -> tuple:
        world, batch = self.world, self.world.batch
        kept = [world.globals["threadIdx"], world.globals["blockIdx"], world.weight, world.few]
        world.globals["threadIdx"], world.globals["blockIdx"] = self.of(kept[0]), self.of(kept[1])
        world.few = None
        world.weigh(len(self.few))
        if batch is not None:
            batch.each = len(self.few)
        return tuple(kept)

    def leave(self, kept: tuple) -> None:
        world = self.world
        world.globals["threadIdx"], world.globals["blockIdx"], world.weight, world.few = kept[:4]
        if world.batch is not None:
            world.batch.each = self.count

    def back(self, value, old):
        """A value for all lanes; those that were left out keep what they had."""
        kind = value.__class__
        if kind is np.ndarray and value.shape[-1:] == (len(self.few),):
            shape = (*value.shape[:-1], self.count)
            if old.__class__ is np.ndarray and old.shape[-1:] == (self.count,):
                shape = max(shape, old.shape, key=len)
                full = np.array(np.broadcast_to(old, shape), np.result_type(old, value))
            else:
                is_number = isinstance(old, (int, float, np.number))
                full = np.full(shape, old if is_number else 0, value.dtype)
            full[..., self.few] = value
            return full
        if kind is Pointer:
            memory = self.originals.get(id(value.memory), value.memory)
            if memory.__class__ is Forked and memory is value.memory:  # made meanwhile
                memory = Forked(
                    [
                        (self.back(lanes, False), self.originals.get(id(one), one))
                        for lanes, one in memory.parts
                    ]
                )
            off = old.off if old.__class__ is Pointer else 0
            off = self.back(value.off, off)
            return Pointer(memory, off, value.dims, value.unit, value.names, value.is_packed)
        if kind is Ref:
            return Ref(self.back(value.target, getattr(old, "target", None)))
        if kind is Struct:
            were = old.fields if old.__class__ is Struct else {}
            back = {n: self.back(one, were.get(n, 0)) for n, one in value.fields.items()}
            return value.like(back)
        return value

    def restore(self) -> None:
        """Arrays of the threads' own."""
        for memory, view in self.memories.values():
            if memory.__class__ is Buffer and view.rows > memory.rows:
                memory.data, memory.rows, memory.start = view.data, view.rows, view.start
            if memory.__class__ is not Local:
                continue
            if memory.lanes is not None or view.lanes is not None:
                matrix = memory.matrix(self.count)
                if view.items.ndim > matrix.ndim:
                    matrix = memory.split(view.items.shape[1])
                matrix[..., self.few] = view.items
                continue
            for at, (first, now) in enumerate(
                zip(self.firsts[id(memory)], view.items, strict=True)
            ):
                if first is not now:
                    memory.items[at] = self.back(now, memory.items[at])
