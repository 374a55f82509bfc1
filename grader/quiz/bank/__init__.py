"""All questions, by topic."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from grader.errors import GraderError, UsageError
from grader.labs.course import Course
from grader.quiz.bank import (
    lab00,
    lab01,
    lab02,
    lab02_blocks,
    lab03,
    lab04,
    lab05,
    lab06,
    lab07,
    lab08,
    lab09,
    lab10,
    lab11,
    lab12,
    machine,
    memory,
    occupancy,
)
from grader.quiz.question import Question

_PARTS = (
    machine, occupancy, memory, lab00, lab01, lab02, lab02_blocks, lab03, lab04, lab05, lab06, lab07, lab08, lab09, lab10, lab11, lab12,
)  # fmt: skip
QUESTIONS: tuple[Question, ...] = tuple(question for part in _PARTS for question in part.QUESTIONS)
MACHINE = "machine"  # the topic that belongs to no lab
TOPICS = tuple(dict.fromkeys(question.topic for question in QUESTIONS))


def of(topic: str) -> tuple[Question, ...]:
    return tuple(question for question in QUESTIONS if question.topic == topic)


def topic_of(course: Course, text: str) -> str:
    """ "02" for 2, 02 or 02-tiled-kernel; "machine". Raises UsageError for what has no questions."""
    if text in TOPICS:
        return text
    if text.startswith("mach"):
        return MACHINE
    try:
        name = course.lab_folder(text).name
    except UsageError:
        close = difflib.get_close_matches(text, TOPICS, n=1, cutoff=0.6)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(
            f"There is no lab '{text}'.{hint} Questions: {', '.join(TOPICS)}."
        ) from None
    number = name.partition("-")[0]
    if number not in TOPICS:
        raise UsageError(f"{name} has no questions. There are some on {', '.join(TOPICS)}.")
    return number


def topics_of(course: Course, text: str) -> Sequence[str]:
    """Of a list such as 01,02,machine, or all."""
    if text == "all":
        return TOPICS
    found = [topic_of(course, part.strip()) for part in text.split(",") if part.strip()]
    if not found:
        raise UsageError("No lab was chosen: write for example --labs 01,02, or --labs all.")
    return tuple(dict.fromkeys(found))


def title_of(course: Course, topic: str) -> str:
    """The lab's folder name; the topic where it belongs to no lab, or to one not handed out yet."""
    try:
        return topic if topic == MACHINE else course.lab_folder(topic).name
    except GraderError:
        return topic
