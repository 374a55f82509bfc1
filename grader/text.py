"""Text from a submission or its compiler, made harmless for terminals, logs and tables."""

from __future__ import annotations

_LONGEST = 600


def lines_of(text: str) -> list[str]:
    """The lines as a compiler counts them: form feeds, U+0085 and U+2028 end none."""
    return [line.removesuffix("\r") for line in text.split("\n")]


_PRINTED_LINES = 20
_PRINTED_COLUMNS = 160


def printed_lines(text: str) -> tuple[str, ...]:
    """The first lines of what a submission printed, each printable and not too long."""
    lines = lines_of(text.rstrip("\n")) if text.strip() else []
    shown = []
    for line in lines[:_PRINTED_LINES]:
        line = line[: 4 * _PRINTED_COLUMNS].expandtabs(4)
        line = "".join(char if char.isprintable() else "?" for char in line)
        is_long = len(line) > _PRINTED_COLUMNS
        shown.append(line[: _PRINTED_COLUMNS - 3] + "..." if is_long else line.rstrip())
    if len(lines) > _PRINTED_LINES:
        shown.append("[more was printed]")
    return tuple(shown)


def clean(text: str, longest: int = _LONGEST) -> str:
    """One line of printable characters; white space is kept as blanks, the rest as `?`."""
    text = " ".join(text[: 4 * longest].split())
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def lab_number(name: str) -> str:
    """What a lab is asked for by, of its folder's name: "02"; an exercise without a number by it."""
    return name[:2] if name[:2].isdigit() else name


def lab_row(name: str, title: str) -> str:
    """A lab in a list of several: "02 Tiled kernel"; of an exercise the title says enough."""
    return f"{name[:2]} {title}" if name[:2].isdigit() else title


def lab_words(name: str) -> str:
    """A lab within a sentence, by its folder's name: "lab 02", "the exercise reduction"."""
    return f"lab {name[:2]}" if name[:2].isdigit() else f"the exercise {name}"


def lab_title(name: str) -> str:
    """How reports call a lab, by its folder's name: "Lab 02", "Exercise"."""
    return f"Lab {name[:2]}" if name[:2].isdigit() else "Exercise"
