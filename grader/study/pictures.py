"""A study as pictures. Needs matplotlib (the extra `study`; `make study` installs it)."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # files only, no display
import matplotlib.pyplot as plt  # noqa: E402 - after the choice of back end

from grader.study import gallery, published  # noqa: E402
from grader.study.result import Counted, Study  # noqa: E402

_SIZES = ((32, "#9ecae1"), (64, "#4292c6"), (128, "#084594"))


def draw(study: Study, folder: Path) -> list[str]:
    """Writes the pictures that the study has data for; returns their file names."""
    counted = [c for c in study.counted if c.n == study.n and c.status == "ok"]
    counted = [c for c in counted if c.variant in gallery.VARIANTS]
    made = []
    if study.counting_rule != "sectors" and counted:
        made.append(_save(_volume(study, counted), folder, "volume.png"))
        if study.device == published.DEVICE:
            shapes = [c for c in counted if c.variant.kernel == "GPU1"]
            if shapes:
                made.append(_save(_block_shapes(study, shapes), folder, "block-shapes.png"))
    if any(entry.median_ms for entry in study.gpu_times):
        made.append(_save(_times(study), folder, "gpu-times.png"))
    plt.close("all")
    return made


def _save(figure: plt.Figure, folder: Path, name: str) -> str:
    temporary = folder / f".{os.getpid()}.{name}"
    figure.savefig(temporary, dpi=110, bbox_inches="tight", metadata={"Software": None})
    temporary.replace(folder / name)
    return name


def _label(counted: Counted) -> str:
    return f"{counted.variant.kernel}\n({counted.variant.x},{counted.variant.y})"


def _volume(study: Study, counted: list[Counted]) -> plt.Figure:
    """Bytes per multiply-add, divided by the size of the transaction, and the ABU above."""
    figure, axes = plt.subplots(figsize=(11, 4.2))
    labels = [_label(entry) for entry in counted]
    below = [0.0] * len(counted)
    for size, color in _SIZES:
        heights = [size * e.counters[f"transactions_{size}"] / e.n**3 for e in counted]
        axes.bar(labels, heights, bottom=below, color=color, label=f"{size}-byte transactions")
        below = [low + more for low, more in zip(below, heights, strict=True)]
    for at, entry in enumerate(counted):
        axes.text(at, below[at] * 1.05, f"{100 * entry.counters['abu']:.0f}%", ha="center",
                  fontsize=8)  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylabel("bytes moved per multiply-add")
    axes.set_title(
        f"{study.device_name}, n = {study.n}: traffic by kernel and block shape"
        " (above the bars: average bandwidth utilisation)",
        fontsize=10,
    )
    axes.tick_params(axis="x", labelsize=7)
    axes.legend(fontsize=8)
    return figure


def _block_shapes(study: Study, counted: list[Counted]) -> plt.Figure:
    """The printed seconds of GPU1 over the bytes that the rule counts, shape by shape."""
    figure, axes = plt.subplots(figsize=(6.5, 4.2))
    for entry in counted:
        seconds = published.GPU1_SECONDS.get(entry.variant.block)
        if seconds is None:
            continue
        volume = entry.counters["volume_bytes"] / entry.n**3
        axes.plot(volume, seconds, "o", color="#084594")
        axes.annotate(f"({entry.variant.x},{entry.variant.y})", (volume, seconds), fontsize=8,
                      xytext=(6, 2), textcoords="offset points")  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes moved per multiply-add (counted)")
    axes.set_ylabel("seconds at n = 16384 (printed, C1060)")
    axes.set_title(f"GPU1 by block shape, {study.device_name}", fontsize=10)
    return figure


def _times(study: Study) -> plt.Figure:
    """GFLOP/s on the GPU by n, the best published block shape of each kernel."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for kernel in published.KERNELS:
        points = [
            (e.n, published.operations(e.n) / e.median_ms / 1e6)
            for e in study.gpu_times
            if e.variant.kernel == kernel and e.variant.is_published_best and e.median_ms
        ]
        if points:
            axes.plot(*zip(*sorted(points), strict=True), "o-", label=kernel)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("n")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"The gallery on {(study.gpu or {}).get('name', 'a GPU')}", fontsize=10)
    axes.legend(fontsize=8)
    return figure
