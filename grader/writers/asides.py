"""What stands beside the findings in every format: what a GPU said where the simulator judged, the
compiler's warnings, and what the submission itself printed, which is nobody's statement but its
author's.
"""

from __future__ import annotations

from grader.results.result import Result

_MOST_WARNINGS = 10
WARNINGS = "The compiler warns"


def gpu(result: Result) -> str:
    """One sentence on the GPU's P beside the simulator's judgement; "" where none was used."""
    run = result.gpu
    if run is None or result.status == "error":  # the message says it
        return ""
    if run.status != "same":
        return run.message
    if not run.cases:
        return f"Nothing was right that could have been compared on the {run.name}."
    cases = "the case" if len(run.cases) == 1 else f"all {len(run.cases)} cases"
    return f"The {run.name} also gives a right P in {cases} that the simulator calls right."


def bound(result: Result) -> str:
    """Where P was held against the bound for another algorithm than a sum of products."""
    names = [case.size for case in result.cases if case.bound == "norm"]
    if not names:
        return ""
    return (
        f"In {', '.join(names)} P is off by more than a float32 sum of products, in any order, may be:"
        " there it was judged by the bound for algorithms that add before they multiply, such as"
        " Strassen's."
    )


def warnings(result: Result) -> list[str]:
    """ "matmul.cu:12: variable "x" was declared but never referenced.", one a line."""
    lines = [f"{item.file}:{item.line}: {item.message}" for item in result.warnings]
    rest = len(lines) - _MOST_WARNINGS
    return lines[:_MOST_WARNINGS] + ([f"and {rest} more"] if rest > 0 else [])


def printed(result: Result) -> list[tuple[str, tuple[str, ...]]]:
    """(title, lines) of each text that the submission printed, with the cases that share it."""
    names: dict[tuple[str, ...], list[str]] = {}
    for case in result.cases:
        if case.printed:
            names.setdefault(case.printed, []).append(case.title or case.size)
    return [
        (
            f"Your program printed in {cases[0]}"
            + (f" and {len(cases) - 1} more" if len(cases) > 1 else ""),
            lines,
        )
        for lines, cases in names.items()
    ]


def lines(result: Result) -> list[str]:
    """All of it as plain lines; what was printed is marked at each line."""
    found: list[str] = []
    on_gpu = gpu(result)
    if on_gpu:
        found.append(on_gpu)
    another = bound(result)
    if another:
        found.append(another)
    warned = warnings(result)
    if warned:
        found += [f"{WARNINGS}:", *(f"    {line}" for line in warned)]
    for title, said in printed(result):
        found += [f"{title}:", *(f"    | {line}" for line in said)]
    return found
