"""A kernel is launched: what it is given, its grid and its block, and the lanes that carry it out."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from grader.judging.repair.nodes import Function, Node, Type
from grader.judging.repair.overloads import whole
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.standard import List
from grader.judging.repair.values import Fault, Kernel, Place, Pointer, Struct, to_int
from grader.judging.repair.world import Exhausted, Frame, World

_MAX_LANES = 1 << 15
_SHAPE = ("the grid", "the block", "the bytes")  # of a launch by name


class Launches:
    """A part of Machine."""

    def _launch(self, node: Node) -> Callable:
        target, settings, arguments = node.kids
        templates: list[Callable] = []
        if target.kind == "template":
            templates = [self.code(kid) for kid in target.kids[1:]]
            target = target.kids[0]
        kernel = self.file.functions.get(target.text) if target.kind == "name" else None
        if kernel is not None and kernel.is_kernel:
            return self.launch_of(kernel, templates, settings, arguments)
        if kernel is not None or templates:
            raise GivenUp("kernel")
        value, known, types = self.code(target), {}, self.types

        def launch(f, m):
            """Of a kernel that a variable or a table has."""
            found = value(f, m)
            if found.__class__ is not Kernel or not found.function.is_kernel:
                raise GivenUp("kernel")
            key = found.function.name, found.given
            if key not in known:
                given = [lambda f, m, one=one: one for one in found.given]
                kept, self.types = self.types, types
                try:
                    known[key] = self.launch_of(found.function, given, settings, arguments)
                finally:
                    self.types = kept
            return known[key](f, m)

        return launch

    def launched(self, node: Node) -> Callable:
        """cudaLaunchKernel(kernel, grid, block, arguments, bytes), cudaLaunchKernelEx(&shape, kernel, ...)."""
        is_shaped = node.kids[0].text == "cudaLaunchKernelEx"
        kernel_at = 2 if is_shaped else 1
        value = self.code(node.kids[kernel_at])
        rest = [self.code(kid) for kid in node.kids[3:]]
        shape = self.address(node.kids[1].kids[0]) if is_shaped else None
        if shape is None and len(rest) < 2:
            raise GivenUp("cudaLaunchKernel")
        grid = [Node("name", text=text, line=node.line, key=-1) for text in _SHAPE]

        def launch(f, m):
            kernel = value(f, m)
            if kernel.__class__ is Place:
                kernel = kernel.holder.get(kernel.name)
            if kernel.__class__ is not Kernel or not kernel.function.is_kernel:
                raise GivenUp("kernel")
            count = len(kernel.function.parameters)
            if is_shaped:
                fields = whole(shape(f, m)).fields
                sides = [fields.get(one) for one in ("gridDim", "blockDim", "dynamicSmemBytes")]
                given = [part(f, m) for part in rest]
            else:
                sides = [node_of(f, m) for node_of in (second, rest[0], *rest[2:3])]
                given = self.pointed_at(rest[1](f, m), count, m)
            sides += [0] * (3 - len(sides))
            inner = Frame(f.world, {**f.env, **dict(zip(_SHAPE, sides, strict=True))})
            templates = [lambda f, m, one=one: one for one in kernel.given]
            nodes = [Node("number", text="0", line=node.line, key=-1) for _ in given]
            parts = [lambda f, m, one=one: one for one in given]
            return self.launch_of(kernel.function, templates, grid, nodes, parts)(inner, m)

        second = self.initial(node.kids[2], Type("dim3")) if not is_shaped else None
        if not is_shaped:
            rest[0] = self.initial(node.kids[3], Type("dim3"))
        return launch

    @staticmethod
    def pointed_at(array, count: int, m) -> list:
        """The values that an array of addresses points to."""
        found = []
        for at in range(count):
            if array.__class__ is not Pointer and array.__class__ is not List:
                raise GivenUp("arguments")
            is_list = array.__class__ is List
            place = array[at] if is_list else array.memory.load(array.off + at, m)
            if place.__class__ is Place:
                found.append(place.holder.get(place.name))
            elif place.__class__ is Pointer:
                found.append(place.load(m))
            elif place.__class__ is Struct:
                found.append(place)
            else:
                raise GivenUp("arguments")
        return found

    def kernel_named(self, name: str, given: tuple) -> Kernel:
        known = self.file.named[name]
        if len(known) != 1:
            raise GivenUp("overloads")
        return Kernel(known[0], given)

    def launch_of(
        self, kernel: Function, templates: list, settings: list, arguments: list,
        given: list | None = None,
    ) -> Callable:  # fmt: skip
        external = [
            self.code(node) for node in self.file.globals for one in node.kids if one.type.is_extern
        ]
        settings = [
            self.initial(kid, Type("dim3"))
            if kid.kind == "braces"
            else self.converted(self.code(kid))
            for kid in settings
        ]
        if given is None:
            given = [self.part(kid) for kid in arguments]
        arguments = self.passed(kernel, arguments, given)
        if len(arguments) != len(kernel.parameters) or len(templates) > len(kernel.templates):
            raise GivenUp("arguments")
        templates = self.with_defaults(kernel, templates)

        def launch(f, m):
            world = f.world
            sides = []
            for setting in settings[:2]:
                value = setting(f, m)
                if value.__class__ is not Struct:
                    value = Struct({"x": value, "y": 1, "z": 1})
                side = [int(to_int(value.fields[axis])) for axis in "xyz"]
                sides.append(side)
            grid, block = sides
            if min(*grid, *block) < 1 or math.prod(block) > 1024:
                raise Fault("launch")
            count = math.prod(grid) * math.prod(block)
            world.lanes = max(world.lanes, count)
            if count > _MAX_LANES:
                raise Exhausted
            world.dynamic = int(to_int(settings[2](f, m))) // 4 if len(settings) > 2 else 0
            env = {}
            body, converts = world.machine.function(kernel)
            for (_, name), convert, part in zip(
                kernel.parameters, converts, arguments, strict=True
            ):
                env[name] = convert(part(f, m))
                if env[name].__class__ is Pointer and env[name].memory.kind == "freed":
                    raise Fault("freed")
            for name, part in zip(kernel.templates, templates, strict=True):
                env[name] = part(f, m)
            if world.tried is not None:
                sign = (tuple(grid), tuple(block), world.dynamic, *map(_mark, env.values()))
                if sign in world.tried:
                    raise Fault("a launch as before")
                world.tried.add(sign)
            self.spread(world, grid, block)
            if world.meter is not None:
                world.meter.begin(world.threads)
            world.launches += 1
            for one in external:
                one(Frame(world, world.globals), True)
            world.weigh(world.blocks * world.threads)
            if world.batch is not None:
                world.batch.is_inside = True
            if world.owners is not None:
                world.owners.launch, world.owners.lanes = (
                    world.launches,
                    world.blocks * world.threads,
                )
            world.is_inside = True
            body(Frame(world, env), True)
            world.is_inside = False
            if world.owners is not None:
                world.owners.launch = 0
            if world.batch is not None:
                world.batch.is_inside = False
            world.weight = 1
            return 0

        return launch

    def spread(self, world: World, grid: list[int], block: list[int]) -> None:
        """threadIdx and its like for a launch."""
        world.shared = {}
        blocks, world.threads = math.prod(grid), math.prod(block)
        if world.races is not None:
            world.races.begin(blocks, world.threads)
        world.few = world.picked = None
        world.shape = (tuple(grid), tuple(block))
        kept = None
        if world.chosen is not None and world.shape == world.wanted:
            # No block sees what another does: those of the chosen threads are enough.
            kept, where = np.unique(world.chosen // world.threads, return_inverse=True)
            world.picked = where * world.threads + world.chosen % world.threads
            blocks, world.few = len(kept), world.picked
        world.blocks = blocks
        lane = np.arange(blocks * world.threads, dtype=np.int64)
        thread, number = lane % world.threads, lane // world.threads
        world.block_of = number
        if world.batch is not None:
            world.batch.each = len(lane)
        if kept is not None:
            number = kept[number]

        def places(index, sides):
            found = {}
            for axis, side in zip("xyz", sides, strict=True):
                found[axis] = index % side if side > 1 else 0
                index = index // side
            return Struct(found)

        world.globals["threadIdx"] = places(thread, block)
        world.globals["blockIdx"] = places(number, grid)
        world.globals["blockDim"] = Struct(dict(zip("xyz", block, strict=True)))
        world.globals["gridDim"] = Struct(dict(zip("xyz", grid, strict=True)))
        world.globals["warpSize"] = 32


def _mark(value) -> object:
    """What tells an argument of a launch from another."""
    if value.__class__ is Pointer:
        if value.memory.kind == "local":  # an array in a struct
            items = value.memory.items
            return tuple(map(_mark, items)) if items.__class__ is list else id(items)
        return value.memory.name, value.off, value.unit
    if value.__class__ is Struct:
        return tuple((name, _mark(one)) for name, one in value.fields.items())
    return value
