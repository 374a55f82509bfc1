"""Times of the gallery on a real GPU: at each size all kernels and cuBLAS in turns, in one process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grader.errors import StepError
from grader.machine import gpu
from grader.running.execute import run_executor
from grader.study.gallery import Variant
from grader.study.measure import Bench, record_plans
from grader.study.result import GpuTime

SCHEMA = "tilewise.comparison/1"
ROUNDS = 11
SECONDS = 20  # for the rounds of one size; slow kernels make them fewer
SIZES = (1024, 2048, 4096)


def measure(
    bench: Bench, variants: Sequence[Variant], sizes: Sequence[int], say: Callable[[str], None]
) -> tuple[tuple[GpuTime, ...], dict[str, Any]]:
    """Times each variant at each size that it fits; with them name and driver of the GPU.

    Raises StepError if the executor fails.
    """
    plans: dict[int, dict[Variant, Path]] = {n: {} for n in sizes}
    for variant in variants:
        fitting = [n for n in sizes if variant.fits(n)]
        if not fitting:
            continue
        say(f"recording {variant}")
        for n, plan in record_plans(bench, variant, fitting).items():
            plans[n][variant] = plan
    found, about = [], {}
    for n, of_size in plans.items():
        if not of_size:
            continue
        say(f"timing {len(of_size)} kernels, n = {n}")
        fields = _compare(bench, n, of_size)
        about = fields.get("gpu") or about
        try:
            found += parse(list(of_size), n, fields)
        except (ValueError, KeyError, TypeError) as error:
            raise StepError(f"The times at n = {n} cannot be read: {error!r}.") from None
    return tuple(found), about


def _compare(bench: Bench, n: int, plans: dict[Variant, Path]) -> dict[str, Any]:
    result = bench.folder / f"comparison-{n}.json"
    (_, first), *others = plans.items()
    arguments: list[str | Path] = [
        "--backend", "gpu", "--device", bench.device, "--plan", first, "--rounds", str(ROUNDS),
        "--seconds", str(SECONDS), "--cublas", "--result", result,
    ]  # fmt: skip
    for variant, plan in others:
        arguments += ["--compare", f"{variant.id}={plan}"]
    with gpu.turn(alone=True):
        run_executor(bench.course, arguments, f"the times at n = {n}")
    try:
        return json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StepError(f"The times at n = {n} cannot be read: {error!r}.") from None


def parse(variants: Sequence[Variant], n: int, fields: dict[str, Any]) -> list[GpuTime]:
    """One entry a variant, in order; the first is the comparison's submission.

    Raises StepError if one of them did not end, KeyError, TypeError or ValueError where the fields
    are not those of a comparison.
    """
    if fields.get("schema") != SCHEMA:
        raise ValueError(f"the schema is {fields.get('schema')!r}, not {SCHEMA}")
    contenders = fields["contenders"]
    for contender in contenders.values():
        if contender["status"] == "timeout":
            raise StepError(f"At n = {n}: {contender['message']} Leave that kernel or n out.")
    cublas = (contenders.get("cublas") or {}).get("time_ms")
    names = ["submission", *(variant.id for variant in variants[1:])]
    return [
        _time(variant, n, contenders[name], cublas, fields["floor_ms"])
        for variant, name in zip(variants, names, strict=True)
    ]


def _time(
    variant: Variant, n: int, mine: dict[str, Any], cublas: dict[str, float] | None, floor_ms: float
) -> GpuTime:
    time = mine["time_ms"]
    return GpuTime(
        variant=variant,
        n=n,
        status=mine["status"],
        message=mine["message"] or mine["verified"]["first_wrong"],
        median_ms=time["median"] if time else None,
        low_ms=time["low"] if time else None,
        high_ms=time["high"] if time else None,
        cublas_ratio=time["median"] / cublas["median"] if time and cublas else None,
        wrong_rounds=mine["verified"]["wrong"],
        floor_ms=floor_ms,
    )
