"""lab.toml is read strictly: every mistake is one sentence that names its place."""

import pytest

from grader.errors import CourseError
from grader.labs.expression import names_in
from grader.labs.lab import load_lab
from grader.labs.sums import SUMS, counters_in
from grader.tests.conftest import LAB_TOML


def test_reads_a_lab(lab):
    assert (lab.id, lab.name, lab.order) == ("02", "02-tiled-kernel", 2)
    assert lab.case("w8").shape == "8x8x8"
    assert lab.case("secret").hidden
    assert [check.id for check in lab.checks_for("sim")] == ["toy", "sizes", "clean", "traffic"]
    assert [check.id for check in lab.checks_for("gpu")] == ["toy", "sizes", "clean", "time"]


def test_every_lab_of_the_course_is_sound(course):
    names = course.lab_names()
    assert names
    for name in names:
        lab = load_lab(course.labs / name)
        assert lab.name.startswith(f"{lab.id}-"), f"{name} has the id {lab.id}"


def _limits(course):
    folders = [course.labs / name for name in course.lab_names()]
    folders += [course.exercises / name for name in course.exercise_names()]
    return [
        (folder.name, check.id, one)
        for folder in folders
        for check in load_lab(folder).checks
        if check.kind == "counter"
        for one in (check, *check.also)
    ]


def _uncounted(check) -> set[str]:
    """Counters that an upper limit names in place of their sum: another instruction gets round it."""
    if check.at_most is None:
        return set()
    return names_in(check.value) & counters_in(set(SUMS))


def test_no_other_instruction_gets_round_a_limit(course):
    """An atomic that changes nothing loads as well; constant memory is memory."""
    limits = _limits(course)
    assert len(limits) > 30
    assert {(lab, name): _uncounted(one) for lab, name, one in limits if _uncounted(one)} == {}


def test_a_limit_that_forgets_atomics_is_noticed(lab):
    """The lab of these tests limits loads alone."""
    traffic = next(check for check in lab.checks_for("sim") if check.id == "traffic")
    assert _uncounted(traffic) == {"global_load_sectors", "global_load_requests"}


def test_where_conflicts_are_limited_lanes_that_take_turns_are_too(course):
    """One lane at a time meets nobody, and takes as many wavefronts."""
    limits = _limits(course)
    conflicts = {(lab, name) for lab, name, one in limits if one.value == "conflicts"}
    turns = {(lab, name) for lab, name, one in limits if "_wavefronts" in one.value}
    assert {name for lab, name in conflicts - turns} == {"edge-conflicts"}


def test_registers_are_no_local_memory(course):
    """Arrays that are not in registers cost what tiles save."""
    limited = {lab for lab, name, one in _limits(course) if "local_sectors" in one.value}
    products = {lab for lab, name, one in _limits(course) if name == "traffic" and lab[0] == "0"}
    assert products | {"10-tensor-cores"} <= limited


def test_counts_are_taken_at_more_than_one_size(course):
    """A kernel for the size that is counted, beside one that has not learnt the lesson."""
    traffic = [one for lab, name, one in _limits(course) if name == "traffic" and one.also]
    sizes = [set(one.every_case) for one in traffic if one.needs != ("whole",)]
    assert len(sizes) >= 9
    assert [one for one in sizes if len(one) < 2] == []


MISTAKES = {
    "no such toml": ('id = "02"', "id = ", "Invalid value"),
    "missing field": ('title = "Tiled kernel"\n', "", "the top level: 'title' is missing"),
    "unknown field": ("order = 2", "order = 2\nodrer = 3", "there is no field 'odrer'"),
    "wrong type": ("order = 2", 'order = "2"', "'order' must be a whole number"),
    "flag as number": ("order = 2", "order = true", "'order' must be a whole number"),
    "bad signature": ("square-device", "square", "'signature' is 'square', not one of"),
    "bad data": ("integers", "random", "case w4: 'data' is 'random'"),
    "bad width": ("width = 4", "width = 0", "case w4: 'width' must be at least 1"),
    "not a square": ("width = 4", "j = 4\nk = 4\nl = 5", "case w4: square-device needs a square"),
    "duplicate case": ('id = "w8"', 'id = "w4"', "two are called 'w4'"),
    "unknown case": ('cases = ["w4"]', 'cases = ["w9"]', "check toy: there is no case 'w9'"),
    "no case": ('cases = ["w4"]', "cases = []", "check toy: it names no case"),
    "unknown code": ("race-shared", "race-shard", "'race-shard' is not a diagnostic code"),
    "points": ("points = 20", "points = 21", "on sim the points add up to 101, not 100"),
    "negative points": ("points = 20", "points = -20", "'points' must not be negative"),
    "unknown counter": ("global_load_sectors / ", "sectors / ", "'sectors' is not a counter"),
    "bad expression": ("global_load_sectors / ", "exit() / ", "is not allowed in an expression"),
    "no limit": ("at_most = 4\n", "", "a counter needs at_most or at_least"),
    "later need": ('needs = ["toy"]', 'needs = ["clean"]', "needs: no earlier check 'clean'"),
    "empty hint": ('"the concept", "the place", "the line"', "", "hint 1: it needs a subject"),
    "hint for nothing": (
        '"race-shared", "clean"]\ntiers',
        '"race"]\ntiers',
        "'race' is neither a check nor a diagnostic code",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_named(name, write_lab):
    before, after, message = MISTAKES[name]
    assert before in LAB_TOML
    with pytest.raises(CourseError) as error:
        load_lab(write_lab(LAB_TOML.replace(before, after, 1)))
    assert message in str(error.value)
    assert "lab.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(CourseError, match="is missing"):
        load_lab(tmp_path)


def test_host_data_of_every_case_can_be_followed(course):
    """The recorder marks each word of host memory; past its tags (cudart/tags.h) data is lost."""
    available = 2**23 - 2
    found = [load_lab(course.labs / name) for name in course.lab_names()]
    host = [lab for lab in found if lab.signature == "square-host"]
    assert host
    for lab in host:
        for case in lab.cases:
            matrices = case.j * case.k + case.k * case.l + case.j * case.l
            assert matrices + case.j * case.l <= available, (lab.name, case.id)  # P is read back
