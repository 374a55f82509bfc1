"""Hints in tiers, chosen by what failed: the concept first, the line only when asked again.

How far the tiers were given is remembered per finding: another mistake of the same kind begins at
the concept again. A finding stays the same while its line number or the text of its line does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.labs.lab import Hint, Lab
from grader.results.result import Diagnostic, Result
from grader.student.progress import GivenHint, LabProgress, Progress

_REMEMBERED = 20  # findings per lab, the latest


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
        hint = _of_cause(lab, subject, result) or _hint_for(lab, subject)
        if hint is not None:
            return _tier(lab, hint, subject, result, progress, remembers)
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


def _of_cause(lab: Lab, subject: str, result: Result) -> Hint | None:
    """Where the report knows what was done: the concept, the place, then the cause and the remedy.

    What the lab says of the code's place and line in general may be about another mistake. As many
    tiers as the lab has.
    """
    first = result.diagnostics[0] if result.diagnostics else None
    if first is None or first.code != subject or not first.cause or not first.line:
        return None
    general = _hint_for(lab, subject)
    if general is None:
        return None
    source = f": {first.source}" if first.source else "."
    remedy = "" if first.advice in first.cause else f" {first.advice}"
    tiers = (general.tiers[0], f"Look at line {first.line}{source}", first.cause + remedy)
    return Hint((subject,), tiers[: len(general.tiers)])


def _hint_for(lab: Lab, subject: str) -> Hint | None:
    return next((hint for hint in lab.hints if subject in hint.subjects), None)


def _tier(
    lab: Lab, hint: Hint, subject: str, result: Result, progress: Progress, remembers: bool
) -> Given:
    known = progress.get(lab.name, LabProgress())
    finding = _finding(subject, result)
    before = next((item.tiers for item in known.given if _is_same(item, finding)), 0)
    given = min(before, len(hint.tiers) - 1) if remembers else 0
    text = f"{subject}, hint {given + 1} of {len(hint.tiers)}: {hint.tiers[given]}"
    if not remembers:
        return Given(text, None)
    if given + 1 < len(hint.tiers):
        text += "\n(ask again for more)"
    others = [item for item in known.given if not _is_same(item, finding)]
    finding = replace(finding, tiers=given + 1)
    after = replace(known, given=(*others, finding)[-_REMEMBERED:])
    return Given(text, progress | {lab.name: after})


def _finding(subject: str, result: Result) -> GivenHint:
    """What the hint is about: the first finding with this code, or the check of this name."""
    found = next((item for item in result.diagnostics if item.code == subject), None)
    if found is None:
        check = next(item for item in result.checks if item.id == subject)
        return GivenHint(subject, line=check.line)
    return GivenHint(
        subject, found.kernel, found.line, "".join(found.source.split()), _kind(found, result)
    )


def _kind(found: Diagnostic, result: Result) -> str:
    """The cause where it is known; else of a wrong P the patterns: its line is that of the store."""
    if found.cause:
        return found.cause
    if found.code != "wrong-result":
        return ""
    return ", ".join(sorted({case.pattern for case in result.cases if case.pattern}))


def _is_same(one: GivenHint, other: GivenHint) -> bool:
    if (one.subject, one.kernel, one.kind) != (other.subject, other.kernel, other.kind):
        return False
    if one.kind:
        return True  # the same cause, wherever it stands by now
    return one.line == other.line or (bool(one.text) and one.text == other.text)
