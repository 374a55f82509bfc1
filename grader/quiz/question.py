"""What a question is, and one question as a certain student gets it."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Value = int | float | str | tuple[int, ...]
Text = str | Callable[..., str]  # a template for str.format, or a function of the parameters

# Where an answer comes from.
SIMULATOR = "simulator"  # what warpsim counted or found: counted.json
OCCUPANCY = "occupancy"  # `grader occupancy`
THREADS = "threads"  # going through all threads, elements or steps, one by one
DEVICE = "device"  # a device file, or what was published
WAYS = {
    SIMULATOR: "counted by the simulator",
    OCCUPANCY: "computed by the occupancy calculator",
    THREADS: "worked out step by step",
    DEVICE: "computed from the device's data",
}

YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Wrong:
    """A way of reasoning that leads to a certain wrong answer."""

    value: Callable[..., Value | None]  # None: it does not lead anywhere with these parameters
    reason: str


@dataclass(frozen=True)
class Question:
    """A template. Its functions take those of the parameters that they name."""

    id: str  # "02.requests"
    source: str  # the exercise or the place of a handout that it goes back to
    by: str  # SIMULATOR, OCCUPANCY, THREADS or DEVICE
    given: Mapping[str, Sequence[Any]]  # parameter -> what it may be
    text: Text
    answer: Callable[..., Value]
    second: Callable[..., Value]  # the same by an independent way
    why: Text  # the explanation; may use {answer}
    wrong: tuple[Wrong, ...] = ()
    where: Callable[..., bool] | None = None  # which parameters go together
    choices: tuple[str, ...] | Callable[..., Sequence[str]] = ()  # answers to choose from
    unit: str = ""  # of the answer

    @property
    def topic(self) -> str:
        return self.id.partition(".")[0]

    @property
    def title(self) -> str:
        return self.id.partition(".")[2].replace("-", " ")

    def combinations(self) -> Iterator[dict[str, Any]]:
        """All parameters that may be drawn."""
        for values in itertools.product(*self.given.values()):
            parameters = dict(zip(self.given, values, strict=True))
            if self.where is None or call(self.where, parameters):
                yield parameters

    def draw(self, generator: random.Random) -> dict[str, Any]:
        for _ in range(10_000):
            parameters = {name: generator.choice(values) for name, values in self.given.items()}
            if self.where is None or call(self.where, parameters):
                return parameters
        raise AssertionError(f"{self.id}: no parameters fit its condition")


@dataclass(frozen=True)
class Asked:
    """A question with its numbers."""

    question: Question
    parameters: dict[str, Any]
    choices: tuple[str, ...] = ()  # in the order in which they are shown

    @cached_property
    def text(self) -> str:
        return _fill(self.question.text, self.parameters)

    @cached_property
    def answer(self) -> Value:
        return call(self.question.answer, self.parameters)

    @property
    def second(self) -> Value:
        return call(self.question.second, self.parameters)

    @property
    def why(self) -> str:
        return _fill(self.question.why, {**self.parameters, "answer": shown(self.answer)})

    def wrong_ways(self) -> Iterator[tuple[Value, str]]:
        """Wrong answers with the reason that leads there; none that is right by chance."""
        for wrong in self.question.wrong:
            value = call(wrong.value, self.parameters)
            if value is not None and not _near(value, self.answer):
                yield value, wrong.reason


def pose(question: Question, seed: int, student: str, attempt: int = 0) -> Asked:
    """The question as this student gets it: the same for the same seed, name and attempt."""
    generator = random.Random(f"{seed}/{student}/{question.id}/{attempt}")
    parameters = question.draw(generator)
    choices = question.choices
    if callable(choices):
        choices = call(choices, parameters)
    listed = list(choices)
    if tuple(listed) != YES_NO:
        generator.shuffle(listed)
    return Asked(question, parameters, tuple(listed))


def _near(value: Value, answer: Value) -> bool:
    """Whether a wrong answer could be taken for the right one, rounded."""
    if isinstance(answer, float) and isinstance(value, int | float):
        return abs(value - answer) <= 0.05 * abs(answer)
    return value == answer


def shown(value: Value) -> str:
    """An answer as text."""
    if isinstance(value, tuple):
        return "(" + ", ".join(str(part) for part in value) + ")"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value


def call(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """With those of the parameters that the function names."""
    return function(**{name: parameters[name] for name in inspect.signature(function).parameters})


def _fill(text: Text, parameters: Mapping[str, Any]) -> str:
    return call(text, parameters) if callable(text) else text.format(**parameters)
