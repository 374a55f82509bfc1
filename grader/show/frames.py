"""Frames of a figure: what a block of a trace does between two barriers, or one of its lanes in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.trace import reader

Cell = tuple[str, int]  # an array and the number of its element


@dataclass
class Frame:
    """One picture: the cells that it marks, and what the arrays hold in it."""

    title: str
    values: dict[Cell, float] = field(default_factory=dict)
    reads: set[Cell] = field(default_factory=set)
    writes: set[Cell] = field(default_factory=set)
    grows: set[Cell] = field(default_factory=set)
    comes: set[Cell] = field(default_factory=set)  # by asynchronous copies
    readers: dict[Cell, set[int]] = field(default_factory=dict)  # threads
    writers: dict[Cell, set[int]] = field(default_factory=dict)

    @property
    def races(self) -> set[Cell]:
        """Elements that one thread writes and another one reads, with no barrier between."""
        return {
            cell
            for cell, writers in self.writers.items()
            if len(writers | self.readers.get(cell, set())) > 1
        }


class Story:
    """One block of a launch, with columns as arrays."""

    def __init__(self, launch: Mapping[str, Any], block: int = 0) -> None:
        self.launch, self.block = launch, block
        self.names = [array["holds"] or array["name"] for array in launch["arrays"]]
        self.shapes = dict(
            zip(self.names, (array["shape"] for array in launch["arrays"]), strict=True)
        )
        self.values: dict[Cell, float] = {}
        for name, array in zip(self.names, launch["arrays"], strict=True):
            if array["initial"] is not None and name != "P":
                held = array["initial"].view("<f4")
                self.values |= {(name, i): float(one) for i, one in enumerate(held)}

    def between_barriers(self, titles: list[str]) -> list[Frame]:
        """One frame for each interval between barriers; `titles` name them in order."""
        events = self.launch["events"]
        last = max(
            int(events["interval"][i])
            for i in range(events["count"])
            if events["block"][i] == self.block
        )
        frames = [Frame(title) for title in titles[: last + 1]]
        assert len(frames) == last + 1, f"{last + 1} frames, {len(titles)} titles"
        self._accesses(frames)
        self._sums(frames)
        self._copies(frames)
        held = dict(self.values)
        for frame in frames:
            held |= frame.values
            frame.values = {cell: held[cell] for cell in held if cell not in frame.comes}
        return frames

    def _frame_of(self, event: int, frames: list[Frame]) -> Frame | None:
        events = self.launch["events"]
        if events["block"][event] != self.block:
            return None
        return frames[int(events["interval"][event])]

    def _accesses(self, frames: list[Frame]) -> None:
        launch = self.launch
        accesses, events = launch["accesses"], launch["events"]
        for row in range(accesses["count"]):
            event, array = int(accesses["event"][row]), int(accesses["array"][row])
            frame = self._frame_of(event, frames)
            code = launch["instructions"][events["code"][event]]
            if frame is None or array < 0 or code["kind"] == "copy":
                continue
            own = reader.lanes(int(events["mask"][event]))
            for place, lane in enumerate(reader.lanes(int(accesses["mask"][row]))):
                first = int(launch["offsets"][accesses["first"][row] + place]) // 4
                word = int(events["value"][event]) + own.index(lane) * code["elements"]
                for element in range(code["elements"]):
                    cell = (self.names[array], first + element)
                    thread = int(events["warp"][event]) * 32 + lane
                    parties = frame.writers if code["kind"] == "store" else frame.readers
                    parties.setdefault(cell, set()).add(thread)
                    if code["kind"] == "store":
                        frame.writes.add(cell)
                        words = launch["values"][word + element : word + element + 1]
                        frame.values[cell] = float(words.view("<f4")[0])
                    else:
                        frame.reads.add(cell)

    def _sums(self, frames: list[Frame]) -> None:
        """A sum grows where one of its products is made; what it is then is the product's result."""
        launch = self.launch
        for cell, products in self.products().items():
            for row in products:
                event = int(launch["products"]["event"][row])
                frame = self._frame_of(event, frames)
                if frame is None:
                    continue
                frame.grows.add(cell)
                own = reader.lanes(int(launch["events"]["mask"][event]))
                lane = int(launch["products"]["lane"][row])
                word = int(launch["events"]["value"][event]) + own.index(lane)
                frame.values[cell] = float(launch["values"][word : word + 1].view("<f4")[0])

    def products(self) -> dict[Cell, list[int]]:
        """The rows of `products` that each element is made of, of this block's elements."""
        launch = self.launch
        sums, found = launch["sums"], {}
        stores = self._stored()
        for row in range(sums["count"]):
            event = int(sums["event"][row])
            if launch["events"]["block"][event] != self.block:
                continue
            cell = stores[event, int(sums["lane"][row])]
            first = int(sums["first"][row])
            terms = launch["terms"][first : first + int(sums["terms"][row])]
            found[cell[0], cell[1] + int(sums["element"][row])] = [int(term) for term in terms]
        return found

    def _stored(self) -> dict[tuple[int, int], Cell]:
        launch, found = self.launch, {}
        accesses = launch["accesses"]
        for row in range(accesses["count"]):
            for place, lane in enumerate(reader.lanes(int(accesses["mask"][row]))):
                first = int(launch["offsets"][accesses["first"][row] + place]) // 4
                array = self.names[accesses["array"][row]]
                found[int(accesses["event"][row]), lane] = (array, first)
        return found

    def _copies(self, frames: list[Frame]) -> None:
        copies = self.launch["copies"]
        for row in range(copies["count"]):
            frame = self._frame_of(int(copies["event"][row]), frames)
            if frame is None:
                continue
            for word in range(int(copies["bytes"][row]) // 4):
                target = (
                    self.names[copies["to"][row]],
                    int(copies["to_offset"][row]) // 4 + word,
                )
                source = (
                    self.names[copies["from"][row]],
                    int(copies["from_offset"][row]) // 4 + word,
                )
                frame.comes.add(target)
                frame.reads.add(source)
                value = self.launch["values"][copies["value"][row] + word :][:1]
                frame.values[target] = float(value.view("<f4")[0])

    def of_lanes(self, lanes: list[int]) -> list[Frame]:
        """One frame for each lane of warp 0: the sums that are its own, and their factors."""
        launch, frames = self.launch, []
        products, events = launch["products"], launch["events"]
        for lane in lanes:
            frame = Frame(f"lane {lane}")
            for cell, rows in self.products().items():
                row = rows[0]
                event = int(products["event"][row])
                if products["lane"][row] != lane or events["warp"][event] != 0:
                    continue
                frame.grows.add(cell)
                for one in rows:
                    for side in ("left", "right"):
                        array = self.names[products[side][one]]
                        frame.reads.add((array, int(products[f"{side}_offset"][one]) // 4))
            frames.append(frame)
        return frames
