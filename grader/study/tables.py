"""The tables of everything that a study found."""

from __future__ import annotations

from collections.abc import Iterable

from grader.study import gallery, printed, published
from grader.study.result import (
    Baseline,
    Counted,
    GpuTime,
    Predicted,
    Resources,
    Row,
    Study,
)
from grader.study.table import Table


def tables(study: Study) -> list[Table]:
    """The tables of everything that the study found; empty ones are left out."""
    found = [
        _traffic(study),
        _published_table(study.table),
        _resources(study),
        _block_shapes(study),
        *printed.tables(study),
        _predicted(study.predicted, study.device_name),
        _baselines(study.baselines, study.cpu),
        _gpu_times(study),
    ]
    return [table for table in found if table is not None and table.rows]


def _block(variant: gallery.Variant) -> str:
    return f"({variant.x},{variant.y})"


def _has_transactions(study: Study) -> bool:
    return study.counting_rule != "sectors"


def _at_n(study: Study) -> list[Counted]:
    return [c for c in study.counted if c.n == study.n and c.variant in gallery.VARIANTS]


def _traffic(study: Study) -> Table:
    """Transactions, or sectors where the device has those, per variant at the study's n."""
    entries = [entry for entry in _at_n(study) if entry.status == "ok"]
    refused = tuple(f"{e.variant}: {e.message}" for e in _at_n(study) if e.status != "ok")
    if _has_transactions(study):
        columns = (
            "kernel",
            "block",
            "32 B",
            "64 B",
            "128 B",
            "total",
            "bytes",
            "B / madd",
            "ABU",
        )
        rows = [_transactions_of(entry) for entry in entries]
        rule = (
            "Transactions of each size, loads and stores together; B / madd: bytes over n^3"
            " multiply-adds; ABU: mean over the loads' transactions of useful bytes / size."
        )
    else:
        columns = ("kernel", "block", "requests", "load sectors", "store sectors", "bytes",
                   "B / madd")  # fmt: skip
        rows = [_sectors_of(entry) for entry in entries]
        rule = "Requests of warps and sectors of 32 bytes; B / madd: over n^3 multiply-adds."
    title = f"Device memory, {study.device_name}, n = {study.n}"
    return Table(title, rule, columns, tuple(rows), refused)


def _transactions_of(entry: Counted) -> tuple[str, ...]:
    counts = entry.counters
    sizes = [int(counts[f"transactions_{size}"]) for size in (32, 64, 128)]
    volume = int(counts["volume_bytes"])
    return (
        entry.variant.kernel,
        _block(entry.variant),
        *(f"{count:,}" for count in (*sizes, sum(sizes), volume)),
        f"{volume / entry.n**3:.3f}",
        f"{100 * counts['abu']:.4g}%",
    )


def _sectors_of(entry: Counted) -> tuple[str, ...]:
    counts = {name: int(count) for name, count in entry.counters.items()}
    loads, stores = counts["global_load_sectors"], counts["global_store_sectors"]
    requests = counts["global_load_requests"] + counts["global_store_requests"]
    volume = 32 * (loads + stores)
    return (
        entry.variant.kernel,
        _block(entry.variant),
        *(f"{count:,}" for count in (requests, loads, stores, volume)),
        f"{volume / entry.n**3:.3f}",
    )


def _published_table(rows: Iterable[Row]) -> Table:
    """The published table, a line per block shape: which sizes agree in every cell."""
    grouped: dict[tuple[str, gallery.Variant], list[Row]] = {}
    order = list(published.TRAFFIC)
    for row in sorted(rows, key=lambda row: order.index(row.label)):
        grouped.setdefault((row.label, row.variant), []).append(row)
    sizes = sorted({row.n for group in grouped.values() for row in group})
    lines, notes = [], []
    for (label, variant), group in grouped.items():
        cells = {cell.column: cell for cell in group[0].cells}
        by_size = {row.n: row for row in group}
        lines.append(
            (
                label,
                _block(variant),
                cells["total"].printed,
                cells["volume"].printed,
                cells["ABU"].printed,
                *(_verdict(by_size.get(n)) for n in sizes),
            )
        )
        notes += [note for row in group for note in _differences(row)]
    return Table(
        "The published table of transactions, cell by cell",
        "Formulas as printed; block: run in this shape; per n how many of the row's cells (total, each"
        " size, volume, ABU to the printed digit) equal the count exactly.",
        ("row", "block", "transactions", "bytes", "ABU", *(f"n={n}" for n in sizes)),
        tuple(lines),
        tuple(notes),
    )


