"""What was counted while a kernel ran, as a table for a terminal: totals and the busiest line."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from grader.results.result import CheckResult, Kernel

# Row -> counter of requests, counter of what the requests became, its unit.
_MEMORY = (
    ("global loads", "global_load_requests", "global_load_sectors", "sectors"),
    ("global stores", "global_store_requests", "global_store_sectors", "sectors"),
    ("shared loads", "shared_load_requests", "shared_load_wavefronts", "wavefronts"),
    ("shared stores", "shared_store_requests", "shared_store_wavefronts", "wavefronts"),
)
# Further counters as they are called in a sentence; conflicts even if there are none.
_OTHERS = (
    ("bank_conflicts", "bank conflicts"),
    ("instructions", "instructions"),
    ("fma_lanes", "multiply-adds"),
    ("barriers", "barriers"),
    ("divergent_branches", "divergent branches"),
    ("async_requests", "asynchronous copies"),
    ("tensor_multiply_adds", "multiply-adds on tensor cores"),
    ("matrix_load_wavefronts", "wavefronts of ldmatrix"),
)
_DIM = "bright_black"
_WIDE = 72  # columns that five cells of large counts need


def are_telling(checks: tuple[CheckResult, ...], passed: bool) -> bool:
    """Whether counts help now: everything is right, or what is right is not yet efficient."""
    return passed or any(
        check.group == "performance" and check.status == "failed" for check in checks
    )


def table(kernel: Kernel, width: int) -> Table | None:
    """One row for each memory that the kernel touched; None if it touched none.

    width: columns of the terminal; below _WIDE the column of the busiest line is left out.
    """
    rows = [row for row in _MEMORY if kernel.counters.get(row[1])]
    if not rows:
        return None
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    for _ in range(3):
        grid.add_column(justify="right", no_wrap=True)
    columns = 5 if width >= _WIDE else 4
    heads = ("", "requests", "became", "each", "busiest line")
    grid.add_row(*(Text(head, style=_DIM) for head in heads[:columns]))
    for title, requests, became, unit in rows:
        asked, served = kernel.counters[requests], kernel.counters.get(became, 0)
        cells = (
            title,
            f"{asked:,}",
            f"{served:,} {unit}",
            f"{served / asked:.1f}",
            _busiest(kernel, became, served),
        )
        grid.add_row(*cells[:columns])
    return grid


def sentence(counters: Mapping[str, int]) -> str:
    """The counters that are no memory's own, in one line; none that is 0 but the conflicts."""
    parts = [
        f"{counters[name]:,} {title}"
        for name, title in _OTHERS
        if counters.get(name) or (name == "bank_conflicts" and counters.get("shared_load_requests"))
    ]
    return ", ".join(parts)


def _busiest(kernel: Kernel, counter: str, total: int) -> str:
    """ "38, 80%": the line with most of a counter and its share of the kernel's total."""
    at = max(kernel.lines, key=lambda entry: entry.counters.get(counter, 0), default=None)
    if at is None or not at.counters.get(counter) or not total:
        return ""
    return f"{at.line}, {at.counters[counter] / total:.0%}"
