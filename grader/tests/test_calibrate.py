"""What thresholds are proposed for which measurements."""

from __future__ import annotations

import pytest

from grader.labs.lab import Check
from grader.pipeline import calibrate as calibration
from grader.pipeline.calibrate import GENEROUS, Calibration, Measured, propose, render, share

CHECK = Check("time", "fast", "performance", 30, "time", full=1.15, none=4.0)


def solution(*highs: float) -> list[Measured]:
    return [Measured("solution", 1.0, 2 - high, high) for high in highs]


def slow(low: float, name: str = "slow") -> Measured:
    return Measured(name, low * 1.001, low, low * 1.002)


def test_far_slower_kernels_leave_the_generous_bound():
    full, reason = propose(solution(1.002, 1.001), [slow(2.39)])
    assert full == GENEROUS
    assert "2.390" in reason


def test_a_bound_lies_between_noise_and_the_nearest_slower_kernel():
    full, reason = propose(solution(1.002), [slow(2.4), slow(1.097, "conflicts")])
    assert 1.01 < full < 1.097
    assert "conflicts" in reason


def test_noise_raises_the_bound():
    assert propose(solution(1.1), [])[0] == pytest.approx(1.3)


def test_no_bound_where_noise_reaches_the_slower_kernel():
    full, reason = propose(solution(1.05), [slow(1.097)])
    assert full is None
    assert "no threshold" in reason


def test_the_proposed_bound_takes_points_from_the_slower_kernel_only():
    full, _ = propose(solution(1.002), [slow(1.097)])
    assert share(CHECK, full, 1.002) == 1
    assert share(CHECK, full, 1.098) < 1


def test_the_text_says_what_changes():
    reference, slower = solution(1.002), [slow(1.097, "05-register-tiling")]
    full, reason = propose(reference, slower)
    told = render(Calibration("06", "a GPU", CHECK, tuple(reference), tuple(slower), full, reason))
    assert "full = 1.15, none = 4 now" in told
    assert "05-register-tiling" in told
    assert f"proposed: full = {full:.2f}" in told
    assert "30.0 of 30 points now" in told


def test_a_lab_before_that_is_not_right_here_is_left_out(course, monkeypatch):
    def measure(course, lab, options, check, path, name):
        if name != "solution":
            raise calibration.NotTimedError(f"{name} could not be timed")
        return solution(1.002)[0]

    monkeypatch.setattr(calibration, "_measure", measure)
    said = []
    folder = course.labs / "03-boundary-checks"
    found = calibration.calibrate(course, folder, None, "a GPU", 2, [], said.append)
    assert found.slower == () and found.full == GENEROUS
    assert "02-tiled-kernel could not be timed" in said
    with pytest.raises(calibration.NotTimedError):
        named = [course.solutions / "02-tiled-kernel" / "matmul.cu"]
        calibration.calibrate(course, folder, None, "a GPU", 2, named, said.append)
