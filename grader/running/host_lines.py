"""Where a submission's host code makes a call: from an offset in its library to a line of matmul.cu.

The recorder notes offsets of calls; the compiled library has line numbers of its host code
(`-g1`). The library is made of a student's text, so that the program that reads it runs in the
sandbox, and what it says is taken for a line number and nothing else.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader import sandbox
from grader.labs.submission import FILE_NAME
from grader.results.finding import Party
from grader.running.execution import Execution

_SECONDS = 10
_MOST_CALLS = 64
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")


def with_host_lines(execution: Execution, library: Path | None) -> Execution:
    """The execution with the lines of its calls; without them where they cannot be had."""
    calls = {
        party.call
        for fault in execution.faults
        for party in (fault.facts, fault.facts.other)
        if party is not None and party.call
    } | {error["call"] for error in execution.api_errors if error.get("call")}
    if not calls:
        return execution
    lines = _lines(library, sorted(calls)[:_MOST_CALLS]) if library else {}

    def placed(party: Party) -> Party:
        if not party.call:
            return party
        line = lines.get(party.call, 0)
        known = {"line": line, "file": FILE_NAME} if line else {}
        return replace(party, call=0, **known)

    faults = []
    for fault in execution.faults:
        facts = placed(fault.facts)
        if facts.other:
            facts = replace(facts, other=placed(facts.other))
            if (
                not facts.line
            ):  # the host's own accesses are no calls: what they did not wait for is
                facts = replace(facts, line=facts.other.line, file=facts.other.file)
        faults.append(replace(fault, facts=facts))
    errors = tuple(
        {**error, "call": 0, "line": lines.get(error.get("call") or 0, 0)}
        for error in execution.api_errors
    )
    return replace(execution, faults=tuple(faults), api_errors=errors)


def line_of_crash(call: int, library: Path | None) -> int:
    """Where solve crashed; 0 where that is not known."""
    lines = frames(library, [call]).get(call, ()) if call and library is not None else ()
    return lines[0] if lines else 0


def _lines(library: Path, calls: Iterable[int]) -> dict[int, int]:
    """Line of matmul.cu by offset; the innermost, where a function of it was inlined."""
    return {call: lines[0] for call, lines in frames(library, calls).items()}


def frames(library: Path, calls: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Lines of matmul.cu by offset, the innermost first: where a helper was inlined, its caller's, too."""
    found: dict[int, tuple[int, ...]] = {}
    program = shutil.which("addr2line")
    wanted = list(dict.fromkeys(calls))
    if program is None or not wanted:
        return found
    tool = Path(program)
    ended = sandbox.run(
        [program, "-a", "-i", "-e", library, *map(hex, wanted)],
        limits=sandbox.Limits(seconds=_SECONDS, output_bytes=1 << 18),
        view=sandbox.View(readable=[library.parent, tool.parent, tool.resolve().parent]),
    )
    call = 0
    for text in ended.stdout.splitlines():
        if text.startswith("0x"):
            number = text.strip()
            call = int(number, 16) if _ADDRESS.fullmatch(number) else 0
            continue
        name, _, number = text.partition(" ")[0].rpartition(":")
        if name.rsplit("/", 1)[-1] == FILE_NAME and number.isdigit() and int(number):
            if call in wanted:
                found[call] = (*found.get(call, ()), int(number))
    return found
