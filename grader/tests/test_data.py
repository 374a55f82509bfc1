"""Inputs: seeded, of the right kind, the same everywhere."""

import numpy as np
import pytest

from grader.errors import CourseError
from grader.labs import data


@pytest.mark.parametrize("kind", data.KINDS)
def test_shape_type_and_determinism(kind):
    m, n = data.make_inputs(kind, (3, 5, 7), 1, "02", "case")
    assert (m.shape, n.shape) == ((3, 5), (5, 7))
    assert m.dtype == n.dtype == np.float32
    assert np.isfinite(m).all() and np.isfinite(n).all()
    again, _ = data.make_inputs(kind, (3, 5, 7), 1, "02", "case")
    assert (again == m).all()


def test_seed_and_case_change_the_data():
    first, _ = data.make_inputs("uniform", (8, 8, 8), 1, "02", "a")
    for seed, case in ((2, "a"), (1, "b")):
        other, _ = data.make_inputs("uniform", (8, 8, 8), seed, "02", case)
        assert (first != other).any()


def test_the_generator_is_the_same_on_every_machine():
    m, _ = data.make_inputs("uniform", (1, 3, 1), 1, "02", "a")
    assert m.tolist() == [[0.21283842623233795, -0.695213258266449, 0.08964920043945312]]


def test_integers_are_summed_exactly():
    m, n = data.make_inputs("integers", (64, 512, 64), 3, "x")
    assert set(np.unique(m)) == set(range(-4, 5))
    assert (m @ n == m.astype(np.int64) @ n.astype(np.int64)).all()


def test_ill_conditioned_cancels():
    m, n = data.make_inputs("ill-conditioned", (16, 64, 16), 3, "x")
    wide = m.astype(np.float64)
    size = np.abs(wide) @ np.abs(n)
    assert np.median(np.abs(wide @ n) / size) < 0.01


def test_committed_data(tmp_path):
    np.save(tmp_path / "M.npy", np.ones((2, 3), np.float32))
    np.save(tmp_path / "N.npy", np.ones((3, 4), np.float32))
    m, n = data.load_committed(tmp_path, (2, 3, 4))
    assert (m.shape, n.shape) == ((2, 3), (3, 4))
    with pytest.raises(CourseError, match="N.npy is float32\\[3, 4\\], not float32\\[3, 5\\]"):
        data.load_committed(tmp_path, (2, 3, 5))
    with pytest.raises(CourseError, match="cannot be read"):
        data.load_committed(tmp_path / "gone", (2, 3, 4))


def test_names_of_committed_data():
    assert data.committed_name("file:toy-4x4") == "toy-4x4"
    assert data.committed_name("uniform") is None
    assert not data.is_kind("file:../secret")
    assert not data.is_kind("file:")


def test_rounding_to_bf16_takes_the_nearest_and_of_two_the_even_one():
    numbers = np.array(
        [1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -0.1, 1e-41, 3e38, np.nan], np.float32
    )
    rounded = data.rounded_to_bf16(numbers)
    assert not (rounded[:-1].view(np.uint32) & 0xFFFF).any()
    assert rounded[:3].tolist() == [1.0, 1 + 4 * 2**-8, 1 + 2**-7]
    assert np.isnan(rounded[-1])
    for value, near in zip(numbers[:-1], rounded[:-1], strict=True):
        upper = int(np.float32(value).view(np.uint32)) >> 16
        around = np.array([upper << 16, (upper + 1) << 16], np.uint32).view(np.float32)
        assert abs(float(near) - float(value)) == min(
            abs(float(one) - float(value)) for one in around
        )


def test_cutting_to_bf16_goes_towards_zero():
    numbers = np.array([1.0039, -1.0039, 1.999], np.float32)
    assert data.cut_to_bf16(numbers).tolist() == [1.0, -1.0, 1 + 127 / 128]
