"""Memory that host and device share, and memcpy: what the host does too early, or by halves.

Read from the text of solve, with the sizes of one case.
"""

from __future__ import annotations

from grader.judging.host import Host, Said, plain_name
from grader.judging.wording import calls, names_in, value
from grader.labs.statements import Listing, Statement, function_name, shown

_WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy")


def unawaited(text: Listing, host: Host) -> Said | None:
    """Managed memory that the host reads while the kernel may still run."""
    shared = {
        plain_name(given[0])
        for item in host.body
        for given in calls(item, "cudaMallocManaged")
        if given
    } - {""}
    if not shared or not host.launches:
        return None
    last = host.launches[-1]
    for item in host.body:
        if item.number <= last.number:
            continue
        if any(word in item.words for word in _WAITS):
            return None
        if any(name in item.words for name in shared) and "cudaFree" not in item.words:
            name = next(name for name in item.words if name in shared)
            return Said(
                f"The host uses {name} here, and nothing has waited for the kernel that line "
                f"{last.line} launches: a launch returns at once.",
                item.line,
                "Call cudaDeviceSynchronize() before the host reads what a kernel has written.",
            )
    return None


def taken_early(text: Listing, host: Host, results: set[str]) -> Said | None:
    """A result that the host takes out of shared memory right after a launch. `results`: names."""
    if "cudaMallocManaged" not in text.bare or not host.launches:
        return None
    waiting = {
        function_name(function)
        for function in text.functions()
        if any(word in item.words for item in text.inside(function) for word in _WAITS)
    }
    last = host.launches[-1]
    for item in host.body:
        if item.number <= last.number:
            continue
        if any(word in _WAITS or word in waiting for word in item.words):
            return None
        named = next((word for word in item.words if word in results), "")
        if named:
            return Said(
                f"{named} gets its values here, and nothing has waited for the kernel that line "
                f"{last.line} launches: a launch returns at once.",
                item.line,
                "Call cudaDeviceSynchronize() before the host reads what a kernel has written.",
            )
    return None


def copied_by_halves(
    host: Host, known: dict[str, str], arrays: dict[str, tuple[int, int]]
) -> Said | None:
    """memcpy of fewer bytes than an array of solve's has. `arrays`: (elements, bytes) by name."""
    for item in host.body:
        for given in calls(item, "memcpy"):
            if len(given) != 3:
                continue
            sides = [plain_name(given[at]) for at in (0, 1)]
            name = next((one for one in sides if one in arrays), "")
            size = _value(given[2], known, item)
            if not name or size is None or size >= arrays[name][1]:
                continue
            elements, whole = arrays[name]
            return Said(
                f"memcpy of {shown(given[2])} is {size} bytes; {name} has {elements} elements, "
                f"{whole} bytes.",
                item.line,
                "memcpy counts bytes: times sizeof the type." if size == elements else "",
            )
    return None


def _value(words: tuple[str, ...], known: dict[str, str], item: Statement) -> int | None:
    return value(words, known) if names_in(words) else None
