"""Hints in tiers, chosen by what failed: the concept first, the line only when asked again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.lab import Hint, Lab
from grader.progress import LabProgress, Progress
from grader.result import Result


@dataclass(frozen=True)
class Given:
    """A hint as the student reads it, and the progress to remember (None: nothing changed)."""

    text: str
    state: Progress | None


def next_hint(lab: Lab, result: Result, progress: Progress, remembers: bool) -> Given:
    """The next tier for the most fundamental failure that the lab has a hint for.

    Without `remembers` (another tree than labs/) the first tier is given each time.
    """
    if result.status == "passed":
        return Given(f"Lab {lab.id} has full marks: there is nothing to mend.", None)
    if result.status in ("not_started", "error"):
        return Given("\n".join(part for part in (result.message, _next(result)) if part), None)
    for subject in _subjects(result):
        hint = _hint_for(lab, subject)
        if hint is not None:
            return _tier(lab, hint, subject, progress, remembers)
    return Given(
        f"There is no hint for this; the report says what failed: make grade LAB={lab.id}", None
    )


def _next(result: Result) -> str:
    return f"Next: {result.next_step}" if result.next_step else ""


def _subjects(result: Result) -> list[str]:
    """What failed, the causes before the checks that they make fail."""
    codes = [item.code for item in result.diagnostics]
    checks = [check.id for check in result.checks if check.status == "failed"]
    return list(dict.fromkeys([*codes, *checks]))


def _hint_for(lab: Lab, subject: str) -> Hint | None:
    return next((hint for hint in lab.hints if subject in hint.subjects), None)


def _tier(lab: Lab, hint: Hint, subject: str, progress: Progress, remembers: bool) -> Given:
    known = progress.get(lab.name, LabProgress())
    key = hint.subjects[0]  # subjects that share a hint share its tiers
    given = min(known.hints.get(key, 0), len(hint.tiers) - 1) if remembers else 0
    text = f"{subject}, hint {given + 1} of {len(hint.tiers)}: {hint.tiers[given]}"
    if not remembers:
        return Given(text, None)
    if given + 1 < len(hint.tiers):
        text += "\n(ask again for more)"
    hints = known.hints | {key: min(given + 1, len(hint.tiers))}
    return Given(text, progress | {lab.name: replace(known, hints=hints)})
