"""The modules of the page as one script.

Each module becomes a function that returns what it exports, called after those that it imports.
Nothing else is needed for modules that import names from each other, so that the page needs no
tool of the JavaScript world to be built, and stays readable in the browser's debugger.
"""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(
    r'^import (?:\* as (?P<whole>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<module>\w+)\.js";\n',
    re.MULTILINE,
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const) \*?(\w+))", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


def script(folder: Path, first: str = "main") -> str:
    """All modules that `first` needs, those that are needed before those that need them.

    Raises ValueError where a module imports or exports in a way that is not understood, or in a circle.
    """
    parts: list[str] = []
    done: list[str] = []

    def add(name: str, path: tuple[str, ...]) -> None:
        if name in done:
            return
        if name in path:
            raise ValueError(f"modules import each other: {' '.join((*path, name))}")
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for found in _IMPORT.finditer(text):
            add(found["module"], (*path, name))
        parts.append(_wrapped(name, text))
        done.append(name)

    add(first, ())
    return '"use strict";\n' + "\n".join(parts)


def _wrapped(name: str, text: str) -> str:
    exported = [found[1] for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_taken, text))
    other = _OTHER.search(body)
    if other is not None:
        raise ValueError(f"{name}.js: {other[0].strip()}")
    return f"const module_{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"


def _taken(found: re.Match[str]) -> str:
    if found["whole"]:
        return f"const {found['whole']} = module_{found['module']};\n"
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", found["names"])
    return f"const {{{names}}} = module_{found['module']};\n"
