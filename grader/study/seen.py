"""What one sees in a study, in a few sentences: all numbers are the study's own or printed ones."""

from __future__ import annotations

from grader.study import printed, published
from grader.study.result import Study


def sentences(study: Study) -> list[str]:
    """The most important first; what the study has no numbers for is left out."""
    found = (_bytes(study), _cells(study), _shapes(study), _occupancy(study), _beyond(study),
             _model(study), _processor(study), _gpu(study))  # fmt: skip
    return [sentence for sentence in found if sentence]


def _bytes(study: Study) -> str:
    counted = printed.best(study)
    if study.device != published.DEVICE or not {"GPU1", "GPU4", "GPU8"} <= set(counted):
        return ""
    moved = [printed.volume(counted[name]) for name in ("GPU1", "GPU4", "GPU8")]
    times = [published.KERNELS[name].seconds[16384] for name in ("GPU1", "GPU4", "GPU8")]
    return (
        f"Bytes decide first: GPU1 moves {moved[0]:.2f} for each multiply-add, GPU4 with tiles in shared"
        f" memory {moved[1]:.2f}, GPU8 with sums in registers {moved[2]:.2f}; printed seconds at n = 16384:"
        f" {times[0]:.0f}, {times[1]:.0f}, {times[2]:.0f}."
    )


def _cells(study: Study) -> str:
    cells = [cell for row in study.table for cell in row.cells]
    if not cells:
        return ""
    agree = sum(cell.agrees for cell in cells)
    return (
        f"The published table of transactions, counted again by the rule of compute capability 1.3:"
        f" {agree} of {len(cells)} cells equal"
        + (", the others explained below it." if agree < len(cells) else ".")
    )


def _shapes(study: Study) -> str:
    counted = {
        entry.variant.block: entry
        for entry in study.counted
        if entry.variant.kernel == "GPU1" and entry.n == study.n and entry.status == "ok"
    }
    slow, fast = (1, 512), (256, 1)
    if study.device != published.DEVICE or not {slow, fast} <= set(counted):
        return ""
    ratio = printed.transactions(counted[slow]) / printed.transactions(counted[fast])
    times = published.GPU1_SECONDS[slow] / published.GPU1_SECONDS[fast]
    return (
        f"The shape of a block alone: GPU1 in blocks of (1,512) makes {ratio:.1f} times the transactions of"
        f" (256,1) and took {times:.0f} times as long, at the same occupancy."
    )


def _occupancy(study: Study) -> str:
    found = {
        entry.variant.kernel: entry.occupancy
        for entry in study.resources
        if entry.variant.is_published_best and entry.occupancy is not None
    }
    if study.device != published.DEVICE or not {"GPU4", "GPU6"} <= set(found):
        return ""
    times = published.KERNELS["GPU4"].seconds[16384] / published.KERNELS["GPU6"].seconds[16384]
    return (
        f"Occupancy does not order them: GPU6 at {found['GPU6']:.2f} was {times:.1f} times as fast as GPU4"
        f" at {found['GPU4']:.2f}."
    )


def _beyond(study: Study) -> str:
    counted = printed.best(study)
    if study.device != published.DEVICE or "GPU8" not in counted:
        return ""
    needs = printed.volume(counted["GPU8"]) * 16384**3 / printed.BANDWIDTH
    took = published.KERNELS["GPU8"].seconds[16384]
    rate = published.operations(16384) / took
    library = published.CUBLAS_SECONDS[16384]
    return (
        f"Then arithmetic decides: GPU8's bytes need {needs:.0f} s of its {took:.0f}; it reaches"
        f" {rate / printed.PEAK:.0%} of the peak and is {library / took - 1:.0%} faster than CUBLAS 3.0."
    )


def _model(study: Study) -> str:
    ratios = [
        entry.seconds / published.KERNELS[entry.variant.kernel].seconds[entry.n]
        for entry in study.predicted
        if entry.n in published.KERNELS[entry.variant.kernel].seconds
    ]
    if not ratios:
        return ""
    return f"Predicted from published speeds alone: {min(ratios):.2f} to {max(ratios):.2f} of the printed seconds."


def _processor(study: Study) -> str:
    times = {(one.method, one.n): one.seconds for one in study.baselines}
    sizes = [n for method, n in times if method == "ijk" and ("ikj", n) in times]
    if not sizes:
        return ""
    n = max(sizes)
    then = published.BASELINE_SECONDS
    before = f" (then {then['ijk'][n] / then['ikj'][n]:.1f})" if n in then["ijk"] else ""
    return (
        f"On this machine's processor ikj is {times['ijk', n] / times['ikj', n]:.1f} times as fast as ijk at"
        f" n = {n}{before}."
    )


def _gpu(study: Study) -> str:
    sizes = [entry.n for entry in study.gpu_times if entry.median_ms]
    at = [e for e in study.gpu_times if e.median_ms and e.n == max(sizes) and e.cublas_ratio]
    if not at:
        return ""
    fastest = min(at, key=lambda entry: entry.median_ms)
    name = (study.gpu or {}).get("name", "this GPU")
    return (
        f"On {name} the fastest of them at n = {fastest.n} is {fastest.variant}:"
        f" {fastest.cublas_ratio:.2f} times cuBLAS's time."
    )
