"""One study from beginning to end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError
from grader.labs.course import Course
from grader.machine import gpu as gpus
from grader.study import baselines, gallery, gpu, measure, predicted, published
from grader.study.gallery import Variant
from grader.study.result import Study

TABLE_SIZES = (64, 128, 256)


@dataclass(frozen=True)
class Wanted:
    """What a study is asked for."""

    device: str = published.DEVICE  # whose limits and counting rule hold
    n: int = 512  # of the counts
    variants: tuple[Variant, ...] = gallery.VARIANTS
    with_table: bool = True  # the published table cell by cell, on the study's device
    predicted_sizes: tuple[int, ...] = predicted.SIZES  # on the study's device; empty: none
    baseline_sizes: tuple[int, ...] = baselines.SIZES
    gpu_sizes: tuple[int, ...] = ()  # empty: no times on a GPU


def study(course: Course, wanted: Wanted, say: Callable[[str], None]) -> Study:
    """Counts, and times what is asked for. Raises GraderError if one of our programs fails."""
    course.cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="study-", dir=course.cache))
    try:
        return _study(course, wanted, folder, say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _study(course: Course, wanted: Wanted, folder: Path, say: Callable[[str], None]) -> Study:
    bench = measure.open_bench(course, wanted.device, folder, say)
    table = _table(wanted)
    counted = measure.count_all(bench, [*((v, wanted.n) for v in wanted.variants), *table])
    in_table = [entry for entry in counted if (entry.variant, entry.n) in table]
    notes = _notes(wanted, counted)
    expected = ()
    try:
        expected = predicted.measure(bench, wanted.variants, wanted.predicted_sizes, say)
    except GraderError as error:
        notes.append(f"Times were not predicted: {error}")
    times, about = (), None
    if wanted.gpu_sizes:
        times, about = _gpu_times(course, wanted, folder, say)
    cpu_times = ()
    if wanted.baseline_sizes:
        try:
            cpu_times = baselines.measure(course, wanted.baseline_sizes, say)
        except GraderError as error:
            notes.append(f"The CPU baselines were not timed: {error}")
    return Study(
        device=wanted.device,
        device_name=bench.fields["name"],
        counting_rule=bench.fields["counting_rule"],
        toolkit=f"CUDA {bench.toolchain.version}",
        architecture=bench.architecture,
        n=wanted.n,
        counted=tuple(counted),
        table=tuple(measure.table_rows(in_table)),
        resources=tuple(
            measure.resources(bench, [e for e in counted if e.variant in wanted.variants])
        ),
        predicted=expected,
        baselines=cpu_times,
        cpu=baselines.processor(),
        gpu=about,
        gpu_times=times,
        notes=tuple(notes),
    )


def _table(wanted: Wanted) -> list[tuple[Variant, int]]:
    if not wanted.with_table or wanted.device != published.DEVICE:
        return []
    kernels = {variant.kernel for variant in wanted.variants}
    return [item for item in measure.table_wanted(TABLE_SIZES) if item[0].kernel in kernels]


def _notes(wanted: Wanted, counted: Sequence[measure.Counted]) -> list[str]:
    left_out = [str(v) for v in wanted.variants if not v.fits(wanted.n)]
    wrong = [f"{e.variant}, n = {e.n}" for e in counted if e.status == "ok" and not e.is_right]
    notes = []
    if left_out:
        notes.append(
            f"Left out, since their blocks do not divide n = {wanted.n}: {', '.join(left_out)}."
        )
    if wrong:
        notes.append(f"The product is wrong: {', '.join(wrong)}.")
    return notes


def _gpu_times(course: Course, wanted: Wanted, folder: Path, say: Callable[[str], None]):
    found = gpus.find_gpu()
    if found is None:
        raise GraderError(
            "No usable GPU was found here: use --backend sim, or see `grader doctor`."
        )
    device = gpus.device_file_for(course, found, "h200")
    bench = measure.open_bench(course, device, folder / "gpu", say)
    return gpu.measure(bench, wanted.variants, wanted.gpu_sizes, say)
