"""Labs of any kernel: what lab.toml and reference.py say, how arrays are judged, and whole gradings."""

import math
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from grader.errors import CourseError, UsageError
from grader.judging import arrays, rubric
from grader.judging.judge import Outcome
from grader.judging.reach import arrays_of_kernels
from grader.labs import data, new_lab
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.problem import PRODUCTS
from grader.labs.reference import load_reference
from grader.labs.submission import Submission, read
from grader.pipeline.grade import grade
from grader.results.result import CaseResult, to_dict
from grader.running.execution import parse
from grader.tests.conftest import REPOSITORY
from grader.tests.executions import execution_json
from grader.tests.selection import first_of
from grader.tests.test_schema import validate

EXERCISES = sorted(path.parent.name for path in REPOSITORY.glob("exercises/*/lab.toml"))
REDUCTION = REPOSITORY / "exercises" / "reduction"


@pytest.fixture
def folder(tmp_path):
    """The reduction lab, to be damaged."""
    return shutil.copytree(REDUCTION, tmp_path / "reduction")


def change(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_a_lab_says_what_solve_is_given():
    lab = load_lab(REDUCTION)
    assert lab.signature == "device: const float* x, float* sum, int n"
    case = lab.case("n257")
    assert case.recorded_as == "n257:x=257,sum=1,n=257"
    assert (case.shape, case.shapes, case.work) == ("n=257", {"x": (257,), "sum": (1,)}, 514)


def test_the_product_is_one_of_them():
    problem = PRODUCTS["square-host"]
    assert [array.name for array in problem.outputs] == ["P"]
    assert problem.shapes({"j": 2, "k": 3, "l": 4}) == {"M": (2, 3), "N": (3, 4), "P": (2, 4)}
    assert problem.operations({"j": 2, "k": 3, "l": 4}) == 24


MISTAKES = {
    "two ways": ('id = "reduction"', 'id = "r"\nsignature = "square-device"', "one of them is enough"),
    "place": ('"device"', '"card"', "'memory' is 'card', not one of device, host"),
    "parameter": ("float* sum", "double* sum", "'double* sum' is not like 'const float* x' or 'int n'"),
    "one name": ("float* sum, int n", "float* sum, int x", "two parameters have one name"),
    "no output": ("float* sum", "const float* sum", "no array is an output"),
    "no shape": ('[problem.arrays.sum]\nshape = [1]', "", "the shape of 'sum' is missing"),
    "no array": ("arrays.sum]", "arrays.total]", "solve has no array 'total'"),
    "sides": ('shape = ["n"]', 'shape = ["n", 1, 1]', "array x: 'shape' must be a list of one or two"),
    "side": ('shape = ["n"]', 'shape = ["m"]', "the shape of x: solve has no number 'm'"),
    "empty": ("n = 8", "n = 0", "case n8: 'n', a side of x, is 0"),
    "huge": ("n = 65536", "n = 2147483647", "case n65536: 'n', a side of x, is 2147483647"),
    "number": ("n = 8", "m = 8", "case n8: 'n' is missing"),
    "work": ('"2 * n"', '"log(n)"', "'log(n)' is not allowed in an expression"),
    "data": ('data = "special"', 'data = "ill-conditioned"', "ill-conditioned is for products only"),
    "arrays": ('cases = ["n8", "n1", "n255", "n256"]', 'cases = ["n8"]\narrays = ["x"]', "'x' is no output"),
    "fall": ("none_at = 32", "none_at = 1", "check atomics: none_at must lie beyond the limit"),
    "value": ("atomic_lanes * 256 / n", "atomic_lanes / k", "'k' is not a counter"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_lab_toml_is_one_sentence(folder, name):
    before, after, message = MISTAKES[name]
    change(folder / "lab.toml", before, after)
    with pytest.raises(CourseError) as error:
        load_lab(folder)
    said = str(error.value)
    assert message in said
    assert said.startswith(f"{folder / 'lab.toml'}: ")
    assert "\n" not in said


def test_time_is_for_products(folder):
    text = (folder / "lab.toml").read_text()
    start = text.index('[[checks]]\nid = "atomics"')
    clock = '[[checks]]\nid = "t"\ntitle = "t"\ngroup = "performance"\npoints = 1\nkind = "time"\n'
    clock += 'backend = "gpu"\ncase = "n8"\n\n'
    (folder / "lab.toml").write_text(text[:start] + clock + text[start:])
    with pytest.raises(CourseError, match="time is compared for products only"):
        load_lab(folder)


REFERENCES = {
    "syntax": ("def reference(x:\n", "line 1: SyntaxError"),
    "raises at once": ("1 / 0\n", "line 1: ZeroDivisionError: division by zero."),
    "none": ("def other(x): pass\n", "has no function 'reference'"),
    "no function": ("reference = 7\n", "has no function 'reference'"),
    "asks": ("def reference(x, m): pass\n", "reference asks for 'm', and solve is given n, x."),
    "asks for an output": ("def reference(sum): pass\n", "reference asks for 'sum'"),
    "raises": ("def reference(x):\n    return x[10**6]\n", "line 2: IndexError"),
    "shape": ("def reference(x):\n    return x\n", "sum is [8], and [1] is needed"),
    "text": ("def reference(x):\n    return 'much'\n", "sum is no array of numbers"),
    "float32": ("def reference(x):\n    return x.astype('float32').sum()\n", "float64 is needed"),
    "names": ("def reference(x):\n    return {'total': x.sum()}\n", "an entry for each of sum"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_mistake_in_reference_py_is_one_sentence(folder, name):
    text, message = REFERENCES[name]
    (folder / "reference.py").write_text(text)
    lab = load_lab(folder)
    with pytest.raises(CourseError) as error:
        load_reference(folder, lab.problem).expected({"n": 8}, {"x": np.ones(8, np.float32)})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_reference_py_must_be_there(folder):
    (folder / "reference.py").unlink()
    with pytest.raises(CourseError, match=r"reference.py is missing"):
        _ = load_lab(folder).reference


def test_data_are_the_same_for_a_seed_and_differ_by_array_and_case():
    lab = load_lab(REDUCTION)
    case = lab.case("n257")

    def made(seed, name):
        return data.make_arrays("uniform", case.problem, case.shapes, seed, name)["x"]

    assert (made(1, "a") == made(1, "a")).all()
    assert (made(1, "a") != made(2, "a")).any()
    assert (made(1, "a") != made(1, "b")).any()
    assert made(1, "a").dtype == np.float32


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e-3, None])
def test_an_element_outside_its_bound_is_wrong(wrong):
    lab = load_lab(REDUCTION)
    case = lab.case("n257")
    x = data.make_arrays("uniform", case.problem, case.shapes, 1, "a")["x"]
    total = np.array([math.fsum(x)], np.float32)
    if wrong is not None:
        total = total + np.float32(wrong)
    found = arrays.compare(case, lab.reference, {"x": x}, {"sum": total})
    assert bool(found.wrong["sum"]) == (wrong is not None)
    if wrong is not None:
        assert found.first[0].element == "sum[0]"


def test_without_a_bound_the_reference_is_met_exactly(folder):
    (folder / "reference.py").write_text("def reference(x):\n    return x.sum() / 3\n")
    lab = load_lab(folder)
    x = np.arange(8, dtype=np.float32)
    third = np.array([28 / 3], np.float32)
    for value, is_right in ((third, True), (np.nextafter(third, np.float32(99)), False)):
        found = arrays.compare(lab.case("n8"), lab.reference, {"x": x}, {"sum": value})
        assert bool(found.wrong["sum"]) != is_right


@pytest.mark.parametrize(("lanes", "score"), [(256, 10), (128, 10), (16.5 * 256, 5), (8192, 0)])
def test_points_fall_with_the_counter(lanes, score):
    lab = load_lab(REDUCTION)
    case = lab.case("n65536")
    counters = {"global_load_sectors": 8192, "global_atomic_sectors": 0, "constant_load_words": 0}
    counters |= {"atomic_lanes": lanes, "instructions": 1000, "algorithm_instructions": 0}
    kernel = execution_json("n65536")["kernels"][0] | {"counters": counters}
    execution = parse(execution_json("n65536", kernels=[kernel]))
    outcome = Outcome(case, CaseResult(case.id, "", "", "passed"), (), True, execution)
    # The check looks at a second size, too, which is as it should be.
    few = execution_json("n257")["kernels"][0]
    few |= {"counters": {**counters, "global_load_sectors": 33, "atomic_lanes": 2}}
    second = lab.case("n257")
    executed = parse(execution_json("n257", kernels=[few]))
    other = Outcome(second, CaseResult(second.id, "", "", "passed"), (), True, executed)
    check = next(check for check in lab.checks if check.id == "atomics")
    outcomes = {case.id: outcome, second.id: other}
    found = rubric._counter(check, lab, rubric.Evidence({}, outcomes, {}))
    assert found.score == score
    assert found.status == ("passed" if score == 10 else "failed")


# --- whole gradings


def _graded(course: Course, lab: str, before: str = "", after: str = ""):
    path = course.solutions / lab / "matmul.cu"
    text = path.read_text()
    assert before in text
    text = text.replace(before, after, 1)
    submission = Submission(path, "matmul.cu", text, text.encode())
    result = grade(course, load_lab(course.folder(lab)), submission, Options("sim"))
    assert result.status != "error", result.message
    validate(to_dict(result))
    return result


@pytest.mark.parametrize("lab", first_of(EXERCISES, 2))
def test_solutions_of_exercises_have_full_marks(built, lab):
    result = _graded(built, lab)
    assert result.score == 100, [check.message for check in result.checks]


def test_an_array_that_is_wrong_costs_nothing_of_another(built):
    result = _graded(built, "foo-kernel", "answers[5] = 5 + 5;", "answers[5] = 5 + 6;")
    assert [check.id for check in result.checks if check.status != "passed"] == ["counted"]


@pytest.mark.parametrize(
    ("check_id", "changed", "message"),
    [
        ("occupancy", {"grid": [1, 1, 1]}, "blocks, as a multiple of one for 4096 numbers: 0.0625"),
        (
            "occupancy",
            {"spilled_bytes": 72},
            "bytes of a thread that its registers do not hold: 72",
        ),
        ("occupancy", {"spilled_bytes": None}, ""),
        ("occupancy", {"grid": [8, 1, 1], "launches": 2}, ""),
    ],
    ids=["one block", "spills", "not known", "two launches"],
)
def test_facts_of_all_kernels_together(check_id, changed, message):
    lab = load_lab(REDUCTION)
    case = lab.case("n65536")
    kernel = execution_json("n65536")["kernels"][0]
    kernel |= {"grid": [16, 1, 1], "registers": 16, "shared_bytes": 1024, **changed}
    execution = parse(execution_json("n65536", kernels=[kernel]))
    outcome = Outcome(case, CaseResult(case.id, "", "", "passed"), (), True, execution)
    check = next(check for check in lab.checks if check.id == check_id)
    found = rubric._counter(check, lab, rubric.Evidence({}, {case.id: outcome}, {}))
    assert found.status == ("failed" if message else "passed"), found.message
    assert found.message.startswith(message)


def test_a_wrong_sum_is_told_with_its_element(built):
    result = _graded(built, "reduction", "half > 0", "half > 1")
    first = result.diagnostics[0]
    assert first.code == "wrong-result"
    assert "sum is wrong, sum[0]: got" in first.message
    assert result.cases[0].mismatches[0].element == "sum[0]"


def test_a_missing_guard_names_the_array(built):
    result = _graded(built, "reduction", "i < n ? x[i] : 0.0f", "x[i]")
    first = result.diagnostics[0]
    assert (first.code, first.line) == ("out-of-bounds-global", 17)
    assert "x[" in first.message
    assert "check the index first" in first.advice


def test_new_lab_makes_a_folder_that_grades(built, tmp_path):
    root = tmp_path / "course"
    for part in ("common", "build"):
        (root / part).parent.mkdir(exist_ok=True)
        (root / part).symlink_to(REPOSITORY / part)
    (root / "labs").mkdir()
    course = Course(root, built.build)
    new_lab.make(course, "my-lab")
    assert _graded(course, "my-lab").score == 100
    skeleton = read(course.exercises / "my-lab" / "matmul.cu")
    result = grade(course, load_lab(course.folder("my-lab")), skeleton, Options("sim"))
    assert result.status == "not_started"


@pytest.mark.parametrize("name", ["My lab", "../x", "2-labs", "a--b", ""])
def test_new_lab_wants_a_name(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be a lab's name"):
        new_lab.make(Course(tmp_path, tmp_path), name)


def test_new_lab_overwrites_nothing(tmp_path):
    course = Course(tmp_path, tmp_path)
    new_lab.make(course, "x")
    with pytest.raises(UsageError, match="already"):
        new_lab.make(course, "x")


def test_the_command_says_what_to_do_next(tmp_path):
    for part in ("labs", "common"):
        (tmp_path / part).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "grader", "new-lab", "sum"], capture_output=True, text=True,
        cwd=tmp_path, env={"TILEWISE_ROOT": str(tmp_path), "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "exercises/sum/lab.toml" in done.stdout
    assert "grader run sum --submission" in done.stdout


BLOCK = re.compile(r"<!-- from (\S+) -->\n```(?:toml|python)\n(.*?)```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_the_lab_that_it_builds():
    page = (REPOSITORY / "docs" / "writing-a-lab.md").read_text()
    found = BLOCK.findall(page)
    assert len(found) >= 4
    for path, text in found:
        assert text in (REPOSITORY / path).read_text(), text


@pytest.mark.parametrize("lab", EXERCISES)
def test_skeletons_of_exercises_are_their_solutions_without_the_regions(lab):
    solution = (REPOSITORY / "solutions" / lab / "matmul.cu").read_text()
    skeleton = (REPOSITORY / "exercises" / lab / "matmul.cu").read_text()
    assert skeleton == new_lab.skeleton_of(solution) != solution


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("// answers[3] = 1;\nanswers[2] = 7;\nanswers[3] = n;\n", 3),
        ("if (answers[3] == n) answers[30] = 1;\n", 0),
        ("answers[3] = n;\nanswers[3] = 1;\n", 0),  # which of the two is not clear
        ("answers[i] = n;\n", 0),
    ],
)
def test_the_line_that_stores_an_element_by_its_number(text, line):
    assert arrays._line_of(arrays.Wrong("answers", (3,), 1, 2), text) == line
    assert arrays._line_of(arrays.Wrong("image", (3, 0), 1, 2), text) == 0


# --- several outputs, each of a kernel of its own


def _scores(result) -> dict[str, float]:
    return {check.id: check.score for check in result.checks}


def test_a_wrong_image_costs_the_other_array_nothing(built):
    result = _graded(built, "00-first-kernels", "] = 255 - image", "] = 254 - image")
    scores = _scores(result)
    assert (scores["map"], scores["guard"]) == (15, 15)
    assert (scores["two-dimensions"], scores["every-shape"]) == (0, 0)


def test_a_line_that_stores_another_array_is_not_to_blame(built):
    """image is stored nowhere, and the only line that stores anything stores a."""
    kernel = "image[row * columns + col] = 255 - image[row * columns + col];"
    result = _graded(built, "00-first-kernels", kernel, "")
    wrong = [item for item in result.diagnostics if item.code == "wrong-result"]
    assert wrong
    assert {item.line for item in wrong} == {0}


@pytest.mark.parametrize(
    ("before", "after", "about", "other"),
    [
        ("side = 1;", "side = 4;", "safe", "turned"),
        ("  __syncthreads();\n", "", "turned", "safe"),
    ],
)
def test_a_race_in_one_kernel_says_nothing_of_the_others_array(built, before, after, about, other):
    scores = _scores(_graded(built, "block-transpose", before, after))
    assert scores[about] == 0
    assert scores[other] > 0


def _plan(*ops: dict, count: int = 0) -> dict:
    names = ("a", "image", "cudaMalloc #1")
    buffers = [{"id": number, "name": name} for number, name in enumerate(names)]
    return {"ops": ops, "buffers": buffers, "host_writes": {"count": count}}


def _launch(kernel: str, *buffers: int) -> dict:
    return {"op": "launch", "kernel": kernel, "relocations": [{"buffer": one} for one in buffers]}


def test_which_outputs_a_kernel_can_have_to_do_with():
    names = ("a", "image")
    apart = _plan(_launch("one", 0), _launch("two", 1), _launch("hello"))
    found = arrays_of_kernels(apart, "", names)
    assert found == {"one": {"a"}, "two": {"image"}, "hello": frozenset()}
    copied = _plan(_launch("one", 0, 2), {"op": "copy_d2d", "buffer": 1, "source": 2})
    assert arrays_of_kernels(copied, "", names) == {"one": {"a", "image"}}
    twice = _plan(_launch("one", 0), _launch("one", 1))
    assert arrays_of_kernels(twice, "", names) == {"one": {"a", "image"}}


def test_data_may_go_in_ways_that_a_plan_does_not_tell():
    launches = (_launch("one", 0), _launch("two", 1))
    assert arrays_of_kernels(_plan(*launches), "__device__ float kept[8];", ("a", "image")) == {}
    assert arrays_of_kernels(_plan(*launches, {"op": "new"}), "", ("a", "image")) == {}
    assert arrays_of_kernels(_plan(*launches, count=1), "", ("a", "image")) == {}
    assert arrays_of_kernels(_plan(*launches), "__device__ float f(int i) {", ("a", "image"))
