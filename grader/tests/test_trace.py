"""Traces of show cases: the schema holds them, and they say what the run itself says."""

from __future__ import annotations

import base64
import json
from functools import cache

import jsonschema
import numpy as np
import pytest

from grader.errors import GraderError
from grader.judging import numerics
from grader.labs import data
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of
from grader.trace import constants, lines, make, perfetto, reader

SCHEMA = json.loads((REPOSITORY / "docs" / "trace.schema.json").read_text())
LABS = sorted(path.parent.name for path in (REPOSITORY / "labs").glob("*/lab.toml"))
SHOWS = [
    (name, show.case.id) for name in LABS for show in load_lab(REPOSITORY / "labs" / name).shows
]
TILED = "02-tiled-kernel"


def text_of(name: str) -> str:
    return (REPOSITORY / "solutions" / name / "matmul.cu").read_text()


@cache
def traced(course, name: str, case_id: str, change: tuple[str, str] | None = None, **more) -> dict:
    lab = load_lab(course.labs / name)
    show = lab.show(case_id)
    text = text_of(name)
    if change is not None:
        assert change[0] in text
        text = text.replace(change[0], change[1], 1)
    options = Options("sim", "h200", 1, 90)
    wanted = make.Wanted(show.case, dict(show.constants), **more)
    return make.make(course, lab, text, wanted, options)


def p_of(launch: dict) -> np.ndarray:
    array = next(array for array in launch["arrays"] if array["holds"] == "P")
    return array["final"].view("<f4").reshape(array["shape"])


@pytest.mark.parametrize(("name", "case_id"), first_of(SHOWS, 8))
def test_a_trace_of_a_solution_is_whole_and_agrees_with_its_run(built, name, case_id):
    made = traced(built, name, case_id)
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    assert not made["is_cut"]
    trace = reader.with_columns(made)
    launch = trace["launches"][-1]
    assert launch["is_whole"]
    assert launch["findings"] == []
    # Line by line, as the launch counted.
    sums = reader.counters_by_line(launch)
    for line in launch["lines"]:
        mine = sums.get((line["file"], line["line"]), {})
        for counter, amount in mine.items():
            assert amount == line["counters"][counter], (line["line"], counter)
        for counter in ("global_load_sectors", "shared_load_wavefronts", "barriers"):
            assert mine.get(counter, 0) == line["counters"][counter], (line["line"], counter)
    # A planted difference is caught.
    column = launch["accesses"]["sectors"].copy()
    column[np.flatnonzero(column)[0]] += 1  # of an access that sectors are counted for
    launch["accesses"]["sectors"] = column
    assert reader.counters_by_line(launch) != sums
    # The stores end at the product, within what the reports allow, and each is made of k products.
    arrays = {array["holds"]: array for array in launch["arrays"] if array["holds"]}
    m, n = (arrays[x]["initial"].view("<f4").reshape(arrays[x]["shape"]) for x in "MN")
    lab = load_lab(built.labs / name)
    limit = numerics.bound(m, n, exact=lab.show(case_id).case.data in data.EXACT_KINDS)
    assert not numerics.outside(p_of(launch), numerics.reference(m, n), limit).any()
    case = made["case"]
    on_tensor_cores = lab.problem.factors != "float"  # whose products no trace has
    assert launch["sums"]["count"] == (0 if on_tensor_cores else case["j"] * case["l"])


