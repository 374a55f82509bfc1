"""Barriers with phases: which line is told, and when none is."""

import pytest

from grader.judging import parities, phases
from grader.labs.statements import listing
from grader.results.finding import Access, Cause, Facts, Party

CONSUMER = """
for (int ph = 0; ph < phases; ++ph) {
  int s = ph % STAGES;
  wait_for_phase(&ring.full[s], ph % 2);
  load_matrices(m, ring.stage[s].M);
  __syncwarp();
  if (lane == 0) arrive(&ring.empty[s]);
}
"""
WAITS = """
constexpr int STAGES = 3;
__global__ void f(int phases) {
  for (int ph = 0; ph < phases; ++ph) {
    int s = ph % STAGES, turn = ph / STAGES;
    wait_for_phase(&full[s], PARITY);
  }
}
"""
TEXT = (
    """
__global__ void kernel() {
if (warp == 8) {
  for (int ph = 0; ph < phases; ++ph) {
    arrive_and_expect(&ring.full[s], sizeof(Stage));
    copy_box(ring.stage[s].M, &map, 0, 0, &ring.full[s]);
  }
  return;
}
init_barrier(&ring.full[0], 1);"""
    + CONSUMER
    + "}\n"
)
EARLY = "  if (lane == 0) arrive(&ring.empty[s]);\n  load_matrices(m, ring.stage[s].M);"
LATE = "  load_matrices(m, ring.stage[s].M);\n  __syncwarp();\n  if (lane == 0) arrive(&ring.empty[s]);"


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def too_early(text: str):
    copy = Party(access=Access.COPY, line=line_of(text, "copy_box"))
    read = line_of(text, "load_matrices")
    facts = Facts(access=Access.LOAD, line=read, cause=Cause.WRONG_PARITY, interval=0, other=copy)
    return phases.cause("phase", facts, text)


def refilled(text: str):
    read = Party(access=Access.LOAD, line=line_of(text, "load_matrices"))
    facts = Facts(access=Access.COPY, line=line_of(text, "copy_box"), other=read)
    return phases.cause("race-shared", facts, text)


def test_a_wait_that_ends_too_early_is_told_with_its_line():
    said = too_early(TEXT)
    assert (said.line, said.text) == (
        line_of(TEXT, "ph % 2"),
        "This wait ends before the copy has come.",
    )


def test_bytes_that_nobody_announces_are_told_instead():
    text = TEXT.replace("arrive_and_expect(&ring.full[s], sizeof(Stage))", "arrive(&ring.full[s])")
    said = too_early(text)
    assert said.line == line_of(text, "arrive(&ring.full[s])")
    assert said.text.startswith("No bytes are announced here")


def test_of_two_waits_none_is_told():
    wait = "  wait_for_phase(&ring.full[s], ph % 2);\n"
    assert too_early(TEXT.replace(wait, wait + wait.replace("full", "other"))) is None


def test_who_arrives_before_reading_is_told():
    text = TEXT.replace(LATE, EARLY)
    assert refilled(text).line == line_of(text, "arrive(&ring.empty")
    assert refilled(TEXT) is None


def test_an_arrival_that_is_then_waited_for_is_no_release():
    """Of cuda::barrier: arrive, wait with the token, read."""
    text = TEXT.replace(LATE, EARLY).replace("  wait_for_phase(&ring.full[s], ph % 2);\n", "")
    text = text.replace(EARLY, EARLY.replace("\n", "\n  bar.wait(token);\n"))
    assert refilled(text) is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            Facts(cause=Cause.ARRIVALS_LACK, amount=1, limit=1, interval=0),
            "waits for ever for the end of phase 0 of the mbarrier full[0]: 1 of 1 arrivals is missing, "
            "and all threads that still run wait",
        ),
        (
            Facts(
                cause=Cause.BYTES_LACK, amount=16384, limit=32768, interval=2, other=Party(line=9)
            ),
            "waits for ever for the end of phase 2 of the mbarrier full[0]: 32768 bytes were announced "
            "at line 9, and 16384 have arrived",
        ),
        (
            Facts(cause=Cause.TOO_MANY_ARRIVALS, amount=1, limit=0, interval=0),
            "arrives once at the mbarrier full[0], whose phase 0 expects no arrival any more",
        ),
        (
            Facts(cause=Cause.NOT_WAITED, access=Access.LOAD, interval=1, other=Party(line=7)),
            "reads full[0], and the copy asked for at line 7 may not have arrived yet: it belongs to "
            "phase 1 of its barrier, for which nobody has waited",
        ),
    ],
)
def test_what_is_said(facts, words):
    assert phases.sentence(facts, "full[0]") == words


def test_each_cause_has_its_words():
    said = {
        phases.sentence(Facts(cause=cause, interval=1, amount=1, limit=2), "b")
        for cause in phases.CAUSES
    }
    assert len(said) == len(phases.CAUSES)


@pytest.mark.parametrize(
    ("parity", "says"),
    [
        ("ph / STAGES % 2", ""),
        ("ph / STAGES", ""),  # its last bit counts
        ("(turn & 1) ^ 1", ""),
        ("at.parity", ""),
        ("ph / STAGES / 2", "gives 0, 0, 1, 1 from one use of stage 0"),
        ("turn / 2 % 2", "gives 0, 0, 1, 1"),
        ("s % 2", "gives 0, 0, 0, 0"),
        ("ph % 2", "begins with 1 for the barrier of stage 1"),
    ],
)
def test_the_parity_of_a_wait_turn_by_turn(parity: str, says: str):
    said = parities.wrong(listing(WAITS.replace("PARITY", parity)))
    assert (said is None) == (not says)
    assert said is None or (says in said.text and said.line == 6)


def test_a_wait_that_is_passed_by_the_first_time():
    text = WAITS.replace("PARITY", "(turn - 1) % 2").replace("wait_for", "if (turn > 0) wait_for")
    assert parities.wrong(listing(text)) is None
    assert parities.wrong(listing(text.replace("- 1) % 2", "- 1) / 2"))).line == 6


RING = """
struct Cursor {
  int stage = 0, parity = 0;
  __device__ void next() {
    NEXT
  }
};
__global__ void kernel() {
  Cursor at;
  for (int i = 0; i < steps; ++i, at.next()) {
    wait_for_phase(&full[at.stage], at.parity);
  }
}
"""


@pytest.mark.parametrize(
    ("step", "is_told"),
    [
        ("if (++stage == STAGES) stage = 0;\n    parity ^= 1;", True),
        ("++stage;\n    if (stage == STAGES) stage = 0;\n    parity = !parity;", True),
        ("stage = (stage + 1) % STAGES;\n    parity = 1 - parity;", True),
        ("stage = stage + 1 == STAGES ? 0 : stage + 1;\n    parity ^= 1;", True),
        ("if (++stage == STAGES) {\n      stage = 0;\n      parity ^= 1;\n    }", False),
        ("stage = (stage + 1) % STAGES;\n    if (stage == 0) parity ^= 1;", False),
        ("stage = (stage + 1) % STAGES;\n    parity ^= stage == 0;", False),
        ("parity[stage] ^= 1;\n    stage = (stage + 1) % STAGES;", False),
        ("stage = (stage + 1) % STAGES;\n    other ^= 1;", False),
    ],
)
def test_a_parity_that_changes_at_each_step(step: str, is_told: bool):
    text = RING.replace("NEXT", step)
    said = parities.at_each_step(listing(text))
    assert (said is not None) == is_told
    if said is not None:
        assert "parity" in text.splitlines()[said.line - 1]
