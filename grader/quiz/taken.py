"""What a student has answered: remembered in .tilewise/quiz.json, and as a result.

The first answer to a question counts, until it is asked again with other numbers. A damaged file is
started anew.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grader.errors import UsageError
from grader.labs.course import Course
from grader.labs.lab import FULL_POINTS
from grader.machine.toolchain import write_atomically
from grader.quiz import answers
from grader.quiz.question import WAYS, Asked, Question, pose, shown
from grader.results.result import CheckResult, Result

SCHEMA = "tilewise.quiz/1"
DEVICE = "h200"  # what is counted for where a question names no device


@dataclass(frozen=True)
class Taken:
    """One answer."""

    given: str
    right: bool
    attempt: int = 0  # how often it was asked before, each time with other numbers


Answers = dict[str, Taken]  # by id of the question


def load(course: Course, student: str, seed: int) -> Answers:
    """Of this student; empty if there is nothing, or the file is damaged or of another student."""
    try:
        fields = json.loads((course.progress / "quiz.json").read_text(encoding="utf-8"))
        if (fields["schema"], fields["student"], fields["seed"]) != (SCHEMA, student, seed):
            return {}
        return {name: Taken(**item) for name, item in fields["answers"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save(course: Course, student: str, seed: int, taken: Answers) -> None:
    """A read-only checkout is no reason to fail: then nothing is remembered."""
    fields = {
        "schema": SCHEMA, "student": student, "seed": seed,
        "answers": {name: asdict(item) for name, item in taken.items()},
    }  # fmt: skip
    with contextlib.suppress(OSError):
        write_atomically(course.progress / "quiz.json", json.dumps(fields, indent=1) + "\n")


def anyones(course: Course) -> Answers:
    """Of whoever answered last in this checkout: for the list of progress."""
    try:
        fields = json.loads((course.progress / "quiz.json").read_text(encoding="utf-8"))
        return load(course, fields["student"], fields["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def overview(course: Course, questions: Sequence[Question]) -> str:
    """A line of how many of the questions were answered; "" before the first."""
    taken = anyones(course)
    lines = []
    for topic in dict.fromkeys(question.topic for question in questions):
        ids = [question.id for question in questions if question.topic == topic]
        done = [taken[name] for name in ids if name in taken]
        if done:
            right = sum(item.right for item in done)
            lines.append(f"  {topic:<8} {len(done):>3} of {len(ids)} answered, {right} right")
    return "\n".join(["", "Questions", "", *lines, ""]) if lines else ""


def asked_of(questions: Sequence[Question], student: str, seed: int, taken: Answers) -> list[Asked]:
    """The questions as they were, or will be, asked."""
    return [
        pose(question, seed, student, taken[question.id].attempt if question.id in taken else 0)
        for question in questions
    ]


def take(asked: Asked, given: str, attempt: int) -> Taken:
    """Raises UsageError for what is no answer to it."""
    return Taken(given, answers.judge(asked, given).right, attempt)


def from_file(fields: Any, questions: Sequence[Question], name: str) -> dict[str, str]:
    """The answers in a file's JSON. Raises UsageError if it holds anything else."""
    if not isinstance(fields, dict) or not all(
        isinstance(value, str | int | float) and not isinstance(value, bool)
        for value in fields.values()
    ):
        raise UsageError(
            f'{name} is no file of answers: expected {{"{questions[0].id}": "512", ...}}.'
        )
    known = {question.id for question in questions}
    strange = [key for key in fields if key not in known]
    if strange:
        raise UsageError(
            f"{name}: there is no question '{strange[0]}' here; --list shows the questions' names."
        )
    return {key: str(value) for key, value in fields.items()}


def result(
    lab: str, title: str, asked: Sequence[Asked], student: str, seed: int, taken: Answers
) -> Result:
    """The same model as a graded lab: a check for each question."""
    share = FULL_POINTS / len(asked)
    checks = tuple(_check(item, taken.get(item.question.id), share) for item in asked)
    right = sum(check.status == "passed" for check in checks)
    done = sum(check.status != "skipped" for check in checks)
    status = "passed" if right == len(checks) else "failed" if done else "not_started"
    return Result(
        lab=lab,
        title=title,
        submission=student,
        backend="sim",
        device=DEVICE,
        seed=seed,
        toolkit="",
        status=status,
        score=round(FULL_POINTS * right / len(checks), 2),
        max_score=FULL_POINTS,
        message=f"{done} of {len(checks)} questions answered, {right} right.",
        checks=checks,
    )


def _check(asked: Asked, taken: Taken | None, points: float) -> CheckResult:
    question = asked.question
    data: dict[str, Any] = {
        "kind": "quiz", "question": question.id, "parameters": asked.parameters,
        "source": question.source,
    }  # fmt: skip
    status, score, message = "skipped", 0.0, "not answered"
    if taken is not None:
        verdict = answers.judge(asked, taken.given)
        data |= {"given": taken.given, "answer": shown(asked.answer), "attempt": taken.attempt}
        status = "passed" if verdict.right else "failed"
        score = points if verdict.right else 0.0
        message = WAYS[question.by]
        if not verdict.right:
            data["reason"] = verdict.reason
            message = f"{taken.given}: {verdict.reason or 'wrong.'}"
    return CheckResult(
        id=question.id.replace(".", "-"),
        title=question.title,
        group="correctness",
        status=status,
        score=round(score, 4),
        max_score=round(points, 4),
        message=message,
        data=data,
    )
