"""A call that was refused for the stream it was given: what has become of the stream before."""

from __future__ import annotations

from itertools import pairwise

from grader.judging.host import Host, Said
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Listing, Statement

_CREATES = "cudaStreamCreate"


def refused(text: Listing, host: Host, message: str, line: int) -> Said | None:
    """Of a call of solve's own text."""
    if "InvalidResourceHandle" not in message:
        return None
    here = next((one for one in host.body if line in one.lines and one.kind == "simple"), None)
    names = [one for one in _streams(host.body) if here is not None and one in here.words]
    if len(names) != 1:
        return None
    (name,) = names
    before = [one for one in host.body if one.number < here.number]
    for item in reversed(before):
        call = _filling(item, name)
        if call.startswith(_CREATES):
            return None
        if call:
            lacks = _without_memory(host, name)
            return Said(
                f"{call} puts the address of its memory into {name}, which is the stream: from here on "
                f"{name} is no stream, and what is asked for in it is refused.",
                item.line,
                f"{lacks} never gets any memory: write &{lacks}." if lacks else "",
            )
        if any(given[:1] == [(name,)] for given in calls_in(item, "cudaStreamDestroy")):
            return Said(
                f"{name} is destroyed here, and line {line} still uses it.",
                item.line,
                "Destroy a stream after all that is asked for in it.",
            )
    declared = text.declaration(name, here)
    others = [one for one in before if name in one.words and "cudaStream_t" not in one.words]
    is_told = all("<<<" in one.words or "cuda" in " ".join(one.words) for one in others)
    if declared is None or declared[1] or not is_told:
        return None  # it has its value from elsewhere
    made = [one for one in host.body if _filling(one, name).startswith(_CREATES)]
    where = f"only in line {made[0].line}" if made else "nowhere"
    return Said(
        f"{name} is used in line {line} and created {where}: until then it is no stream.",
        made[0].line if made else declared[0],
        f"CHECK(cudaStreamCreate(&{name})) has to come first.",
    )


def _streams(body: list[Statement]) -> list[str]:
    """The variables that are declared as streams."""
    return [
        after
        for item in body
        if "cudaStream_t" in item.words
        for word, after in pairwise(item.words)
        if word in ("cudaStream_t", ",")
        and after.isidentifier()
        and item.words[0] == "cudaStream_t"
    ]


def _filling(item: Statement, name: str) -> str:
    """The call that a variable's address is given to first; "" if there is none."""
    for at in range(1, len(item.words) - 3):
        if item.words[at + 1 : at + 3] == ("&", name) and item.words[at] == "(":
            return item.words[at - 1] if item.words[at - 1].startswith("cuda") else ""
    return ""


def _without_memory(host: Host, stream: str) -> str:
    """The only argument of a launch that no call gives memory, if the others are given some."""
    names = dict.fromkeys(
        part[0]
        for launch in host.launches
        for part in launch.given
        if len(part) == 1 and part[0].isidentifier() and part[0] not in host.parameters
    )
    filled = {one for one in names for item in host.body if item.has("&", one)}
    left = [one for one in names if one not in filled and one != stream]
    return left[0] if filled and len(left) == 1 else ""
