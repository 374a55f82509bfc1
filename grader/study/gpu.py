"""Times of the gallery on a real GPU, each beside cuBLAS in the same process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader import gpu
from grader.errors import StepError
from grader.execute import run_executor
from grader.study.gallery import Variant
from grader.study.measure import Bench, record_plans
from grader.study.result import GpuTime

SCHEMA = "tilewise.comparison/1"
ROUNDS = 20
SECONDS = 4.0  # per kernel and size; slow kernels get fewer rounds
SIZES = (1024, 2048, 4096)


def measure(
    bench: Bench, variants: Sequence[Variant], sizes: Sequence[int], say: Callable[[str], None]
) -> tuple[tuple[GpuTime, ...], dict[str, Any]]:
    """Times each variant at each size that it fits; with them name and driver of the GPU.

    Raises StepError if the executor fails.
    """
    found, about = [], {}
    for variant in variants:
        fitting = [n for n in sizes if variant.fits(n)]
        if not fitting:
            continue
        for n, plan in record_plans(bench, variant, fitting).items():
            say(f"timing {variant}, n = {n}")
            fields = _compare(bench, variant, n, plan)
            about = fields.get("gpu") or about
            try:
                found.append(parse(variant, n, fields))
            except (ValueError, KeyError, TypeError) as error:
                raise StepError(
                    f"The times of {variant}, n = {n}, cannot be read: {error!r}."
                ) from None
    return tuple(found), about


def _compare(bench: Bench, variant: Variant, n: int, plan: Path) -> dict[str, Any]:
    result = plan.with_suffix(".comparison.json")
    arguments: list[str | Path] = [
        "--backend", "gpu", "--device", bench.device, "--plan", plan, "--rounds", str(ROUNDS),
        "--seconds", str(SECONDS), "--cublas", "--result", result,
    ]  # fmt: skip
    with gpu.turn(alone=True):
        run_executor(bench.course, arguments, f"the times of {variant}, n = {n}")
    try:
        return json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StepError(f"The times of {variant}, n = {n}, cannot be read: {error!r}.") from None


def parse(variant: Variant, n: int, fields: dict[str, Any]) -> GpuTime:
    """Raises KeyError or TypeError where a field is missing or of another kind."""
    if fields.get("schema") != SCHEMA:
        raise ValueError(f"the schema is {fields.get('schema')!r}, not {SCHEMA}")
    mine = fields["contenders"]["submission"]
    time = mine["time_ms"]
    ratios = fields.get("ratios") or {}
    return GpuTime(
        variant=variant,
        n=n,
        status=mine["status"],
        message=mine["message"] or mine["verified"]["first_wrong"],
        median_ms=time["median"] if time else None,
        low_ms=time["low"] if time else None,
        high_ms=time["high"] if time else None,
        cublas_ratio=ratios["cublas"]["median"] if "cublas" in ratios else None,
        wrong_rounds=mine["verified"]["wrong"],
        floor_ms=fields["floor_ms"],
    )
