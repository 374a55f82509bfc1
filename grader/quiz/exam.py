"""Paper exams: the same questions for everybody, each with numbers of their own, and a key."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.errors import UsageError
from grader.quiz import answers
from grader.quiz.question import WAYS, Asked, Question, pose, shown

_REDRAWN = 100  # numbers drawn for one student before two papers may be alike


@dataclass(frozen=True)
class Paper:
    """What one student gets."""

    number: int
    name: str
    asked: tuple[Asked, ...]

    @property
    def file(self) -> str:
        """A file name: 07-jane-doe."""
        words = re.sub(r"[^\w]+", "-", self.name, flags=re.ASCII).strip("-").lower()[:40]
        return f"{self.number:02}-{words or 'student'}"


def choose(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """So many questions, as evenly over the topics as they go."""
    if count > len(questions):
        raise UsageError(f"There are {len(questions)} questions on these labs, not {count}.")
    generator = random.Random(f"exam {seed}")
    piles: dict[str, list[Question]] = {}
    for question in questions:
        piles.setdefault(question.topic, []).append(question)
    for pile in piles.values():
        generator.shuffle(pile)
    chosen: list[Question] = []
    while len(chosen) < count:
        for pile in piles.values():
            if pile and len(chosen) < count:
                chosen.append(pile.pop())
    order = {question.id: place for place, question in enumerate(questions)}
    return sorted(chosen, key=lambda question: order[question.id])


def papers(chosen: Sequence[Question], students: Sequence[str], seed: int) -> list[Paper]:
    """One for each student, no two alike. Raises UsageError if there are too few numbers for that."""
    made, seen = [], set()
    for number, name in enumerate(students, 1):
        for attempt in range(_REDRAWN):
            asked = tuple(
                pose(question, seed, f"exam/{number}/{name}", attempt) for question in chosen
            )
            content = tuple(item.text for item in asked)
            if content not in seen:
                break
        else:
            raise UsageError(
                f"There are too few numbers for {len(students)} different papers of"
                f" {len(chosen)} question(s): ask more questions."
            )
        seen.add(content)
        made.append(Paper(number, name, asked))
    return made


def markdown(paper: Paper, title: str, *, key: bool) -> str:
    """The paper, or its key."""
    lines = [f"# {title}", "", f"{paper.name} ({paper.number})" + (": key" if key else ""), ""]
    for number, asked in enumerate(paper.asked, 1):
        lines += [f"## {number}.", "", asked.text, ""]
        lines += [f"{chr(ord('a') + i)}) {choice}  " for i, choice in enumerate(asked.choices)]
        if key:
            lines += ["", f"**{answers.expected(asked)}** ({WAYS[asked.question.by]}). {asked.why}"]
            lines += [f"- {value}? {reason}" for value, reason in _wrong(asked)]
        else:
            lines += ["", "Answer: ______________________"]
        lines.append("")
    return "\n".join(lines)


def html(made: Sequence[Paper], title: str, *, key: bool) -> str:
    """All papers, or all keys, for print: one file that loads nothing."""
    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["marked"] = _marked
    template = environment.get_template("exam.jinja")
    return template.render(
        papers=made, title=title, key=key, wrong=_wrong, expected=answers.expected, ways=WAYS
    )


def _wrong(asked: Asked) -> list[tuple[str, str]]:
    return [] if asked.choices else [(shown(value), reason) for value, reason in asked.wrong_ways()]


def _marked(text: str) -> Markup:
    """Markdown's code blocks, code and paragraphs; nothing else is used in questions."""
    parts = []
    for index, part in enumerate(text.split("```")):
        if index % 2:
            parts.append(Markup("<pre>{}</pre>").format(part.strip("\n")))
            continue
        for paragraph in part.strip().split("\n\n"):
            if paragraph:
                code = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(paragraph)))
                parts.append(Markup(f"<p>{code}</p>"))
    return Markup("").join(parts)
