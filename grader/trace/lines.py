"""Counters per source line as JSON, of the events of a trace: `tilewise.lines/1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.trace.reader import counters_by_line


def lines(trace: Mapping[str, Any]) -> dict[str, Any]:
    """trace: with columns as arrays."""
    names = [file["name"] for file in trace["files"]]
    texts = [(file["text"] or "").splitlines() for file in trace["files"]]
    launches = []
    for launch in trace["launches"]:
        rows = []
        for (file, line), counted in sorted(counters_by_line(launch).items()):
            known = file >= 0 and 0 < line <= len(texts[file])
            rows.append(
                {
                    "file": names[file] if file >= 0 else "",
                    "line": line,
                    "source": texts[file][line - 1].strip() if known else "",
                    "counters": counted,
                }
            )
        launches.append(
            {
                "number": launch["number"],
                "kernel": launch["kernel"],
                "blocks": launch["blocks"],
                "is_whole": launch["is_whole"],
                "lines": rows,
            }
        )
    return {"schema": "tilewise.lines/1", "program": trace["program"], "launches": launches}
