"""Grid and block exchanged: told where the shapes show it, never where something is right."""

from grader.judging import launch_shape
from grader.tests.executions import execution_json
from grader.tests.test_judge import outcome

TEXT = "void solve() {\n  tiled_kernel<<<block, grid>>>(M);\n}\n"


def _outcomes(lab, shapes, p=None):
    """One visible case each, with a launch of (grid, block)."""
    kernels = [
        execution_json()["kernels"][0] | {"grid": list(grid), "block": list(block)}
        for grid, block in shapes
    ]
    return [outcome(lab, "w8", p, kernels=[kernel]) for kernel in kernels]


def _wrong(m, n):
    return -(m @ n)


def test_a_grid_of_one_size_and_blocks_of_many_are_exchanged(lab):
    shapes = [((16, 16, 1), (side, side, 1)) for side in (1, 2, 5)]
    (found,) = launch_shape.exchanged(_outcomes(lab, shapes, _wrong), TEXT)
    assert (found.code, found.line) == ("launch-config", 2)
    assert "grid is (16,16,1)" in found.message and "(5,5,1) threads" in found.message


def test_anything_else_is_not(lab):
    usual = [((side, side, 1), (16, 16, 1)) for side in (1, 2, 5)]
    fixed = [((16, 16, 1), (16, 16, 1))] * 3
    both = [((side, 1, 1), (side, 1, 1)) for side in (1, 2, 5)]
    for shapes in (usual, fixed, both):
        assert launch_shape.exchanged(_outcomes(lab, shapes, _wrong), TEXT) == []
    exchanged = [((16, 16, 1), (side, side, 1)) for side in (1, 2, 5)]
    assert launch_shape.exchanged(_outcomes(lab, exchanged), TEXT) == []  # P is right
    assert launch_shape.exchanged(_outcomes(lab, exchanged[:2], _wrong), TEXT) == []
