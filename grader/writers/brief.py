"""A report for a screen of 24 rows: what changed, the first finding, and the rest in one line.

`grader watch` shows it after each save; the whole report is a key away.
"""

from __future__ import annotations

from grader.results.result import Diagnostic, Result
from grader.writers.plain import plainly
from grader.writers.style import Style
from grader.writers.text import Page

_BELOW = 3  # rows that the caller writes below it


def render(result: Result, before: Result | None, style: Style, rows: int) -> str:
    """At most rows - 3 lines. before: the report of the run before, of the same lab."""
    result = plainly(result)
    page = Page(style)
    page.heading(result)
    if result.message and result.status in ("error", "not_started"):
        page.line()
        page.line(result.message)
    elif result.score is not None:
        page.score(result)
    changed = _changed(result, before)
    if changed:
        page.line(changed)
    own = [item for item in result.diagnostics if not item.echo_of] or list(result.diagnostics)
    if own and result.status != "passed":
        page.line()
        page.finding(own[0], [], result)
    rest = _rest(result, own[1:])
    if rest:
        page.line()
        page.line(rest, style="bright_black")
    head = page.text().splitlines()
    foot = Page(style)
    if result.next_step:
        foot.next_step(result, result.next_step)
    last = ["", *foot.text().splitlines()] if result.next_step else []
    room = max(rows - _BELOW - len(last), 4)
    if len(head) > room:
        tail = [rest] if rest else []
        more = "…" if style.unicode else "..."
        head = [*head[: room - 1 - len(tail)], f"  {more}", *tail]
    return "\n".join([*head, *last]) + "\n"


def _rest(result: Result, others: list[Diagnostic]) -> str:
    """What is folded away."""
    parts = []
    if others and result.status != "passed":
        codes = ", ".join(dict.fromkeys(item.code for item in others))
        parts.append(f"{len(others)} more finding{'s' if len(others) > 1 else ''} ({codes})")
    failed = [check.title for check in result.checks if check.status == "failed"]
    if failed:
        parts.append(f"{len(failed)} check{'s' if len(failed) > 1 else ''} failed")
    return f"and {', '.join(parts)}: f shows the full report." if parts else ""


def _changed(result: Result, before: Result | None) -> str:
    """What the run before said otherwise; "" if there was none."""
    if before is None or before.score is None or result.score is None:
        return ""
    parts = []
    if result.score != before.score:
        parts.append(f"{result.score - before.score:+g} points")
    now, then = ({_key(item): item for item in one.diagnostics} for one in (result, before))
    gone = [_named(then[key]) for key in then if key not in now]
    new = [_named(now[key]) for key in now if key not in then]
    if gone:
        parts.append(f"gone: {', '.join(dict.fromkeys(gone))}")
    if new:
        parts.append(f"new: {', '.join(dict.fromkeys(new))}")
    return "Since the last run: " + ("; ".join(parts) if parts else "nothing has changed") + "."


def _key(item: Diagnostic) -> tuple[str, str]:
    """A finding stays the same when lines are added above it."""
    return item.code, "".join(item.source.split()) or item.message


def _named(item: Diagnostic) -> str:
    return f"{item.code} (line {item.line})" if item.line else item.code
