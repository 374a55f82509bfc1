"""Which platform an export comes from, and whose its entries are.

Gradescope's is known by submission_metadata.yml; another platform's by the names of more than
half of the entries. An entry whose name does not fit is its own student's, under that name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.batch import names
from grader.batch.names import Named, Student
from grader.errors import UsageError
from grader.labs.submission import reason

_METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
_SUBMISSIONS = "-submissions"  # the assignment X is cloned into X-submissions/


@dataclass(frozen=True)
class Entry:
    """One item of the export's top folder, for one student."""

    named: Named
    source: str  # the item's name, as text
    path: Path  # does not exist where the platform speaks of a submission that it did not export
    note: str = ""


@dataclass(frozen=True)
class Recognised:
    """All items of the export."""

    platform: str  # of names.PLATFORMS
    entries: tuple[Entry, ...]
    own: tuple[str, ...] = ()  # the platform's own files


def is_metadata(name: str) -> bool:
    """Whether Gradescope describes its export in a file of this name."""
    return name in _METADATA


def recognise(folder: Path, items: Mapping[str, Path], usernames: Sequence[str]) -> Recognised:
    """Reads the names of a folder's items. `usernames` are known GitHub accounts."""
    metadata = [name for name in items if is_metadata(name)]
    if metadata:
        others = {name: path for name, path in items.items() if name not in metadata}
        entries = _gradescope(folder, others, items[metadata[0]])
        return Recognised("gradescope", entries, tuple(metadata))
    assignment = _assignment(folder, items, usernames)
    rules: dict[str, Callable[[str], Named | None]] = {
        "canvas": names.canvas,
        "moodle": names.moodle,
        "github": lambda name: names.github(name, assignment),
    }
    for platform, rule in rules.items():
        fitting = {name: rule(name) for name in items}
        if sum(named is not None for named in fitting.values()) * 2 > len(items):
            entries = tuple(_entry(*item, fitting[item[0]], platform) for item in items.items())
            return Recognised(platform, entries)
    entries = tuple(Entry(names.plain(name), name, path) for name, path in items.items())
    return Recognised("plain", entries)


def _entry(name: str, path: Path, named: Named | None, platform: str) -> Entry:
    if named is not None:
        return Entry(named, name, path)
    note = f"the name does not follow the rule of {platform}"
    return Entry(names.plain(name), name, path, note)


def _assignment(folder: Path, items: Mapping[str, Path], usernames: Sequence[str]) -> str:
    """What the names of GitHub repositories begin with; "" if these are none."""
    if folder.name.endswith(_SUBMISSIONS):
        return folder.name.removesuffix(_SUBMISSIONS)
    for name in items:
        for user in usernames:
            if name.lower().endswith(f"-{user.lower()}"):
                return name[: -len(user) - 1]
    repositories = [name for name, path in items.items() if os.path.lexists(path / ".git")]
    return names.common_assignment(repositories)


def _gradescope(folder: Path, items: Mapping[str, Path], metadata: Path) -> tuple[Entry, ...]:
    """One entry a submitter: a group's submission counts for each of its members."""
    known = _read_metadata(metadata)
    entries = []
    for name in dict.fromkeys([*items, *known]):
        path = items.get(name, folder / names.file_key(name))
        fields = known.get(name)
        submitters = fields.get(":submitters") if isinstance(fields, dict) else None
        if not isinstance(submitters, list) or not submitters:
            named = replace(names.plain(name), order=names.gradescope_number(name) or 0)
            entries.append(Entry(named, name, path, f"{metadata.name} names no submitter"))
            continue
        created = str(fields.get(":created_at") or "")
        order = int("".join(c for c in created if c.isdigit())[:20].ljust(20, "0"))
        for submitter in submitters:
            named = Named(_submitter(submitter, name), submitted=created, order=order)
            entries.append(Entry(named, name, path))
    return tuple(entries)


def _submitter(fields: Any, submission: str) -> Student:
    fields = fields if isinstance(fields, dict) else {}
    texts = {kind: str(fields.get(f":{kind}") or "").strip() for kind in ("name", "sid", "email")}
    ids = {kind: texts[kind] for kind in ("sid", "email") if texts[kind]}
    return Student("gradescope", texts["name"] or submission, {**ids, "submission": submission})


def _read_metadata(path: Path) -> dict[str, Any]:
    """The YAML file, every value as text: nothing in it is made into an object."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        fields = yaml.load(path.read_text(encoding="utf-8", errors="replace"), Loader=loader)
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {reason(error)}.") from None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", -1) + 1
        raise UsageError(f"{path.name} is not YAML at line {line}: export it again.") from None
    if not isinstance(fields, dict):
        raise UsageError(f"{path.name} describes no submissions: export it again.")
    return fields
