"""The classic study: its printed figures hold for our kernels, counted by the rule of the C1060."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.commands import study as command
from grader.errors import GraderError, StepError, UsageError
from grader.machine import gpu as gpus
from grader.running import execute
from grader.sandbox.limits import StepLimits
from grader.study import (
    baselines,
    gallery,
    gpu,
    markdown,
    measure,
    predicted,
    printed,
    published,
    result,
    run,
    seen,
    tables,
)
from grader.study import text as study_text
from grader.study.gallery import Variant
from grader.writers import Style

# Further shapes of rows that another one stands for: left to `make study`.
MORE_OF_A_ROW = (Variant("GPU1", 1, 64), Variant("GPU1", 64, 1), Variant("GPU2", 32, 2))


def silent(text):
    pass


@pytest.fixture(scope="module")
def bench(tmp_path_factory, built):
    return measure.open_bench(built, "c1060", tmp_path_factory.mktemp("study"), silent)


@pytest.fixture(scope="module")
def counted(bench):
    """Every row of the published table at two sizes, which pin the terms in n^3 and n^2."""
    wanted = [item for item in measure.table_wanted((64, 128)) if item[0] not in MORE_OF_A_ROW]
    return measure.count_all(bench, wanted)


# --- the published table of transactions ---------------------------------------------------------


@pytest.mark.slow
def test_every_cell_of_the_published_table_is_counted(counted):
    rows = measure.table_rows(counted)
    assert {row.label for row in rows if row.n == 128} == set(published.TRAFFIC)
    assert {row.label for row in rows if row.n == 64} == set(published.TRAFFIC)
    assert all(entry.is_right for entry in counted)
    different = [
        (str(row.variant), row.n, cell.column, cell.expected, cell.counted)
        for row in rows
        for cell in row.cells
        if not cell.agrees
    ]
    # GPU6 to GPU8 at n = 64: half a block of the printed shape would lie beyond the matrix.
    assert different == [
        (f"{kernel} (16,4)", 64, *cell)
        for kernel in ("GPU6", "GPU7", "GPU8")
        for cell in (
            ("total", "1,344", "1,408"),
            ("128-byte", "64", "128"),
            ("volume", "90,112", "98,304"),
        )
    ]
    assert all(row.explanation for row in rows if not all(cell.agrees for cell in row.cells))


@pytest.mark.slow
def test_narrow_blocks_follow_the_formula_of_their_shape(counted):
    for entry in counted:
        if entry.variant in gallery.NARROW_VARIANTS:
            assert entry.counters["transactions_64"] == 64**3 // 256 + 64**2 // 16
            assert entry.counters["transactions_128"] == 64**3 // 2048


def test_two_sizes_pin_the_formulas():
    """A formula a n^3 + b n^2 with another a or b differs at 64 or 128."""
    for row in published.TRAFFIC.values():
        for formula in (row.total, row.of_32, row.of_64, row.of_128, row.volume):
            if formula is None:
                continue
            a, b = _coefficients(formula)
            assert [a * n**3 + b * n**2 for n in (64, 128, 256)] == [
                formula(n) for n in (64, 128, 256)
            ]


def _coefficients(formula):
    low, high = formula(64), formula(128)
    a = (high - 4 * low) / (128**3 - 4 * 64**3)
    return a, (low - a * 64**3) / 64**2


@pytest.mark.slow
def test_a_wrong_count_is_not_taken_for_the_printed_one(counted):
    entry = next(e for e in counted if e.variant == Variant("GPU1", 8, 8) and e.n == 128)
    good = measure.compare_traffic(entry, entry.variant.traffic)
    assert all(cell.agrees for cell in good.cells)
    for name in ("transactions_32", "transactions_64", "volume_bytes"):
        counters = {**entry.counters, name: entry.counters[name] + 1}
        changed = dataclasses.replace(entry, counters=counters)
        row = measure.compare_traffic(changed, entry.variant.traffic)
        assert not all(cell.agrees for cell in row.cells), name
    counters = {**entry.counters, "abu": entry.counters["abu"] + 0.001}
    row = measure.compare_traffic(
        dataclasses.replace(entry, counters=counters), entry.variant.traffic
    )
    assert not row.cells[-1].agrees


def test_formulas():
    assert published.Formula("17n^3/16 + n^2")(64) == 17 * 64**3 // 16 + 64**2
    assert published.Formula("2.5n^3 + 4n^2")(2) == Fraction(20 + 16)
    assert published.Formula("0")(64) == 0
    assert published.Formula("n^3/4096")(8) == Fraction(1, 8)
    with pytest.raises(ValueError, match="not a formula"):
        published.Formula("n^3 - n")(64)


def test_printed_percentages_are_compared_digit_for_digit():
    row = published.TRAFFIC["GPU1 (8,8)"]
    assert row.abu_agrees(1.25 / 3)
    assert not row.abu_agrees(0.4175)
    assert published.TRAFFIC["GPU1 x>=16"].abu_agrees(0.5625)
    assert published.TRAFFIC["GPU4, GPU5 (16,16)"].abu_agrees(1.0)
    assert not published.TRAFFIC["GPU4, GPU5 (16,16)"].abu_agrees(0.99)


# --- resources and occupancy ---------------------------------------------------------------------


@pytest.mark.slow
def test_blocks_shared_memory_and_occupancy_are_as_printed(bench, counted):
    best = [e for e in counted if e.variant.is_published_best and e.n == 128]
    best += measure.count_all(bench, [(Variant("GPU1", 256, 1), 256)])
    found = {entry.variant.kernel: entry for entry in measure.resources(bench, best)}
    assert set(found) == set(published.KERNELS)
    for name, kernel in published.KERNELS.items():
        entry = found[name]
        assert entry.variant.block == kernel.block
        assert entry.shared_bytes == kernel.shared_bytes == entry.shared_published
        assert entry.registers == kernel.registers
        assert f"{entry.occupancy + 1e-9:.2f}" == kernel.occupancy == entry.occupancy_published


@pytest.mark.slow
def test_shared_memory_of_1_3_holds_launch_parameters_and_arguments(counted):
    """The kernels themselves declare what is left: nothing, two tiles, one tile."""
    declared = {"GPU1": 0, "GPU2": 0, "GPU3": 0, "GPU4": 2048, "GPU5": 2112, "GPU6": 2176,
                "GPU7": 2176, "GPU8": 4160, "sgemm": 1088}  # fmt: skip
    for entry in counted:
        assert entry.static_shared_bytes == declared[entry.variant.kernel]
        assert entry.argument_bytes == (56 if entry.variant.kernel == "sgemm" else 28)


def test_the_limits_of_the_device_hold(bench):
    wide = measure.count_all(bench, [(Variant("GPU1", 512, 2), 512), (Variant("GPU4", 32, 32), 64)])
    assert [entry.status for entry in wide] == ["launch-config"] * 2
    assert "512 threads" in wide[0].message


# --- the kernels are right -----------------------------------------------------------------------

SHAPES = (
    *((v, 64) for v in gallery.TABLE_VARIANTS if v.fits(64) and v not in MORE_OF_A_ROW),
    *((v, 128) for v in gallery.TABLE_VARIANTS if not v.fits(64)),
    *((v, 64) for v in gallery.NARROW_VARIANTS),
    (Variant("GPU1", 256, 1), 256),
    (Variant("GPU3", 16, 16), 64),
    (Variant("GPU4", 8, 8), 64),
    (Variant("GPU6", 16, 16), 256),
    (Variant("sgemm", 16, 2), 64),
)


@pytest.mark.slow
def test_every_kernel_is_right_and_clean_under_all_checks(bench):
    """Through the pipeline of grading: recorded, executed with every check, compared."""
    wrong = []
    for variant, n in SHAPES:
        plan = measure.record_plans(bench, variant, [n])[n]
        m, other, files = measure._inputs(bench, n)
        job = execute.Job(f"n{n}", plan, files, plan.with_suffix(".npy"),
                          plan.with_suffix(".json"), n**3)  # fmt: skip
        execution = execute.execute(
            bench.course, job, backend="sim", device="h200", resources=None, threads=1,
            limits=StepLimits(),
        )  # fmt: skip
        p = execute.load_output(job.output, (n, n))
        right = measure.numerics.compare(p, m, other, exact=False).is_right
        if execution.status != "ok" or execution.faults or not right or execution.unwritten:
            wrong.append((str(variant), n, execution.status, execution.faults[:1]))
    assert wrong == []


def test_a_size_that_the_block_does_not_divide_is_refused(bench):
    plan = json.loads(measure.record_plans(bench, Variant("GPU4", 16, 16), [40])[40].read_text())
    assert not [op for op in plan["ops"] if op["op"] == "launch"]


# --- choosing, writing ---------------------------------------------------------------------------


def test_kernels_are_chosen_by_name():
    assert {v.kernel for v in gallery.find("gpu1, sgemm")} == {"GPU1", "sgemm"}
    with pytest.raises(UsageError, match="'gpu9'.*gpu1"):
        gallery.find("gpu9")


def sample_study(counted=(), **changes):
    fields = dict(
        device="c1060", device_name="Tesla C1060", counting_rule="half-warp-segments",
        toolkit="CUDA 13.0", architecture=75, n=128, counted=tuple(counted), cpu="a processor",
        table=tuple(measure.table_rows(counted)),
    )  # fmt: skip
    return result.Study(**fields | changes)


@pytest.mark.slow
def test_tables_name_what_differs_and_why(counted):
    found = {table.title: table for table in tables.tables(sample_study(counted))}
    table = found["The published table of transactions, cell by cell"]
    assert len(table.notes) == 3
    assert "128-byte n^3/4096 = 64, counted 128" in table.notes[0]
    assert "M is read by twice as many blocks" in table.notes[0]
    row = next(row for row in table.rows if row[0] == "sgemm (16,4)")
    assert row[-2:] == ("3/3", "3/3")


@pytest.mark.slow
def test_markdown_and_json_hold_the_study(counted):
    study = sample_study(counted)
    text = markdown.render(study, ["volume.png"])
    assert "| GPU1 (8,8) | (8,8) | 3n^3/16 + n^2/8 |" in text
    assert "![volume.png](volume.png)" in text
    fields = json.loads(result.to_json(study))
    assert fields["schema"] == "tilewise.study/1"
    assert fields["counted"][0]["variant"]["kernel"] == "GPU1"


# --- what follows from the printed figures ---------------------------------------------------


@pytest.mark.slow
def test_every_printed_table_has_cublas_and_its_figures(counted):
    found = {table.title: table for table in tables.tables(sample_study(counted))}
    times = rows_of(found["Printed seconds, Tesla C1060"])
    assert times["CUBLAS"] == ("0.05", "0.37", "2.95", "23.53", "-")
    assert times["GPU8"][3] == "22.97"
    speeds = rows_of(found["GFLOP/s and efficiency, Tesla C1060"])
    assert (speeds["GPU8"][3], speeds["CUBLAS"][3]) == ("383 (62%)", "374 (60%)")
    gains = rows_of(found["Speedups, of the printed seconds"])
    assert gains["GPU8"][:2] == ("14.3", "8,998") and gains["GPU8"][4] == "11,184"
    assert gains["CUBLAS"][0] == "13.9"
    (steps,) = [table for title, table in found.items() if title.startswith("Counts against")]
    step = {row[:2]: row[2:] for row in steps.rows}
    # At n = 128 terms in n^2 still count; the printed 15% and 10% are of large n.
    assert step["CUBLAS", "GPU8 (16,8)"][-1] == "2% less"
    assert step["sgemm (16,4)", "GPU8 (16,8)"][-1] == "3% less"
    assert step["GPU4 (16,16)", "GPU5 (16,16)"] == ("the same", "the same", "13% less", "4% less")


def rows_of(table):
    return {row[0]: row[1:] for row in table.rows}


@pytest.mark.slow
def test_what_the_bytes_need_follows_the_count(counted):
    def needs(entries):
        (table,) = [t for t in printed.tables(sample_study(entries)) if "seconds, T" in t.title]
        return float(rows_of(table)["GPU4"][-1])

    twice = [
        dataclasses.replace(
            e, counters={**e.counters, "volume_bytes": 2 * e.counters["volume_bytes"]}
        )
        for e in counted
    ]
    assert needs(twice) == pytest.approx(2 * needs(counted), rel=0.01)


@pytest.mark.slow
def test_a_study_opens_with_what_one_sees(counted):
    study = sample_study(counted)
    found = seen.sentences(study)
    assert found[0].startswith("Bytes decide first") or "cells equal" in found[0]
    cells = [cell for row in study.table for cell in row.cells]
    assert f"{sum(cell.agrees for cell in cells)} of {len(cells)} cells equal" in " ".join(found)
    modern = dataclasses.replace(study, device="h200", table=(), counted=())
    assert seen.sentences(modern) == []
    text = study_text.render(study, Style(width=100))
    assert text.startswith("What one sees\n- ")


@pytest.mark.slow
def test_nothing_is_wider_than_100_columns_or_broken(counted):
    """Counts as large as those of n = 512 fit, and no cell is broken over two lines."""
    large = [
        dataclasses.replace(
            e, counters={k: v * 64 if k != "abu" else v for k, v in e.counters.items()}
        )
        for e in counted
    ]
    study = sample_study(large, table=tuple(measure.table_rows(counted)))
    lines = study_text.render(study, Style(width=100)).splitlines()
    assert max(map(len, lines)) <= 100
    for table in tables.tables(study):
        for row in table.rows:
            cells = [cell for cell in row if cell]
            assert any(all(cell in line for cell in cells) for line in lines), row


def contender(median=2.0, **changes):
    return {
        "status": "ok", "message": "", "time_ms": {"median": median, "low": 1.9, "high": 2.2},
        "verified": {"rounds": 3, "wrong": 0, "first_wrong": ""},
    } | changes  # fmt: skip


def comparison(*others, **changes):
    """Of a submission, of the others by name, and of cuBLAS."""
    contenders = {"submission": contender(**changes)}
    contenders |= {name: contender(3.0 + at) for at, name in enumerate(others)}
    contenders["cublas"] = {"status": "ok", "message": "", "time_ms": {"median": 1.25}}
    return {
        "schema": "tilewise.comparison/1", "contenders": contenders, "floor_ms": 0.5,
        "gpu": {"name": "A GPU"},
    }  # fmt: skip


def test_times_on_a_gpu_become_rates_and_speedups():
    (entry,) = gpu.parse([Variant("GPU8", 16, 8)], 2048, comparison())
    slow = result.Baseline("ijk", 1024, 1, 3.0, 2.9, 3.1)
    study = sample_study(gpu_times=(entry,), gpu={"name": "A GPU"}, baselines=(slow,))
    table = next(t for t in tables.tables(study) if t.title == "Times on A GPU")
    operations = 2 * 2048**3 - 2048
    assert table.rows == (
        ("GPU8", "(16,8)", "2048", "2", f"{operations / 2e6:,.0f}", "25.0%", "1.60", "12,000*",
         "-", "0.05", f"{operations / 0.05e9:,.0f}"),
    )  # fmt: skip


def test_a_kernel_that_failed_on_the_gpu_is_named():
    failed = comparison(status="fault", message="illegal access", time_ms=None)
    (entry,) = gpu.parse([Variant("GPU1", 256, 1)], 512, failed)
    table = tables.tables(sample_study(gpu_times=(entry,), gpu={"name": "A GPU"}))[-1]
    assert table.rows[0][3] == "fault"
    assert table.notes == ("GPU1 (256,1), n = 512: illegal access",)


def test_a_comparison_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="schema"):
        gpu.parse([Variant("GPU1", 256, 1)], 512, {"schema": "other"})


def test_each_kernel_of_a_comparison_is_read_by_its_name():
    kernels = [Variant("GPU1", 256, 1), Variant("GPU4", 16, 16), Variant("sgemm", 16, 4)]
    times = gpu.parse(kernels, 512, comparison("gpu4-16x16", "sgemm-16x4"))
    assert [(t.variant, t.median_ms) for t in times] == list(
        zip(kernels, [2.0, 3.0, 4.0], strict=True)
    )


def test_a_kernel_that_does_not_end_is_named():
    late = comparison(status="timeout", message="gpu1-1x512 did not end within the time limit.")
    with pytest.raises(StepError, match="At n = 512: gpu1-1x512 did not end.*Leave that kernel"):
        gpu.parse([Variant("GPU1", 256, 1)], 512, late)


def test_baselines_are_read_as_the_program_writes_them(built):
    found = baselines.measure(built, (32,), silent)
    assert [entry.method for entry in found] == ["ijk", "ikj", "ikj-openmp"]
    assert all(entry.n == 32 and 0 < entry.low <= entry.seconds for entry in found)


def test_a_study_of_a_modern_gpu_counts_sectors(built):
    wanted = run.Wanted(device="h200", n=64, variants=gallery.find("gpu4"), baseline_sizes=())
    study = run.study(built, wanted, silent)
    assert study.table == () and study.counting_rule == "sectors"
    table = tables.tables(study)[0]
    loads, stores = 2 * 64**3 // 16 * 4 // 32, 64**2 * 4 // 32
    assert table.rows == (
        ("GPU4", "(16,16)", f"{64**3 // 16 * 2 // 32 + 64**2 // 32:,}", f"{loads:,}", f"{stores:,}",
         f"{32 * (loads + stores):,}", f"{32 * (loads + stores) / 64**3:.3f}"),
    )  # fmt: skip


# --- predicted times -----------------------------------------------------------------------------


def test_times_are_predicted_in_the_printed_shape(bench):
    variants = [Variant("GPU1", 8, 8), Variant("GPU5", 16, 16), Variant("GPU6", 16, 8)]
    found = predicted.measure(bench, variants, (64, 128), silent)
    assert [(str(entry.variant), entry.n) for entry in found] == [
        ("GPU5 (16,16)", 64), ("GPU5 (16,16)", 128), ("GPU6 (16,8)", 128)
    ]  # fmt: skip
    assert all(0 < entry.seconds < 1e-2 and entry.bound for entry in found)
    modern = dataclasses.replace(bench, device="h200")
    assert predicted.measure(modern, variants, (128,), silent) == ()


def test_predicted_times_stand_beside_the_printed_ones():
    variant = Variant("GPU5", 16, 16)
    entries = [{"kernels": [{"predicted_ms": 400, "bound": "issue"},
                            {"predicted_ms": 500, "bound": "fma"}]},
               {"kernels": [{"predicted_ms": 1.5, "bound": "issue"}]},
               {"kernels": [{"kernel": "without a prediction"}]}]  # fmt: skip
    found = predicted.parse([(variant, 4096), (variant, 512), (variant, 1024)], entries)
    table = tables.tables(sample_study(predicted=found))[-1]
    assert table.title == "Predicted times, Tesla C1060"
    assert table.rows == (
        ("GPU5", "(16,16)", "512", "0.0015", "-", "-", "issue"),
        ("GPU5", "(16,16)", "4096", "0.9", "0.60", "1.50", "fma"),
        ("CUBLAS", "-", "4096", "-", "0.37", "-", "-"),
    )


def test_a_study_goes_on_without_the_program_that_predicts(built, monkeypatch):
    monkeypatch.setattr(predicted, "PROGRAM", "tilewise-oracle")
    wanted = run.Wanted(n=64, variants=gallery.find("gpu5"), with_table=False, baseline_sizes=())
    study = run.study(built, wanted, silent)
    assert study.predicted == ()
    assert "Times were not predicted" in study.notes[0] and "make setup" in study.notes[0]


# --- the command ---------------------------------------------------------------------------------


def study_command(*arguments):
    return CliRunner().invoke(
        command.study,
        ["--backend", "sim", "--baselines", "none", "--no-table", "--predict", "none", *arguments],
    )


def test_the_command_writes_tables_and_data(built, tmp_path):
    folder = tmp_path / "out"
    run = study_command("--n", "64", "--kernels", "gpu4", "--no-pictures", "--format", "json",
                        "--output", str(folder))  # fmt: skip
    assert run.exit_code == 0, run.output
    fields = json.loads(run.stdout)
    assert fields["counted"][0]["counters"]["transactions_64"] == 64**3 // 128 + 64**2 // 16
    assert json.loads((folder / "study.json").read_text()) == fields
    assert "| GPU4 | (16,16) | 0 | 2,304 | 0 |" in (folder / "study.md").read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["study.json", "study.md"]


def test_the_command_draws_in_the_terminal(built, tmp_path):
    run = study_command("--n", "64", "--kernels", "gpu4", "--no-pictures", "--output",
                        str(tmp_path))  # fmt: skip
    assert "Device memory, Tesla C1060, n = 64" in run.stdout
    assert "2,092 / 2,092" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kernels", "gpu9"], "no kernel 'gpu9'"),
        (["--device", "c9"], "There is no device 'c9'"),
        (["--gpu-sizes", "512"], "--gpu-sizes needs a GPU"),
    ],
)
def test_bad_input_is_one_sentence(built, tmp_path, arguments, said):
    run = study_command(*arguments, "--output", str(tmp_path / "out"))
    assert isinstance(run.exception, UsageError)
    assert said in str(run.exception)


def test_sizes_that_are_no_numbers_are_refused():
    run = study_command("--baselines", "large")
    assert run.exit_code == 2
    assert "give widths such as 1024,2048" in run.output


@pytest.mark.slow
def test_pictures(counted, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which make study installs")
    from grader.study.pictures import draw

    (entry,) = gpu.parse([Variant("GPU8", 16, 8)], 2048, comparison())
    names = draw(sample_study(counted, gpu_times=(entry,), gpu={"name": "A GPU"}), tmp_path)
    assert names == [
        "volume.png", "block-shapes.png", "transactions.png", "seconds.png",
        "seconds-by-counts.png", "gflops.png", "efficiency.png", "speedup.png", "gpu-times.png",
    ]  # fmt: skip
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)


def test_kernels_are_recorded_for_the_gpu_and_timed_beside_cublas(built, monkeypatch, tmp_path):
    commands = []

    def executor(course, arguments, what):
        given = [str(word) for word in arguments]
        value = dict(zip(given, given[1:], strict=False))
        others = [word.split("=")[0] for flag, word in zip(given, given[1:], strict=False)
                  if flag == "--compare"]  # fmt: skip
        n = json.loads(Path(value["--plan"]).read_text())["j"]
        commands.append((value["--device"], n, others, "--cublas" in given))
        Path(value["--result"]).write_text(json.dumps(comparison(*others)))

    monkeypatch.setattr(gpus, "find_gpu", lambda: gpus.Gpu("NVIDIA H200", 90, "13.0"))
    monkeypatch.setattr(gpu, "run_executor", executor)
    wanted = run.Wanted(
        n=64, variants=gallery.find("gpu4,gpu6"), with_table=False, predicted_sizes=(),
        baseline_sizes=(), gpu_sizes=(64, 100, 128),
    )  # fmt: skip
    study = run.study(built, wanted, silent)
    # Blocks of 16 columns do not divide 100, blocks of 128 do not divide 64.
    assert commands == [("h200", 64, [], True), ("h200", 128, ["gpu6-16x8"], True)]
    times = [(str(entry.variant), entry.n, entry.median_ms) for entry in study.gpu_times]
    assert times == [
        ("GPU4 (16,16)", 64, 2.0),
        ("GPU4 (16,16)", 128, 2.0),
        ("GPU6 (16,8)", 128, 3.0),
    ]
    assert study.gpu == {"name": "A GPU"}


def test_without_a_gpu_it_says_so(built, monkeypatch):
    monkeypatch.setattr(gpus, "find_gpu", lambda: None)
    wanted = run.Wanted(n=64, variants=(), with_table=False, baseline_sizes=(), gpu_sizes=(64,))
    with pytest.raises(GraderError, match="No usable GPU was found here"):
        run.study(built, wanted, silent)


def test_neither_rich_nor_matplotlib_is_needed_for_data(built, tmp_path):
    """As on a machine that has only click and numpy."""
    program = (
        "import sys\n"
        "sys.modules['rich'] = sys.modules['matplotlib'] = None\n"
        "from grader.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "study", "--backend", "sim", "--n", "64", "--kernels",
         "gpu4", "--no-table", "--predict", "none", "--baselines", "none", "--format", "markdown",
         "--output", str(tmp_path)],
        capture_output=True, text=True, timeout=100, cwd=built.root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "| GPU4 | (16,16) | 0 | 2,304 | 0 |" in done.stdout
    assert "no pictures: matplotlib is missing" in done.stderr
