"""The command lines of `grader study` and `grader occupancy`."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
import sys
from pathlib import Path

import click

from grader.commands import terminal
from grader.errors import UsageError
from grader.labs.course import find_course
from grader.machine import gpu as gpus
from grader.machine.toolchain import write_atomically
from grader.writers import Style

WIDTH = 100  # columns, where standard output is no terminal


def _sizes(context: click.Context, parameter: click.Parameter, text: str | None):
    if text is None:
        return None
    try:
        sizes = tuple(int(word) for word in text.split(",") if word.strip())
    except ValueError:
        sizes = ()
    if text.strip() == "none":
        return ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r}: give widths such as 1024,2048, or none.")
    return sizes


@click.command()
@click.option("--device", default="c1060", show_default=True, help="Device file to count by.")
@click.option(
    "--n", type=click.IntRange(16, 4096), default=512, show_default=True,
    help="Width of the counted matrices.",
)  # fmt: skip
@click.option("--kernels", default="all", show_default=True, help="Such as gpu1,gpu4,sgemm.")
@click.option(
    "--backend", type=click.Choice(["auto", "sim", "gpu"]), default="auto", show_default=True,
    help="gpu adds times on the GPU of this machine; auto where there is one.",
)  # fmt: skip
@click.option("--gpu-sizes", callback=_sizes, help="Widths timed on the GPU [1024,2048,4096].")
@click.option(
    "--predict", "predicted_sizes", callback=_sizes,
    help="Widths of the times predicted for the C1060 [2048,4096], or none.",
)  # fmt: skip
@click.option(
    "--baselines", "baseline_sizes", callback=_sizes,
    help="Widths timed on the CPU [256,512,1024], or none.",
)  # fmt: skip
@click.option("--table/--no-table", default=True, help="The published table, cell by cell.")
@click.option(
    "--format", "format_name", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True,
    help="Of what goes to standard output.",
)  # fmt: skip
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for tables and pictures [build/study].",
)
@click.option("--pictures/--no-pictures", default=None, help="Default: if matplotlib is there.")
def study(
    device: str,
    n: int,
    kernels: str,
    backend: str,
    gpu_sizes: tuple[int, ...] | None,
    predicted_sizes: tuple[int, ...] | None,
    baseline_sizes: tuple[int, ...] | None,
    table: bool,
    format_name: str,
    output: Path | None,
    pictures: bool | None,
) -> None:
    """Repeat the classic study of eight kernels: transactions, occupancy, times.

    Writes study.md, study.json and pictures into the output folder.
    """
    from grader.study import baselines, gallery, gpu, predicted, run

    course = find_course()
    has_matplotlib = _has_matplotlib()
    if pictures and not has_matplotlib:
        raise UsageError("Pictures need matplotlib, which `make study` installs.")
    on_gpu = backend == "gpu" or (backend == "auto" and gpus.find_gpu() is not None)
    if gpu_sizes is not None and not on_gpu:
        raise UsageError("--gpu-sizes needs a GPU, and none is used here.")
    folder = _folder(output or course.build / "study")
    wanted = run.Wanted(
        device=device,
        n=n,
        variants=gallery.find(kernels),
        with_table=table,
        predicted_sizes=predicted.SIZES if predicted_sizes is None else predicted_sizes,
        baseline_sizes=baselines.SIZES if baseline_sizes is None else baseline_sizes,
        gpu_sizes=(gpu.SIZES if gpu_sizes is None else gpu_sizes) if on_gpu else (),
    )
    found = run.study(course, wanted, lambda text: click.echo(f"study: {text}", err=True))
    names = []
    if has_matplotlib if pictures is None else pictures:
        from grader.study.pictures import draw

        names = draw(found, folder)
    elif pictures is None:
        click.echo("study: no pictures: matplotlib is missing; `make study` installs it", err=True)
    sys.stdout.write(_written(found, folder, names, format_name))
    click.echo(f"study: tables and pictures are in {folder}", err=True)


def _has_matplotlib() -> bool:
    try:
        return importlib.util.find_spec("matplotlib") is not None
    except ValueError:  # switched off: sys.modules["matplotlib"] is None
        return False


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder {path} cannot be made: {error.strerror}.") from None
    return path


def _written(found, folder: Path, pictures: list[str], format_name: str) -> str:
    """Writes the files; what goes to standard output."""
    from grader.study import markdown, result

    texts = {"markdown": markdown.render(found, pictures), "json": result.to_json(found)}
    write_atomically(folder / "study.md", texts["markdown"])
    write_atomically(folder / "study.json", texts["json"])
    if format_name in texts:
        return texts[format_name]
    from grader.study import text

    return text.render(found, _style())


def _style() -> Style:
    """Like a report's, but as wide as the terminal: the tables are."""
    columns = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    return dataclasses.replace(terminal.style(), width=max(80, min(columns, 160)))


@click.command()
@click.option("--registers", type=click.IntRange(1), required=True, help="Per thread.")
@click.option("--shared", type=click.IntRange(0), default=0, help="Bytes per block.  [0]")
@click.option("--threads", type=click.IntRange(1), required=True, help="Per block.")
@click.option("--device", default="h200", show_default=True, help="Device file.")
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json"]), default="text",
    show_default=True,
)  # fmt: skip
def occupancy(registers: int, shared: int, threads: int, device: str, format_name: str) -> None:
    """Say how many blocks of a kernel fit an SM, and which limit keeps others out."""
    from grader.machine import occupancy as calculator

    found = calculator.ask(find_course(), device, registers, shared, threads)
    sys.stdout.write(found.text if format_name == "json" else calculator.render(found))