def test_the_sums_name_the_products_of_each_element(built):
    trace = reader.with_columns(traced(built, TILED, "4x4"))
    launch = trace["launches"][0]
    products, sums = launch["products"], launch["sums"]
    for row in range(sums["count"]):
        first, count = int(sums["first"][row]), int(sums["terms"][row])
        terms = launch["terms"][first : first + count]
        left = [divmod(int(products["left_offset"][term]) // 4, 4) for term in terms]
        right = [divmod(int(products["right_offset"][term]) // 4, 4) for term in terms]
        assert [k for _, k in left] == [k for k, _ in right] == [0, 1, 2, 3]
        assert len({i for i, _ in left}) == len({j for _, j in right}) == 1


def test_shared_arrays_have_the_shape_that_the_file_gives_them(built):
    launch = traced(built, TILED, "4x4")["launches"][0]
    shapes = {array["name"]: (array["shape"], array["type"]) for array in launch["arrays"]}
    assert shapes["Mds"] == ([2, 2], "f32")
    assert shapes["M"] == ([4, 4], "f32")


BARRIER = (
    "    __syncthreads();  // separates using the tiles from overwriting them in the next phase\n"
)


def test_a_race_is_two_moments(built):
    # At 8 warps, that is, not at 4x4, where a block is one warp in step.
    lab = load_lab(built.labs / TILED)
    text = text_of(TILED).replace(BARRIER, "\n")
    wanted = make.Wanted(lab.case("w32"), finding=0)
    made = make.make(built, lab, text, wanted, Options("sim", "h200", 1, 90))
    launch = reader.with_columns(made)["launches"][0]
    *races, wrong = launch["findings"]
    assert wrong["code"] == "wrong-result" and wrong["elements"][0]["array"] == "P"
    assert races
    for finding in races:
        assert finding["code"] == "race-shared"
        moments = finding["events"]
        assert 0 <= moments["other"] < moments["at"]
        for side, line in (("at", finding["line"]), ("other", finding["other_line"])):
            code = launch["instructions"][launch["events"]["code"][moments[side]]]
            assert code["line"] == line
        assert finding["file"] == "matmul.cu"


ASYNC = "08-async-copies"
WAIT = "    __pipeline_wait_prior(0);  // what this thread has copied is there\n"


def test_an_asynchronous_copy_goes_from_its_start_to_its_arrival(built):
    launch = reader.with_columns(traced(built, ASYNC, "16x12x16"))["launches"][0]
    copies, events = launch["copies"], launch["events"]
    kinds = [launch["instructions"][code]["kind"] for code in events["code"]]
    arrays = launch["arrays"]
    assert copies["count"] == 2 * 3 * (8 + 16)  # blocks, phases, float4 of both tiles
    for row in range(copies["count"]):
        start, committed, arrived = (
            int(copies[name][row]) for name in ("event", "committed", "arrived")
        )
        assert (kinds[start], kinds[committed], kinds[arrived]) == ("copy", "commit", "wait")
        assert start < committed < arrived
        for column in ("block", "warp"):  # a warp waits for its own copies
            assert len({int(events[column][one]) for one in (start, committed, arrived)}) == 1
        lane = 1 << int(copies["lane"][row])
        assert int(events["mask"][start]) & lane and int(events["mask"][arrived]) & lane
        source = arrays[copies["from"][row]]
        first = int(copies["from_offset"][row]) // 4
        words = launch["values"][copies["value"][row] : copies["value"][row] + 4]
        assert list(words) == list(source["initial"][first : first + 4])
        assert arrays[copies["to"][row]]["name"] == source["holds"] + "ds"
    # Two stages: while a phase is used, the next one's copies are under way, and nobody reads them.
    reads = {}
    for row in range(launch["accesses"]["count"]):
        event, array = (int(launch["accesses"][name][row]) for name in ("event", "array"))
        if kinds[event] != "load" or arrays[array]["space"] != "shared":
            continue
        lanes = int(launch["accesses"]["mask"][row]).bit_count()
        first = launch["accesses"]["first"][row]
        reads[event] = {(array, int(at)) for at in launch["offsets"][first : first + lanes]}
    under_way = 0
    for row in range(copies["count"]):
        start, arrived = int(copies["event"][row]), int(copies["arrived"][row])
        block = events["block"][start]
        inside = [e for e in reads if start < e < arrived and events["block"][e] == block]
        under_way += bool(inside)
        target = (int(copies["to"][row]), int(copies["to_offset"][row]))
        assert all(target not in reads[event] for event in inside)
    assert under_way == copies["count"] * 2 // 3  # all but those of the first phase


def test_a_copy_that_nobody_waits_for_never_arrives(built):
    made = traced(built, ASYNC, "16x12x16", (WAIT, "\n"))
    launch = reader.with_columns(made)["launches"][0]
    assert set(launch["copies"]["arrived"]) == {-1}
    assert launch["findings"]


def test_perfetto_has_a_track_for_each_warp_and_flows_that_end(built):
    trace = reader.with_columns(traced(built, TILED, "8x8"))
    events = perfetto.events(trace)["traceEvents"]
    json.dumps(events)
    launch = trace["launches"][0]
    slices = [event for event in events if event["ph"] == "X" and event["cat"] != "barrier"]
    waits = [event for event in slices if event["name"].startswith("waits")]
    assert not waits
    tracks = {(event["pid"], event["tid"]) for event in slices}
    assert len(tracks) == len(launch["blocks"]) * launch["warps"]
    starts = {event["id"] for event in events if event["ph"] == "s"}
    ends = {event["id"] for event in events if event["ph"] == "f"}
    assert starts == ends


def test_lines_are_the_counters_with_their_source(built):
    found = lines.lines(reader.with_columns(traced(built, TILED, "4x4")))
    rows = {row["source"]: row["counters"] for row in found["launches"][0]["lines"]}
    store = next(counters for source, counters in rows.items() if source.startswith("P["))
    assert store["global_store_requests"] == 4


def test_a_constant_is_set_in_its_place():
    text = (
        "constexpr int A = 1, TILE_WIDTH = 16;  // side\n#define WIDE 8 // x\nint x = TILE_WIDTH;\n"
    )
    changed = constants.with_constants(text, {"TILE_WIDTH": 2, "WIDE": 4})
    assert changed == (
        "constexpr int A = 1, TILE_WIDTH = 2;  // side\n#define WIDE 4 // x\nint x = TILE_WIDTH;\n"
    )
    with pytest.raises(GraderError, match="no constant TILE"):
        constants.with_constants(text, {"TILE": 2})
    with pytest.raises(GraderError, match="no name"):
        constants.with_constants(text, {"A;": 2})


def test_skeletons_and_solutions_take_the_constants_of_their_show_cases():
    for name in LABS:
        for show in load_lab(REPOSITORY / "labs" / name).shows:
            for place in ("labs", "solutions"):
                text = (REPOSITORY / place / name / "matmul.cu").read_text()
                changed = constants.with_constants(text, dict(show.constants))
                assert changed.count("\n") == text.count("\n")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": "x"}', b"\x1f\x8bno"])
def test_what_is_no_trace_is_refused(tmp_path, content):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(GraderError):
        reader.load(path)


def test_the_ten_lines_of_the_book_read_a_trace(built, tmp_path):
    page = (REPOSITORY / "docs" / "experiments" / "README.md").read_text()
    program = page.split("<!-- trace reader -->\n```python\n")[1].split("```")[0]
    assert len(program.splitlines()) <= 10
    made = traced(built, TILED, "4x4")
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(made))
    scope: dict = {}
    exec(program.replace("trace.json", str(path)), scope)  # noqa: S102 - our own page
    events = made["launches"][0]["events"]
    assert len(scope["lines"]) == events["count"]
    data = base64.b64decode(events["code"]["data"])
    codes = np.frombuffer(data, "<u4")
    assert scope["lines"][0] == made["launches"][0]["instructions"][codes[0]]["line"]


def test_a_hidden_case_is_not_traced(built):
    lab = load_lab(built.labs / TILED)
    with pytest.raises(GraderError, match="hidden"):
        make.make(
            built,
            lab,
            text_of(TILED),
            make.Wanted(lab.case("secret")),
            Options("sim", "h200", 1, 90),
        )