def _verdict(row: Row | None) -> str:
    if row is None:
        return ""
    agreeing = sum(cell.agrees for cell in row.cells)
    return f"{agreeing}/{len(row.cells)}"


def _differences(row: Row) -> list[str]:
    wrong = [cell for cell in row.cells if not cell.agrees]
    if not wrong:
        return []
    cells = "; ".join(f"{c.column} {c.printed} = {c.expected}, counted {c.counted}" for c in wrong)
    why = f"; {row.explanation}" if row.explanation else ""
    return [f"{row.variant}, n = {row.n}: {cells}{why}."]


def _resources(study: Study) -> Table:
    """Registers, shared memory, occupancy; beside the published ones on the study's device."""
    is_published = study.device == published.DEVICE

    def line(entry: Resources) -> tuple[str, ...]:
        shared = f"{entry.shared_bytes:,}"
        if is_published and entry.shared_published is not None:
            shared += f" / {entry.shared_published:,}"
        occupancy = "-" if entry.occupancy is None else f"{entry.occupancy:.3f}"
        if entry.occupancy_published is not None:
            occupancy += f" / {entry.occupancy_published}"
        return (
            entry.variant.kernel,
            _block(entry.variant),
            published.KERNELS[entry.variant.kernel].computes,
            _or_dash(entry.registers_published) if is_published else "",
            _or_dash(entry.registers_now),
            shared,
            occupancy,
            _or_dash(entry.blocks_per_sm),
            entry.limiter or "-",
        )

    columns = ["kernel", "block", "a thread", "registers", f"sm_{study.architecture}",
               "shared bytes", "occupancy", "blocks", "limited by"]  # fmt: skip
    rows = [line(entry) for entry in study.resources]
    if not is_published:
        del columns[3]
        rows = [(*row[:3], *row[4:]) for row in rows]
    introduction = f"Per thread, per block; sm_{study.architecture}: registers of today's ptxas."
    if is_published:
        introduction += (
            " Registers: as printed. Where two figures stand, the second was printed. Occupancy is"
            " that of the printed registers; shared bytes hold 16 of launch parameters and the"
            " arguments, as on 1.3. Blocks: on a multiprocessor."
        )
    title = f"Resources and occupancy, {study.device_name}"
    return Table(title, introduction, tuple(columns), tuple(rows), left=3)


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)


def _block_shapes(study: Study) -> Table | None:
    """GPU1 by block shape: what explains the times that the study printed."""
    if not _has_transactions(study) or study.device != published.DEVICE:
        return None
    occupancy = {entry.variant: entry.occupancy for entry in study.resources}
    rows = []
    for entry in _at_n(study):
        seconds = published.GPU1_SECONDS.get(entry.variant.block)
        if entry.variant.kernel != "GPU1" or entry.status != "ok" or seconds is None:
            continue
        volume = entry.counters["volume_bytes"] / entry.n**3
        total = sum(entry.counters[f"transactions_{size}"] for size in (32, 64, 128))
        found = occupancy.get(entry.variant)
        rows.append(
            (
                entry.variant.kernel,
                _block(entry.variant),
                "-" if found is None else f"{found:.2f}",
                f"{total / entry.n**3:.4f}",
                f"{volume:.2f}",
                f"{100 * entry.counters['abu']:.4g}%",
                f"{seconds:,.2f}",
            )
        )
    return Table(
        "One kernel, nine block shapes",
        "GPU1: occupancy and traffic per multiply-add beside the printed seconds at n = 16384.",
        ("kernel", "block", "occupancy", "transactions / madd", "B / madd", "ABU", "s (16384)"),
        tuple(rows),
    )


