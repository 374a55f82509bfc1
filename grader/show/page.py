"""The page: one HTML file with its script, its style and its traces, which loads nothing.

Its policy allows the two inline parts by their hashes and no address at all. The traces travel as
gzip in base64, which the browser unpacks.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.show.bundle import script
from grader.trace import reader

_FOLDER = Path(__file__).parent / "page"
MOST_BYTES = 2_000_000
_ATOMIC = 2  # kind of an access


@dataclass(frozen=True)
class Run:
    """One trace on the page."""

    title: str  # in the list of runs
    trace: Mapping[str, Any]  # tilewise.trace/1
    note: str = ""  # what a reader has to know: how it was compiled, what is left out


def render(runs: Sequence[Run], *, eyebrow: str, heading: str) -> str:
    """The page as text. `eyebrow` and `heading` stand above it."""
    code, style = _script(), (_FOLDER / "style.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}"
    template = _environment().get_template("page.html")
    return template.render(
        policy=Markup(policy),
        title=f"{heading} · {eyebrow}",
        eyebrow=eyebrow,
        heading=heading,
        style=Markup(style),
        script=Markup(code),
        data=Markup(_packed(runs)),
    )


def _packed(runs: Sequence[Run]) -> str:
    data = {"runs": [{"title": r.title, "note": r.note, "trace": _needed(r.trace)} for r in runs]}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _needed(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Without what arrays hold in the end, which follows from the steps but for atomics."""
    launches = []
    for launch in trace["launches"]:
        has_atomics = _ATOMIC in reader.with_columns(launch["accesses"]["kind"])
        arrays = [
            {**one, "final": one["final"] if has_atomics else None} for one in launch["arrays"]
        ]
        launches.append({**launch, "arrays": arrays})
    return {**trace, "launches": launches}


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@functools.cache
def _script() -> str:
    return script(_FOLDER)


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
