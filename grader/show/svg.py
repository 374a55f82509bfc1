"""Frames of one size as two drawings: beside each other for print, and in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from grader.labs.course import Course

SECONDS = 2.2  # that a frame is seen

_STYLE = """
text{font-family:sans-serif;fill:#222}.q{fill:#59636e}
.bg{fill:#fff}.c{fill:#fff;stroke:#c3c9d1;stroke-width:.7}
.r{fill:#d6e8f8;stroke:#0a63b0;stroke-width:1.6}
.w,.w.g{fill:#fde3cf;stroke:#c24e00;stroke-width:1.6}.k{fill:#c24e00}
.g{fill:none;stroke:#6a3fa0;stroke-width:1.6;stroke-dasharray:3 2}
.x,.x.g{fill:#f7c6cf;stroke:#a4002a;stroke-width:2.4;stroke-dasharray:none}
.o{fill:url(#h);stroke:#0a63b0;stroke-width:1;stroke-dasharray:2 2}.h{stroke:#0a63b0}
@media (prefers-color-scheme:dark){text{fill:#e6e9ed}.q{fill:#9ba5b0}.bg{fill:#171a1f}
.c{fill:#171a1f;stroke:#48515c}.r{fill:#17334d;stroke:#63b1f5}.w,.w.g{fill:#452813;stroke:#f59a55}.k{fill:#f59a55}
.x,.x.g{fill:#5a1526;stroke:#ff8fa3}.g{stroke:#c4a3f0}.o{stroke:#63b1f5}.h{stroke:#63b1f5}}
"""
_HATCH = (
    '<defs><pattern id="h" width="4" height="4" patternUnits="userSpaceOnUse">'
    '<path class="h" d="M-1 1 1-1M0 4 4 0M3 5 5 3" stroke-width="1"/></pattern></defs>'
)


def files(
    title: str,
    frames: Sequence[str],
    size: tuple[float, float],
    columns: int,
    legend: Callable[[float], str],
    own_style: str = "",
) -> dict[str, str]:
    """steps.svg and moving.svg of frames of one size. `legend` is given its y."""
    wide, high = size
    rows = -(-len(frames) // columns)
    beside = "\n".join(
        f'<g transform="translate({i % columns * (wide + 24):g}'
        f' {i // columns * (high + 14):g})">{frame}</g>'
        for i, frame in enumerate(frames)
    )
    width = min(len(frames), columns) * (wide + 24) - 24
    height = rows * (high + 14)
    steps = _svg(title, width, height + 18, own_style, beside + "\n" + legend(height))
    length = len(frames) * SECONDS
    share = 100 / len(frames)
    style = (
        own_style + f".f{{opacity:0;animation:s {length:g}s infinite step-end}}"
        f"@keyframes s{{0%{{opacity:1}}{share:.3f}%{{opacity:0}}}}"
        + "".join(f".f{i}{{animation-delay:{i * SECONDS:g}s}}" for i in range(len(frames)))
        + f"@media (prefers-reduced-motion:reduce),print{{.f{{animation:none}}.f{len(frames) - 1}{{opacity:1}}}}"
    )
    turning = "\n".join(f'<g class="f f{i}">{frame}</g>' for i, frame in enumerate(frames))
    moving = _svg(title, max(wide, 470), high + 32, style, turning + "\n" + legend(high + 14))
    return {"steps.svg": steps, "moving.svg": moving}


def not_current(course: Course, lab: str, made: Mapping[str, str]) -> dict[Path, str]:
    """Those of the files of a lab that are not what was made."""
    paths = {course.labs / lab / name: text for name, text in made.items()}
    return {
        path: text
        for path, text in paths.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }


def _svg(title: str, width: float, height: float, style: str, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}{style}</style>\n{_HATCH}\n"
        f'<rect class="bg" width="{width:g}" height="{height:g}"/>\n{body}\n</svg>\n'
    )
