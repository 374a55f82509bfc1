"""A study as pictures. Needs matplotlib (the extra `study`; `make study` installs it)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from grader.study import gallery, printed, published
from grader.study.result import Counted, Study


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
            made += _printed(study, folder)
    if any(entry.median_ms for entry in study.gpu_times):
        made.append(_save(_times(study), folder, "gpu-times.png"))
    return made


def _printed(study: Study, folder: Path) -> list[str]:
    """The plots of the study itself: printed times, and counts of this run, with CUBLAS."""
    counted = printed.best(study)
    seconds = printed.seconds()
    made = []
    largest = published.SIZES[-1]
    if counted:
        entries = [
            (name, printed.transactions(one), f"{printed.transactions(one):.4g}")
            for name, one in counted.items()
        ]
        figure = _bars(3.2, entries, "transactions for each multiply-add", f"n = {study.n}")
        made.append(_save(figure, folder, "transactions.png"))
        least = {
            name: printed.volume(one) * largest**3 / printed.BANDWIDTH
            for name, one in counted.items()
        }
        made.append(_save(_times_with_minimum(seconds, least), folder, "seconds.png"))
        made.append(_save(_against_counts(counted, seconds), folder, "seconds-by-counts.png"))
    for name, axis, one in (
        ("gflops.png", "GFLOP/s", lambda n, s: published.operations(n) / s / 1e9),
        ("efficiency.png", "percent of 622 GFLOP/s",
         lambda n, s: 100 * published.operations(n) / s / printed.PEAK),
    ):  # fmt: skip
        made.append(_save(_by_size(seconds, axis, one), folder, name))
    first = seconds["GPU1"][largest]
    gains = [(k, first / s[largest], f"{first / s[largest]:.1f}") for k, s in seconds.items()]
    figure = _bars(3.4, gains, f"times as fast as GPU1, n = {largest}", "Speedup, printed")
    made.append(_save(figure, folder, "speedup.png"))
    return made


def _times_with_minimum(seconds: Mapping, least: Mapping[str, float]) -> Figure:
    """Printed seconds, and beside each what its bytes need at the card's bandwidth."""
    largest = published.SIZES[-1]
    entries = [
        (name, times[largest], f"{times[largest]:.4g}" + (f", bytes need {least[name]:.3g}" if name in least else ""))
        for name, times in seconds.items()
    ]  # fmt: skip
    figure = _bars(3.4, entries, f"seconds at n = {largest}", "Printed seconds, Tesla C1060")
    (axes,) = figure.axes
    axes.set_xscale("linear")
    axes.set_xlim(0, 1.7 * max(times[largest] for times in seconds.values()))
    names = [name for name in seconds if name in least]
    axes.barh(names, [least[name] for name in names], color="#fec44f", height=0.4)
    return figure


