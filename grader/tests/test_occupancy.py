"""`grader occupancy`: the worked example of the study, the toolkit's calculator, bad input."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from grader.commands.study import occupancy as command
from grader.errors import UsageError
from grader.machine import occupancy


def test_the_worked_example_of_the_study(built):
    found = occupancy.ask(built, "c1060", 20, 3000, 128)
    assert (found.blocks_per_sm, found.warps_per_sm, found.fraction) == (5, 20, 0.625)
    assert found.limiter == "shared memory"
    assert found.limits == {"threads": 8, "blocks": 8, "registers": 6, "shared memory": 5}
    assert occupancy.ask(built, "c1060", 20, 1000, 128).fraction == 0.75
    assert occupancy.ask(built, "c1060", 20, 1000, 64).fraction == 0.5


def test_a_modern_gpu_by_the_toolkits_calculator(built):
    found = occupancy.ask(built, "h200", 168, 0, 128)
    assert (found.blocks_per_sm, found.limiter, found.fraction) == (3, "registers", 0.1875)


def test_the_text_names_the_limiter(built):
    text = occupancy.render(occupancy.ask(built, "c1060", 20, 3000, 128))
    assert "shared memory         5   <- the limit" in text
    assert "5 blocks, 20 of 32 warps: occupancy 62.5%, limited by shared memory" in text


@pytest.mark.parametrize(
    ("device", "registers", "shared", "threads", "said"),
    [
        ("c1060", 20, 0, 513, "Tesla C1060 allows 1 to 512 threads in a block"),
        ("c1060", 200, 0, 64, "1 to 128 registers in a thread"),
        ("c2050", 20, 49153, 64, "at most 49152 bytes in a block"),
        ("h300", 20, 0, 64, "There is no device 'h300'; there are: a100, c1060"),
    ],
)
def test_what_a_device_does_not_take_is_said(built, device, registers, shared, threads, said):
    with pytest.raises(UsageError, match=said):
        occupancy.ask(built, device, registers, shared, threads)


def test_the_command_writes_json_alone(built):
    run = CliRunner().invoke(
        command, ["--registers", "38", "--shared", "2220", "--threads", "128", "--device", "c1060",
                  "--format", "json"],
    )  # fmt: skip
    assert run.exit_code == 0
    assert json.loads(run.stdout)["occupancy"] == 0.375
