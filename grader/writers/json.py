"""The result as JSON, as docs/result.schema.json describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.result import Result, list_to_dict, to_dict

if TYPE_CHECKING:
    from grader.writers import Style


def render(results: list[Result], *, one: bool, style: Style) -> str:
    fields = to_dict(results[0]) if one else list_to_dict(results)
    return json.dumps(fields, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