def _predicted(entries: tuple[Predicted, ...], device: str) -> Table:
    """Predicted seconds beside the printed ones."""
    rows = []
    for entry in sorted(entries, key=lambda entry: entry.n):
        then = published.KERNELS[entry.variant.kernel].seconds.get(entry.n)
        rows.append(
            (
                entry.variant.kernel,
                _block(entry.variant),
                str(entry.n),
                f"{entry.seconds:.3g}",
                "-" if then is None else f"{then:.2f}",
                "-" if then is None else f"{entry.seconds / then:.2f}",
                entry.bound,
            )
        )
    rows += [
        ("CUBLAS", "-", str(n), "-", f"{published.CUBLAS_SECONDS[n]:.2f}", "-", "-")
        for n in sorted({entry.n for entry in entries} & set(published.CUBLAS_SECONDS))
    ]
    return Table(
        f"Predicted times, {device}",
        "Seconds by the model of docs/time-model.md, which knows published speeds and none of the"
        " printed times; what binds by the model.",
        ("kernel", "block", "n", "predicted s", "printed s", "predicted / printed", "bound"),
        tuple(rows),
    )


def _baselines(entries: tuple[Baseline, ...], cpu: str) -> Table:
    rows = []
    for entry in entries:
        then = published.BASELINE_SECONDS[entry.method].get(entry.n)
        rows.append(
            (
                entry.method,
                str(entry.n),
                str(entry.threads),
                f"{entry.seconds:.4g}",
                f"{published.operations(entry.n) / entry.seconds / 1e9:.2f}",
                "-" if then is None else f"{then:,.2f}",
                "-" if then is None else f"{published.operations(entry.n) / then / 1e9:.2f}",
            )
        )
    return Table(
        "CPU baselines",
        f"Here: {cpu or 'unknown processor'}. Printed: a 2.8 GHz quad-core Xeon.",
        ("method", "n", "threads", "s", "GFLOP/s", "printed s", "printed GFLOP/s"),
        tuple(rows),
        left=1,
    )


def _gpu_times(study: Study) -> Table:
    """Times of the kernels on the GPU at hand, and what the C1060 took."""
    rows = [_gpu_row(study, entry) for entry in study.gpu_times]
    name = (study.gpu or {}).get("name", "no GPU")
    notes = tuple(
        f"{e.variant}, n = {e.n}: {e.message or e.status}"
        for e in study.gpu_times
        if e.median_ms is None or e.wrong_rounds
    )
    return Table(
        f"Times on {name}",
        "Medians; GFLOP/s of 2n^3 - n operations; efficiency: of the GPU's peak in FP32; speedup"
        " over the CPU baselines above (* scaled by n^3 from the largest n that was timed).",
        ("kernel", "block", "n", "ms", "GFLOP/s", "efficiency", "x cuBLAS", "x ijk", "x ikj-openmp",
         "C1060 s", "C1060 GFLOP/s"),
        tuple(rows),
        notes,
    )  # fmt: skip


def _gpu_row(study: Study, entry: GpuTime) -> tuple[str, ...]:
    name = (entry.variant.kernel, _block(entry.variant), str(entry.n))
    if entry.median_ms is None:
        return (*name, entry.status, *[""] * 7)
    kernel = published.KERNELS[entry.variant.kernel]
    then = kernel.seconds.get(entry.n) if entry.variant.is_published_best else None
    operations = published.operations(entry.n)
    return (
        *name,
        f"{entry.median_ms:.4g}",
        f"{operations / entry.median_ms / 1e6:,.0f}",
        f"{100 * entry.floor_ms / entry.median_ms:.1f}%",
        "-" if entry.cublas_ratio is None else f"{entry.cublas_ratio:.2f}",
        _speedup(study.baselines, "ijk", entry),
        _speedup(study.baselines, "ikj-openmp", entry),
        "-" if then is None else f"{then:.2f}",
        "-" if then is None else f"{operations / then / 1e9:,.0f}",
    )


def _speedup(baselines: tuple[Baseline, ...], method: str, entry: GpuTime) -> str:
    """Of a GPU time over a baseline at the same n, or scaled from its largest n."""
    timed = {b.n: b.seconds for b in baselines if b.method == method}
    if not timed:
        return "-"
    nearest = entry.n if entry.n in timed else max(timed)
    seconds = timed[nearest] * (entry.n / nearest) ** 3
    mark = "" if nearest == entry.n else "*"
    return f"{1000 * seconds / entry.median_ms:,.0f}{mark}"
