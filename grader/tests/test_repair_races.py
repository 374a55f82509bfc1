"""Threads of a block that race: seen where lanes go in step, and what would keep them apart."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from grader.judging.cause_by_trying import _change
from grader.judging.repair import search
from grader.judging.repair.child import find_apart
from grader.judging.repair.races import Apart, Race, Races, Shadow
from grader.judging.repair.reading import GivenUp, tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Size, Trial, try_out
from grader.tests import corpus_files
from grader.tests.fresh_programs import CAUSES, FRESH, SIGNATURES, program

_TILES = corpus_files.bare_solution("03-boundary-checks")
_COPIES = corpus_files.bare_solution("08-async-copies")
_WARPS = corpus_files.bare_solution("09-warp-tiles")

_MEET = "    __syncthreads();  // separates loading the tiles from using them\n"
_USED = (
    "    __syncthreads();  // separates using the tiles from overwriting them in the next phase\n"
)
_FILLS = "    Nds[ty][tx] = n_row < width && col < width ? N[n_row * width + col] : 0.0f;\n"
_WAIT = "    __pipeline_wait_prior(0);  // what this thread has copied is there\n"
_BLOCK = "    __syncthreads();           // what all have copied is there, and the other stage is used up\n"
_NEXT = "    if (ph + 1 < ceil_div(k, BK)) start_copies(ph + 1);\n"
_LAST = "first_col + c);\n    }\n    __pipeline_commit();\n"


def _carried_out(text: str, lab: str, sides: tuple[int, int, int]) -> Trial:
    numbers = sides[:1] if lab < "04" else sides
    return try_out(parse(tokens_of(text)), {}, Size(*sides), numbers, False, 60_000, races=True)


def _changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _line(text: str, part: str) -> int:
    (line,) = [at for at, one in enumerate(text.splitlines(), 1) if part in one]
    return line


# --- what is seen


def _shadow(threads: int = 64, are_warps: bool = False) -> tuple[Races, Shadow]:
    races = Races(are_warps)
    races.begin(1, threads)
    return races, Shadow(races, "tile", 2 * threads, 1)


def test_a_word_belongs_to_who_has_stored_it_until_all_meet() -> None:
    races, shadow = _shadow()
    own = np.arange(64)
    shadow.store(own, True)
    shadow.load(own, True)
    with pytest.raises(Race):
        shadow.load(own[::-1].copy(), True)
    races.meet(True)
    shadow.load(own[::-1].copy(), True)
    with pytest.raises(Race):
        shadow.store(own, True)


def test_many_may_read_one_word_and_then_nobody_may_store_it() -> None:
    races, shadow = _shadow()
    shadow.load(0, True)
    with pytest.raises(Race):
        shadow.store(0, np.arange(64) == 5)
    races.meet(True)
    shadow.store(0, np.arange(64) == 5)
    races.meet(True)
    with pytest.raises(Race):
        shadow.store(np.arange(64) // 2, True)


def test_threads_of_one_warp_may_be_taken_for_one() -> None:
    _, shadow = _shadow(are_warps=True)
    own = np.arange(64)
    shadow.store(own, True)
    shadow.load(own ^ 1, True)
    with pytest.raises(Race):
        shadow.load(own ^ 32, True)


def test_a_copy_comes_when_its_group_is_waited_for_and_is_others_once_all_have_met() -> None:
    races, shadow = _shadow()
    own = np.arange(64)
    shadow.copy(own, True)
    with pytest.raises(Race):
        shadow.load(own, True)
    races.wait(True, 0)  # its group is not closed
    with pytest.raises(Race):
        shadow.load(own, True)
    races.commit(True)
    races.wait(True, 1)
    with pytest.raises(Race):
        shadow.store(own, True)
    races.meet(True)
    races.wait(True, 0)
    shadow.load(own, True)
    with pytest.raises(Race):
        shadow.load(own ^ 1, True)
    races.meet(True)
    shadow.load(own ^ 1, True)


def test_a_part_of_a_block_does_not_meet_and_blocks_meet_by_themselves() -> None:
    races = Races()
    races.begin(2, 32)
    shadow = Shadow(races, "tile", 64, 2)
    lanes = np.arange(64)
    with pytest.raises(Apart):
        races.meet(lanes < 40)
    shadow.store(lanes, True)
    races.meet(lanes < 32)
    shadow.load(lanes ^ 1, lanes < 32)
    with pytest.raises(Race):
        shadow.load(lanes ^ 1, True)


@pytest.mark.parametrize("lab", [one for one in corpus_files.ladder() if "02" <= one[:2] <= "09"])
def test_no_solution_races(lab: str) -> None:
    sides = (32, 32, 32) if lab[:2] == "02" else (17, 17, 17) if lab[:2] == "03" else (17, 36, 20)
    assert _carried_out(corpus_files.bare_solution(lab), lab[:2], sides).is_right


_READ = sorted(p.stem for p in FRESH.glob("0[2-9]*.cu"))


@pytest.mark.parametrize("name", _READ[::6])
def test_no_right_program_races(name: str) -> None:
    sides = (32, 32, 32) if name[:2] == "02" else (17, 17, 17) if name[:2] == "03" else (5, 36, 7)
    try:
        trial = _carried_out(program(name), name[:2], sides)
    except GivenUp:
        return  # its threads wait for each other in another way
    assert trial.is_right, trial.why


@pytest.mark.parametrize("lab", ["08-async-copies", "09-warp-tiles"])
def test_a_copy_in_ptx_is_one_too(lab: str) -> None:
    text = corpus_files.bare_solution(lab)
    own = (
        "template <int BYTES> __device__ void copy_async(void* to, const void* from, bool inside) {\n"
        "  unsigned target = unsigned(__cvta_generic_to_shared(to));\n"
        '  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" : : "r"(target), "l"(from), '
        '"n"(BYTES), "r"(inside ? BYTES : 0) : "memory");\n}\n'
        '__device__ void closed() { asm volatile("cp.async.commit_group;"); }\n'
        '__device__ void arrived() { asm volatile("cp.async.wait_group 0;"); }\n'
        '__device__ void met() { asm volatile("bar.sync 0;"); }\n'
    )
    text = text.replace('#include "copy_async.h"\n', own)
    text = text.replace("__pipeline_commit()", "closed()").replace("__syncthreads()", "met()")
    text = text.replace("__pipeline_wait_prior(0)", "arrived()")
    assert _carried_out(text, lab[:2], (5, 36, 7)).is_right
    for call in ("closed();", "arrived();", "met();"):
        assert _carried_out(text.replace(call, ";"), lab[:2], (5, 36, 7)).why.startswith("Race")


def test_where_threads_wait_in_other_ways_no_races_are_looked_for() -> None:
    with pytest.raises(GivenUp):
        _carried_out(corpus_files.bare_solution("11-copy-engine"), "11", (64, 64, 64))


# --- what is found

_PLANTED = [
    ("missing", _TILES, [(_MEET, "")], "for (int k = 0", "is missing before the loop of line"),
    ("missing", _TILES, [(_USED, "")], "sum += Mds", "is missing at the end of the loop of line"),
    ("too early", _TILES, [(_MEET, ""), (_FILLS, _MEET + _FILLS)], "using them\n", "has to stand behind line"),
    ("of a warp", _TILES, [(_MEET, _MEET.replace("threads", "warp"))], "using them\n", "has to be __syncthreads()"),
    ("in an if", _TILES, [(_USED, "    if (ph > 0) __syncthreads();\n")], "if (ph > 0)", "must not depend on if (ph > 0)"),
    ("behind the loop", _TILES, [(_USED + "  }\n", "  }\n" + _USED)], "using the tiles", "at the end of each turn"),
    ("not waited for", _COPIES, [(_WAIT, "")], _BLOCK, "__pipeline_wait_prior(0) is missing before line"),
    ("meet, then wait", _COPIES, [(_WAIT + _BLOCK, _BLOCK + _WAIT)], _WAIT, "has to stand before line"),
    ("copied too early", _COPIES, [(_BLOCK + _NEXT, _NEXT + _BLOCK)], _BLOCK, "has to stand before line"),
    ("no group", _COPIES, [(_LAST, "first_col + c);\n    }\n")], "copy4(&Nds", "__pipeline_commit() is missing"),
    ("one on its way", _COPIES, [(_WAIT, _WAIT.replace("0", "1"))], "wait_prior(1)", "with 0 in place of 1"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "changes", "place", "says"), _PLANTED)
def test_what_would_keep_them_apart_is_found(kind, text, changes, place, says) -> None:
    wrong = _changed(text, *changes)
    signature = "square-device" if text is _TILES else "rect-device"
    assert search.find(wrong, signature, False, []) is None  # its values come right
    found = search.find(wrong, signature, False, [], mends_races=True)
    assert found is not None and found.is_race, kind
    assert says in found.says
    assert found.line == _line(wrong, place.strip("\n")), found
    assert _change(found, "P") == found.says


_LISTED = [
    ("fresh-28", "waits-for-two"), ("fresh-34", "no-commit"), ("fresh-36", "09-meet-then-wait"),
    ("fresh-37", "no-barrier-before-loop"), ("fresh-38", "szorzas-barrier-between"),
    ("fresh-39", "commit-only-if-asked"), ("fresh-33", "no-second-barrier"),
]  # fmt: skip


def _mistake(listed: str, name: str):
    sys.path.insert(0, str(CAUSES))
    import causes

    (mistake,) = [one for one in causes.mistakes(listed) if one.name == name]
    return mistake


@pytest.mark.parametrize(
    ("listed", "name", "line", "after"),
    [
        ("fresh-34", "ring-fill-stage", 40, "int fill = 2"),
        ("fresh-36", "08-next-starts-at-zero", 70, "int next = 2"),
    ],
)
def test_with_which_stage_a_ring_begins_is_found(listed, name, line, after) -> None:
    """In step its values are wrong, too; the race comes long before."""
    mistake = _mistake(listed, name)
    found = search.find(mistake.text, "rect-device", False, [line], minds_races=True)
    assert found is not None and not found.is_race
    assert (found.after, found.line in mistake.guilty) == (after, True)


@pytest.mark.parametrize(("listed", "name"), _LISTED)
def test_a_listed_mistake_is_found_where_it_was_made(listed: str, name: str) -> None:
    mistake = _mistake(listed, name)
    lab = mistake.folder[:2]
    signature = SIGNATURES.get(lab, "rect-device")
    found = search.find(mistake.text, signature, lab == "02", [], mends_races=True)
    assert found is not None and found.is_race
    assert found.line in mistake.guilty, found


def test_no_barrier_is_offered_where_not_all_threads_come() -> None:
    branch = "    if (row < width && col < width) {\n"
    loop = "    for (int k = 0; k < TILE_WIDTH; ++k) {  // column of Mds, row of Nds\n"
    wrong = _changed(_TILES, (_MEET, ""), (loop, branch + loop), (_USED, "    }\n" + _USED))
    found = search.find(wrong, "square-device", False, [], mends_races=True)
    assert found is not None and "before line" in found.says or "behind line" in found.says
    assert found.line <= _line(wrong, branch.strip())


def test_a_change_that_leaves_a_race_is_none() -> None:
    """The tile of N is read where that of M is meant, and a barrier is missing, too."""
    wrong = _changed(_TILES, ("sum += Mds[ty][k]", "sum += Nds[ty][k]"))
    found = search.find(wrong, "square-device", False, [], minds_races=True)
    assert found is not None and found.after == "Mds[ty]" and not found.is_race
    wrong = _changed(wrong, (_MEET, ""))
    assert search.find(wrong, "square-device", False, []) is not None
    assert search.find(wrong, "square-device", False, [], minds_races=True) is None


def test_it_goes_through_a_process_of_its_own() -> None:
    wrong = _changed(_TILES, (_MEET, ""))
    found = find_apart(wrong, "square-device", False, [], mends_races=True)
    assert found is not None and found.is_race and found.says


def test_in_step_the_threads_of_a_warp_are_one_where_they_wait_for_each_other() -> None:
    assert "__syncwarp" in _WARPS
    assert _carried_out(_WARPS, "09", (5, 18, 7)).is_right
