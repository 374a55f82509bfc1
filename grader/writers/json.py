"""The result as JSON, as docs/result.schema.json describes it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from grader.results.result import Result, list_to_dict, to_dict

if TYPE_CHECKING:
    from grader.writers.style import Style


_CONTROL = re.compile("[\x7f-\x9f]")


def render(results: list[Result], *, one: bool, style: Style) -> str:
    fields = to_dict(results[0]) if one else list_to_dict(results)
    text = json.dumps(fields, indent=2, allow_nan=False, ensure_ascii=False)
    # Control characters stand in strings alone; terminals obey those that JSON lets through, too.
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
