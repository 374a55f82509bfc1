"""Sums of counters that lab.toml may name: what a kernel moves, whichever instruction moves it.

A limit on one counter is one that another instruction gets round: an atomic that changes nothing
loads as well, and constant memory is memory. So limits name these sums, and a new instruction that
moves data has to be added here alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.labs.expression import evaluate, names_in

SUMS = {
    "loaded_sectors": "global_load_sectors + global_atomic_sectors + global_reduction_sectors"
    " + constant_load_words + bulk_load_bytes / 32 + copied_load_sectors",
    "thread_sectors": "global_load_sectors + global_atomic_sectors + global_reduction_sectors"
    " + constant_load_words",
    "load_requests": "global_load_requests + global_atomic_requests + global_reduction_requests"
    " + constant_load_requests + bulk_load_requests",
    "stored_sectors": "global_store_sectors + global_atomic_sectors + global_reduction_sectors"
    " + bulk_store_bytes / 32 + copied_store_sectors",
    "store_requests": "global_store_requests + global_atomic_requests + global_reduction_requests"
    " + bulk_store_requests",
    "copied_sectors": "copied_load_sectors + copied_store_sectors",
    "copies": "copied_pieces",
    "conflicts": "bank_conflicts + async_conflicts",
    "local_sectors": "local_load_sectors + local_store_sectors",
    "tile_load_requests": "shared_load_requests + matrix_load_requests + shared_atomic_requests"
    " + lane_exchanges",
    "tile_load_wavefronts": "shared_load_wavefronts + matrix_load_wavefronts"
    " + shared_atomic_wavefronts + lane_exchanges",
    "tile_store_wavefronts": "shared_store_wavefronts + matrix_store_wavefronts"
    " + shared_atomic_wavefronts + bulk_load_bytes / 128",
}
MEANINGS = {
    "loaded_sectors": "sectors of 32 bytes that are read from global or constant memory,"
    " by copies on the device too",
    "thread_sectors": "those of them that threads read, and no copy",
    "load_requests": "instructions of a warp that read them",
    "stored_sectors": "sectors of 32 bytes that are written to global memory, by copies on the device too",
    "store_requests": "instructions of a warp that write them",
    "copied_sectors": "sectors of 32 bytes that copies read and write, on the device and by way of solve's own"
    " memory on the host",
    "copies": "copies between host and device and on the device; one by rows counts as many as it has rows",
    "conflicts": "wavefronts above the least possible, of threads' accesses to shared memory and of asynchronous"
    " copies into it",
    "local_sectors": "sectors of 32 bytes of arrays that a thread does not keep in registers",
    "tile_load_requests": "instructions of a warp that read shared memory or another lane's registers",
    "tile_load_wavefronts": "cycles of shared memory that they take, one for an exchange between lanes",
    "tile_store_wavefronts": "cycles of shared memory that writing takes",
}
PARTS = {name: tuple(sorted(names_in(text))) for name, text in SUMS.items()}


def with_sums(counters: Mapping[str, float]) -> dict[str, float]:
    """The counters, and the sums of those that there are."""
    known = {part: 0 for parts in PARTS.values() for part in parts} | dict(counters)
    return dict(counters) | {name: evaluate(text, known) for name, text in SUMS.items()}


def counters_in(names: set[str]) -> set[str]:
    """The names, with the counters in place of their sums."""
    return {part for name in names for part in PARTS.get(name, (name,))}


def markdown() -> str:
    """The table for the docs."""
    rows = [f"| {name} | {MEANINGS[name]} | {text} |" for name, text in SUMS.items()]
    return "\n".join(["| sum | what it is | of |", "|---|---|---|", *rows]) + "\n"
