"""Rows that cudaMallocPitch lays apart, and who counts them as if they lay close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.host import Launch, Said
from grader.judging.wording import bare, calls
from grader.labs.statements import Listing, Statement, shown

_COPIES = ("cudaMemcpy2D", "cudaMemcpy2DAsync")
_TO_DEVICE, _TO_HOST = "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost"
_PITCH_AT = {_TO_DEVICE: 1, _TO_HOST: 3}  # of the side on the device


def close(text: Listing, launches: Sequence[Launch]) -> Said | None:
    """The length of a row in place of a pitch: in a copy, or where a kernel is given it."""
    every = [word for item in text.statements for word in item.words]
    if "cudaMallocPitch" not in every or "cudaMalloc" in every:
        return None  # of which buffer a copy is told is not clear
    lengths = set()
    for item, given in _copies(text):
        lengths.add(bare(given[4]))
        at = _PITCH_AT.get(given[6][-1], 0)
        if at and bare(given[at]) == bare(given[4]):
            return Said(
                f"This copy is told that rows on the device begin {shown(given[at])} bytes apart, which "
                "is the length of a row. cudaMallocPitch lays them further apart, and says how far.",
                item.line,
                "Give the pitch that cudaMallocPitch has returned for this buffer.",
            )
    for launch in launches:
        function = text.named(launch.kernel)
        names = text.parameters(function) if function is not None else []
        for name, given in zip(names, launch.given, strict=False):
            if "pitch" in name.lower() and bare(given) in lengths:
                return Said(
                    f"{launch.kernel} is given {shown(given)} as {name}, the length of a row. "
                    "cudaMallocPitch lays rows further apart, and says how far.",
                    launch.line,
                    "Give the pitch that cudaMallocPitch has returned for this buffer.",
                )
    return None


def _copies(text: Listing) -> Iterator[tuple[Statement, list[tuple[str, ...]]]]:
    for item in text.statements:
        for name in _COPIES:
            for given in calls(item, name):
                if len(given) > 6 and given[6]:
                    yield item, given
