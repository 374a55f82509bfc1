"""Reading results that were written as JSON: the counterpart of grader.results.result.to_dict.

Fields that this version does not know are left out, so that results of a later version can be
shown; a file that docs/result.schema.json refuses is refused here too.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from grader import INSTALLED
from grader.errors import UsageError
from grader.results.explanation import explanation_from
from grader.results.finding import Origin, facts_from
from grader.results.result import (
    LIST_SCHEMA,
    CaseResult,
    Change,
    CheckResult,
    Diagnostic,
    GpuRun,
    Kernel,
    LineCounters,
    Mismatch,
    Result,
)

_COURSE = INSTALLED if INSTALLED.is_dir() else INSTALLED.parents[1]
_SCHEMA_FILE = _COURSE / "docs" / "result.schema.json"
_MAX_BYTES = 64 << 20
_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Stored:
    """One lab's result, or those of several."""

    results: list[Result]
    one: bool  # the file is about one lab rather than a list


def load(path: Path) -> Stored:
    """Reads a result file. Raises UsageError, one sentence, if it is none."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"{path} is larger than {_MAX_BYTES >> 20} MiB: not a result.")
        fields = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {(error.strerror or 'failure').lower()}."
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON: expected what --format json writes.") from None
    wrong = _first_fault(fields)
    if wrong:
        raise UsageError(f"{path} is not a result of the grader: {wrong}.")
    if fields["schema"] == LIST_SCHEMA:
        return Stored([from_dict(item) for item in fields["results"]], one=False)
    return Stored([from_dict(fields)], one=True)


@functools.cache
def _validator():
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(_SCHEMA_FILE.read_text(encoding="utf-8")))


def _first_fault(fields: Any) -> str:
    """What breaks the schema first, in a few words; "" if nothing does."""
    from jsonschema.exceptions import best_match

    kinds = {"tilewise.result/1": "result", LIST_SCHEMA: "results"}
    kind = kinds.get(fields.get("schema")) if isinstance(fields, dict) else None
    if kind is None:
        return 'it has no "schema" of ours'
    rules = {"$ref": f"#/$defs/{kind}", "$defs": _validator().schema["$defs"]}
    error = best_match(_validator().evolve(schema=rules).iter_errors(fields))
    if error is None:
        return ""
    place = "/".join(str(part) for part in error.absolute_path)
    return f"{place or 'it'}: {error.message[:120]}"


def from_dict(fields: Mapping[str, Any]) -> Result:
    """The result of a JSON object that fits the schema."""
    return _make(
        Result,
        fields,
        checks=_several(CheckResult, fields.get("checks")),
        diagnostics=tuple(_diagnostic(item) for item in fields.get("diagnostics", ())),
        warnings=tuple(_diagnostic(item) for item in fields.get("warnings", ())),
        kernels=tuple(_kernel(item) for item in fields.get("kernels", ())),
        cases=tuple(
            _make(
                CaseResult,
                item,
                mismatches=_several(Mismatch, item.get("mismatches")),
                printed=tuple(item.get("printed", ())),
            )
            for item in fields.get("cases", ())
        ),
        changes=_several(Change, fields.get("changes")),
        gpu=_gpu(fields.get("gpu")),
    )


def _gpu(fields: Mapping[str, Any] | None) -> GpuRun | None:
    if fields is None:
        return None
    lists = {name: tuple(fields.get(name, ())) for name in ("cases", "differing")}
    return _make(GpuRun, fields, **lists)


def _diagnostic(fields: Mapping[str, Any]) -> Diagnostic:
    places = {name: fields[name] and tuple(fields[name]) for name in ("block", "thread")}
    origin, facts = fields.get("follows_from"), fields.get("facts")
    told = fields.get("explanation")
    return _make(
        Diagnostic,
        fields,
        **places,
        cases=tuple(fields.get("cases", ())),
        follows_from=_make(Origin, origin) if origin else None,
        facts=facts_from(facts) if facts else None,
        explanation=explanation_from(told) if told else None,
    )


def _kernel(fields: Mapping[str, Any]) -> Kernel:
    sizes = {name: tuple(fields[name]) for name in ("grid", "block")}
    return _make(Kernel, fields, **sizes, lines=_several(LineCounters, fields["lines"]))


def _several(kind: type[_T], items: Any) -> tuple[_T, ...]:
    return tuple(_make(kind, item) for item in items or ())


# What the schema lets a file leave out and a dataclass has no default for.
_ABSENT = {"title": "", "shape": "", "case": ""}


def _make(kind: type[_T], fields: Mapping[str, Any], **converted: Any) -> _T:
    names = {field.name for field in dataclasses.fields(kind)}
    known = {name: value for name, value in fields.items() if name in names}
    absent = {name: value for name, value in _ABSENT.items() if name in names}
    return kind(**(absent | known | converted))
