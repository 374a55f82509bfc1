"""The result for a terminal: the checks with their points, what is wrong, what to do next."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.judging.judge import describe
from grader.results.result import Diagnostic, Kernel, Result, overall_status
from grader.text import lab_number, lab_row, lab_title, lab_words
from grader.writers import asides, counts, prediction
from grader.writers.plain import plainly

if TYPE_CHECKING:
    from grader.writers.style import Style

SHOWN_CODES = 3  # kinds of faults; the first place of each
SHOWN_MISMATCHES = 3
_INDENT = 2
_BAR = (6, 24)  # columns of the longest bar, at least and at most

# Status -> (mark, mark in ASCII, color)
_MARKS = {
    "passed": ("✓", "+", "green"),
    "failed": ("✗", "x", "red"),
    "skipped": ("–", "-", "bright_black"),
    "inconclusive": ("?", "?", "yellow"),
    "not_started": ("·", ".", "bright_black"),
    "error": ("!", "!", "magenta"),
}
_WORDS = {"not_started": "not started", "error": "grader failed"}


def render(results: list[Result], *, one: bool, style: Style) -> str:
    """The report of one lab; of several a table, and one of them in detail."""
    results = [plainly(result) for result in results]
    page = Page(style)
    if one:
        for result in results:
            page.report(result)
        return page.text()
    shown = _in_detail(results)
    page.summary(results, shown)
    if shown is not None:
        page.rule()
        page.report(shown)
        left_out = [
            lab_number(r.lab) for r in results if r not in (shown,) and r.status in _TELLING
        ]
        if left_out:
            page.line()
            page.line(
                f"In detail, too: {', '.join(f'make grade LAB={lab}' for lab in left_out)}",
                style="bright_black",
            )
    return page.text()


_TELLING = ("failed", "inconclusive", "error")


def _in_detail(results: list[Result]) -> Result | None:
    """The first lab that is not done: what its report says comes first for the student, too."""
    started = [result for result in results if result.status != "not_started"]
    telling = [result for result in started if result.status in _TELLING]
    return telling[0] if telling else (started[-1] if started else None)


class Page:
    """Collects lines as they are drawn."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.file = io.StringIO()
        self.console = Console(
            file=self.file,
            width=style.width,
            force_terminal=style.color,
            color_system="standard" if style.color else None,
            no_color=not style.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        lines = [line.rstrip() for line in self.file.getvalue().splitlines()]
        return "\n".join(lines).strip("\n") + "\n"

    def mark(self, status: str) -> Text:
        mark, ascii_mark, color = _MARKS[status]
        return Text(mark if self.style.unicode else ascii_mark, style=color)

    def line(self, text: Text | str = "", indent: int = 0, style: str = "") -> None:
        body = Text(text, style=style) if isinstance(text, str) else text
        self.console.print(Padding(body, (0, 0, 0, indent)))

    def rule(self) -> None:
        character = "─" if self.style.unicode else "-"
        self.line()
        self.line(character * self.style.width, style="bright_black")
        self.line()

    # ---- one lab ----

    def report(self, result: Result) -> None:
        self.heading(result)
        if result.message and result.status in ("error", "not_started"):
            self.line()
            self.line(result.message, style="magenta" if result.status == "error" else "")
        elif not result.diagnostics and not result.cases and result.message:
            self.line()
            self.line(result.message, style="red")
        if any(check.status != "skipped" for check in result.checks):
            self.checks(result)
        if result.score is not None and result.status != "not_started":
            self.line()
            self.score(result)
        if result.status != "passed":
            self.findings(result)
        self.asides(result)
        if counts.are_telling(result.checks, result.status == "passed"):
            for kernel in result.kernels:
                self.kernel(kernel, result)
        if result.changes:
            self.chart(result)
        if result.next_step:
            self.next_step(result, result.next_step)

    def asides(self, result: Result) -> None:
        """The compiler's warnings, and what the submission printed, marked as such."""
        found = asides.lines(result)
        if found:
            self.line()
        for line in found:
            self.line(
                line.strip() if line[0] != " " else line, indent=_INDENT if line[0] == " " else 0
            )

    def heading(self, result: Result) -> None:
        separator = " · " if self.style.unicode else " | "
        title = Text(f"{lab_title(result.lab)}  {result.title}", style="bold")
        where = separator.join(result.where)
        grid = Table.grid(expand=True)
        grid.add_column()
        grid.add_column(justify="right")
        grid.add_row(title, Text(where, style="bright_black"))
        self.console.print(grid)
        self.line(result.submission, style="bright_black")

    def checks(self, result: Result) -> None:
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column(width=_INDENT - 1)
        grid.add_column(width=1)
        grid.add_column(ratio=1)
        grid.add_column(justify="right", no_wrap=True)
        for group in ("correctness", "safety", "performance"):
            members = [check for check in result.checks if check.group == group]
            if not members:
                continue
            grid.add_row("", "", "", "")
            grid.add_row("", Text(""), Text(group.capitalize(), style="bold"), "")
            for check in members:
                points = Text(
                    f"{check.score:g} / {check.max_score:g}", style=_MARKS[check.status][2]
                )
                grid.add_row("", self.mark(check.status), Text(check.title), points)
                if check.message and check.status != "passed":
                    grid.add_row("", "", Text(check.message, style="bright_black"), "")
        self.console.print(grid)

    def score(self, result: Result) -> None:
        color = _MARKS[result.status][2]
        words = "full marks" if result.status == "passed" else result.status
        self.line(
            Text.assemble(
                (f"{result.score:g} of {result.max_score:g} points", f"bold {color}"), f", {words}"
            ),
            indent=_INDENT,
        )

    def findings(self, result: Result) -> None:
        if not result.diagnostics:
            return
        self.line()
        self.line("What is wrong", style="bold")
        by_code: dict[str, list[Diagnostic]] = {}
        for item in result.diagnostics:
            if not item.echo_of:
                by_code.setdefault(item.code, []).append(item)
        shown = list(by_code)[:SHOWN_CODES]
        for first, *others in (by_code[code] for code in shown):
            self.line()
            self.finding(first, others, result)
        rest = dict.fromkeys(item.code for item in result.diagnostics if item.code not in shown)
        if rest:
            self.line()
            self.line(
                f"and {', '.join(rest)}, which may follow from the above (--format json tells all)",
                indent=_INDENT,
                style="bright_black",
            )

    def finding(self, item: Diagnostic, others: list[Diagnostic], result: Result) -> None:
        """One fault; `others` are further places with the same code."""
        head = Text(item.code, style="bold red" if item.severity == "error" else "bold yellow")
        if item.count > 1 and item.thread is not None:  # else the message counts elements
            head.append(f"  {item.count:,} times", style="bright_black")
        cases = [case for case in result.cases if case.id in item.cases]
        if cases:
            head.append("  " + self.case_names(cases, result), style="bright_black")
        self.line(head, indent=_INDENT)
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        place = f"{item.file}:{item.line}" if item.line else item.file
        grid.add_row(Text(place, style="cyan"), Text(item.message))
        if item.source:
            bar = "│ " if self.style.unicode else "| "
            grid.add_row(
                "",
                Text(
                    bar + item.source,
                    style="bright_black",
                    no_wrap=True,
                    overflow="ellipsis" if self.style.unicode else "crop",
                ),
            )
        for text in self.details(item, cases):
            grid.add_row("", text)
        lines = sorted({other.line for other in others if other.line} - {item.line})
        if lines:
            also = ", ".join(str(line) for line in lines)
            grid.add_row("", Text(f"Also at line{'s' if len(lines) > 1 else ''} {also}."))
        if item.advice:
            grid.add_row("", Text(item.advice))
        self.console.print(Padding(grid, (0, 0, 0, _INDENT)))

    def case_names(self, cases: list, result: Result) -> str:
        shown = [case.size for case in cases]
        if len(shown) == len(result.cases) and len(shown) > 1:
            return "in all cases"
        return (
            "in " + ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")
        )

    def details(self, item: Diagnostic, cases: list) -> list[Text]:
        """More wrong elements of the case that the message is about, for findings about P."""
        if item.code not in ("wrong-result", "low-precision") or not cases:
            return []
        return [Text(describe(m)) for m in cases[0].mismatches[1:SHOWN_MISMATCHES]]

    def kernel(self, kernel: Kernel, result: Result) -> None:
        """What one launch was and what was counted in it."""
        sizes = "grid ({},{},{}), block ({},{},{})".format(*kernel.grid, *kernel.block)
        facts = [sizes, f"{kernel.shared_bytes:,} bytes of shared memory"]
        if kernel.registers is not None:
            facts.append(f"{kernel.registers} registers")
        if kernel.occupancy is not None:
            facts.append(f"occupancy {kernel.occupancy:.0%}")
        if kernel.time_ms:
            facts.append(f"{kernel.time_ms['median']:.3g} ms")
        self.line()
        self.line(Text.assemble((kernel.name, "cyan"), ": " + ", ".join(facts)), indent=_INDENT)
        predicted = prediction.sentence(kernel)
        if predicted:
            self.line(predicted, indent=_INDENT)
        grid = counts.table(kernel, self.style.width)
        if grid is None:
            return
        case = next((case for case in result.cases if case.id == kernel.case), None)
        where = f" in {case.size}" if case is not None else ""
        self.line(f"Counted{where}:", indent=_INDENT)
        self.console.print(Padding(grid, (0, 0, 0, 2 * _INDENT)))
        others = counts.sentence(kernel.counters)
        if others:
            self.line(others, indent=2 * _INDENT)

    def chart(self, result: Result) -> None:
        """Two bars a measure, the lab before and this one, on one scale."""
        self.line()
        self.line("Counted per 32 multiply-adds", indent=_INDENT)
        labels = (f"lab {lab_number(result.previous_lab)}", f"lab {lab_number(result.lab)}")
        grid = Table.grid(padding=(0, 2))
        grid.add_column()
        grid.add_column()
        grid.add_column(justify="right")
        grid.add_column(no_wrap=True, overflow="crop")
        width = min(max(self.style.width - 56, _BAR[0]), _BAR[1])
        for change in result.changes:
            largest = max(change.before, change.now)
            for label, value, style in zip(
                labels, (change.before, change.now), ("bright_black", "green"), strict=True
            ):
                bar = ("█" if self.style.unicode else "#") * round(width * value / largest)
                title = change.title if label == labels[0] else ""
                grid.add_row(title, label, f"{value:.2f}", Text(bar, style=style))
        self.console.print(Padding(grid, (0, 0, 0, _INDENT)))

    # ---- all labs ----

    def summary(self, results: list[Result], shown: Result | None) -> None:
        """The table. shown: the lab that follows in detail, and says itself what is next."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=_INDENT - 2)
        for justify in ("left", "left", "right", "left"):
            grid.add_column(justify=justify)
        for result in results:
            score = "" if result.score is None else f"{result.score:g} / {result.max_score:g}"
            words = _WORDS.get(result.status, result.status)
            label = Text.assemble(self.mark(result.status), f" {lab_row(result.lab, result.title)}")
            grid.add_row("", label, Text(words, style=_MARKS[result.status][2]), score, "")
        self.line("All labs", style="bold")
        self.console.print(grid)
        if None not in [result.score for result in results]:
            total = sum(result.score for result in results)
            best = sum(result.max_score for result in results)
            self.line()
            color = _MARKS[overall_status(results)][2]
            self.line(Text(f"{total:g} of {best:g} points", style=f"bold {color}"), indent=_INDENT)
        pending = next((result for result in results if result.status != "passed"), None)
        if pending is not None and pending is not shown:
            step = pending.next_step or pending.message
            self.next_step(pending, f"{lab_words(pending.lab)}, {step}")

    def next_step(self, result: Result, step: str) -> None:
        self.line()
        self.line(Text.assemble(("Next: ", "bold"), step))
        is_working_copy = result.submission.startswith(f"labs/{result.lab}/")
        if is_working_copy and result.status not in ("error", "passed"):
            number = lab_number(result.lab)
            self.line(Text.assemble(("Hint: ", "bold"), f"make hint LAB={number}"))
            if any(item.kernel for item in result.diagnostics):  # something ran
                words = f"make show LAB={number}"
                self.line(Text.assemble(("See it happen: ", "bold"), words))