def _against_counts(counted: Mapping[str, Counted], seconds: Mapping) -> Figure:
    """Printed seconds over counted transactions and over counted bytes."""
    largest = published.SIZES[-1]
    figure = Figure(figsize=(9, 3.8))
    sides = figure.subplots(1, 2, sharey=True)
    for axes, title, one in zip(
        sides, ("transactions", "bytes"), (printed.transactions, printed.volume), strict=True
    ):
        places = {name: (one(entry), seconds[name][largest]) for name, entry in counted.items()}
        for names, at in _together(places):
            axes.annotate(names, at, xytext=(5, 4), textcoords="offset points", fontsize=8)
        axes.plot(*zip(*places.values(), strict=True), "o", color="#2171b5")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlim(right=2.5 * max(x for x, _ in places.values()))
        axes.xaxis.set_major_formatter(lambda x, _: f"1/{1 / x:.0f}" if x < 1 else f"{x:.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
        axes.set_xlabel(f"{title} for each multiply-add, counted")
    sides[0].set_ylabel(f"printed seconds, n = {largest}")
    return figure


def _together(places: Mapping[str, tuple[float, float]]) -> list[tuple[str, tuple[float, float]]]:
    """One label for points that lie too close for two."""
    found: list[tuple[list[str], tuple[float, float]]] = []
    for name, at in places.items():
        for names, other in found:
            if all(0.8 < one / two < 1.25 for one, two in zip(at, other, strict=True)):
                names.append(name)
                break
        else:
            found.append(([name], at))
    return [(", ".join(names), at) for names, at in found]


def _by_size(seconds: Mapping, axis: str, one: Callable[[int, float], float]) -> Figure:
    """A line a kernel over n."""
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots()
    for name, times in seconds.items():
        values = [one(n, times[n]) for n in published.SIZES]
        style = "s--" if name == "CUBLAS" else "o-"
        axes.plot(published.SIZES, values, style, label=f"{name}  {values[-1]:.0f}", markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(published.SIZES, [str(n) for n in published.SIZES])
    axes.set_xlabel("n")
    axes.set_ylabel(axis)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def _save(figure: Figure, folder: Path, name: str) -> str:
    temporary = folder / f".{os.getpid()}.{name}"
    figure.savefig(temporary, dpi=110, bbox_inches="tight", metadata={"Software": None})
    temporary.replace(folder / name)
    return name


def _label(counted: Counted) -> str:
    return f"{counted.variant.kernel} ({counted.variant.x},{counted.variant.y})"


def _bars(figure_height: float, entries: list[tuple[str, float, str]], axis: str, title: str):
    """Horizontal bars on a logarithmic axis: (name, length, what to write at its end)."""
    figure = Figure(figsize=(8, figure_height))
    axes = figure.subplots()
    axes.barh([name for name, _, _ in entries], [length for _, length, _ in entries],
              color="#4292c6")  # fmt: skip
    for at, (_, length, text) in enumerate(entries):
        axes.annotate(text, (length, at), xytext=(4, 0), textcoords="offset points", va="center",
                      fontsize=8)  # fmt: skip
    axes.set_xscale("log")
    lengths = [length for _, length, _ in entries]
    axes.set_xlim(min(lengths) / 2, max(lengths) * 14)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(axis)
    axes.set_title(title, fontsize=10)
    return figure


def _sizes(counted: Counted) -> str:
    """Which transactions there are: "32 + 64 B"."""
    used = [str(s) for s in (32, 64, 128) if counted.counters[f"transactions_{s}"]]
    return f"{' + '.join(used)} B"


def _volume(study: Study, counted: list[Counted]) -> Figure:
    entries = [
        (
            _label(entry),
            entry.counters["volume_bytes"] / entry.n**3,
            f"{_sizes(entry)}, ABU {100 * entry.counters['abu']:.4g}%",
        )
        for entry in counted
    ]
    return _bars(
        0.24 * len(entries) + 1.2,
        entries,
        "bytes moved per multiply-add",
        f"{study.device_name}, n = {study.n}: traffic by kernel and block shape"
        " (sizes of transactions, bandwidth utilisation)",
    )


def _block_shapes(study: Study, counted: list[Counted]) -> Figure:
    """The printed seconds of GPU1, and what was counted for each shape."""
    occupancy = {entry.variant: entry.occupancy for entry in study.resources}
    entries = []
    for entry in counted:
        seconds = published.GPU1_SECONDS.get(entry.variant.block)
        if seconds is None:
            continue
        text = f"{seconds:,.0f} s, {entry.counters['volume_bytes'] / entry.n**3:.2f} B per madd"
        if occupancy.get(entry.variant) is not None:
            text += f", occupancy {occupancy[entry.variant]:.2f}"
        entries.append((_label(entry), seconds, text))
    return _bars(
        0.3 * len(entries) + 1.2,
        entries,
        f"seconds at n = {published.SIZES[-1]}, printed",
        f"GPU1 by block shape, {study.device_name}",
    )


def _times(study: Study) -> Figure:
    """GFLOP/s on the GPU by n, the best published block shape of each kernel."""
    figure = Figure(figsize=(8, 4.4))
    axes = figure.subplots()
    lines = []
    for kernel in published.KERNELS:
        points = [
            (e.n, published.operations(e.n) / e.median_ms / 1e6)
            for e in study.gpu_times
            if e.variant.kernel == kernel and e.variant.is_published_best and e.median_ms
        ]
        if points:
            sizes, rates = zip(*sorted(points), strict=True)
            lines += axes.plot(sizes, rates, "o-", label=f"{kernel}  {rates[-1]:,.0f}")
    ticks = sorted({entry.n for entry in study.gpu_times})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.set_yscale("log")
    for plain in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        plain(lambda rate, _: f"{rate:,.0f}")
    axes.set_xlabel("n")
    axes.set_ylabel("GFLOP/s")
    axes.set_title(f"The gallery on {(study.gpu or {}).get('name', 'a GPU')}", fontsize=10)
    # In the order in which the lines end, so that lines close to each other can be told apart.
    lines.sort(key=lambda line: -line.get_ydata()[-1])
    axes.legend(handles=lines, title=f"GFLOP/s at {ticks[-1]}", fontsize=8, loc="center left",
                bbox_to_anchor=(1.01, 0.5), frameon=False)  # fmt: skip
    return figure
