"""How a class answered: per question, from result files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import UsageError
from grader.results import stored
from grader.results.result import Result


@dataclass
class Line:
    """One question."""

    question: str
    asked: int = 0
    answered: int = 0
    right: int = 0
    reasons: Counter[str] = field(default_factory=Counter)  # of wrong answers
    with_it: list[float] = field(default_factory=list)  # points of those who had it right
    without: list[float] = field(default_factory=list)  # of the others who answered

    @property
    def share(self) -> float | None:
        return self.right / self.answered if self.answered else None

    @property
    def tells_apart(self) -> float | None:
        """Mean points of those who had it right, less those of the others: small says little."""
        if not self.with_it or not self.without:
            return None
        return sum(self.with_it) / len(self.with_it) - sum(self.without) / len(self.without)


def read(folder: Path) -> tuple[list[Line], int]:
    """All questions in the result files below a folder, and how many results there were."""
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} with result files.")
    lines: dict[str, Line] = {}
    found = 0
    for path in sorted(folder.rglob("*.json")):
        try:
            results = stored.load(path).results
        except UsageError:
            continue  # of something else
        for result in results:
            found += _add(lines, result)
    if not found:
        raise UsageError(
            f"There are no results of a quiz below {folder}: students write them with"
            " grader quiz LAB --output FILE."
        )
    return sorted(lines.values(), key=lambda line: (line.share is None, line.share or 0.0)), found


def _add(lines: dict[str, Line], result: Result) -> bool:
    checks = [check for check in result.checks if check.data.get("kind") == "quiz"]
    for check in checks:
        name = str(check.data.get("question", check.id))
        line = lines.setdefault(name, Line(name))
        line.asked += 1
        if check.status == "skipped":
            continue
        line.answered += 1
        is_right = check.status == "passed"
        line.right += is_right
        (line.with_it if is_right else line.without).append(result.score or 0.0)
        if not is_right:
            line.reasons[str(check.data.get("reason") or "no known reason")] += 1
    return bool(checks)


def as_dict(lines: list[Line], results: int) -> dict:
    return {
        "schema": "tilewise.quiz-statistics/1",
        "results": results,
        "questions": [
            {
                "question": line.question, "asked": line.asked, "answered": line.answered,
                "right": line.right, "share": line.share, "tells_apart": line.tells_apart,
                "reasons": dict(line.reasons.most_common()),
            }
            for line in lines
        ],
    }  # fmt: skip


def as_csv(lines: list[Line]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["question", "asked", "answered", "right", "share", "most common reason"])
    for line in lines:
        share = "" if line.share is None else f"{line.share:.3f}"
        reason = line.reasons.most_common(1)[0][0] if line.reasons else ""
        table.writerow([line.question, line.asked, line.answered, line.right, share, reason])
    return text.getvalue()


def as_text(lines: list[Line], results: int) -> str:
    """The hardest first."""
    rows = [f"{results} results; the hardest question first", ""]
    rows.append(f"  {'question':<44} {'answered':>8} {'right':>6} {'tells apart':>12}")
    for line in lines:
        share = "" if line.share is None else f"{100 * line.share:.0f}%"
        apart = "" if line.tells_apart is None else f"{line.tells_apart:+.0f}"
        rows.append(f"  {line.question:<44} {line.answered:>8} {share:>6} {apart:>12}")
        for reason, count in line.reasons.most_common(2):
            rows.append(f"      {count} x {reason}")
    return "\n".join(rows) + "\n"
