"""The attacks: each is caught, costs itself only, and learns nothing.

attacks/attacks.toml describes the files beside it. All go through the real pipeline on the
simulator, with a seed that they do not know and with limits that are short.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from grader import sandbox
from grader.labs import codes, data
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.options import DEFAULT_SEED, Options
from grader.labs.submission import read
from grader.pipeline.grade import grade
from grader.results.result import Result, to_dict
from grader.sandbox.limits import StepLimits
from grader.tests.attack_files import ALL, ATTACKS, RIGHT, Attack
from grader.tests.selection import one_of_each

HIDDEN_SEED = 20260711
SECRET = "the hidden answer 4711"
LIMITS = StepLimits(
    compile_seconds=40,
    compile_memory_bytes=2 << 30,
    record_seconds=3,
    record_memory_bytes=512 << 20,
    record_processes=16,
    device_memory_bytes=256 << 20,
    execute_seconds=6,
    execute_memory_bytes=2 << 30,
)


def _answers(course: Course, lab_name: str, case_id: str) -> str:
    """The product of a case for the published seed, as C++ literals."""
    lab = load_lab(course.labs / lab_name)
    case = lab.case(case_id)
    shape = (case.j, case.k, case.l)
    published = data.committed_name(case.data)
    if published:
        m, n = data.load_committed(course.root / "datasets" / published, shape)
    else:
        m, n = data.make_inputs(case.data, shape, DEFAULT_SEED, lab.id, case.id)
    product = m.astype("float64") @ n.astype("float64")
    return ", ".join(f"{float(value)!r}f" for value in product.ravel())


def _grade(
    course: Course, attack: Attack, folder: Path, seed: int, limits: StepLimits = LIMITS
) -> Result:
    folder.mkdir(parents=True)
    secret = folder / "SECRET.txt"
    secret.write_text(f'#error "{SECRET}"\n')
    text = attack.text(str(secret), lambda lab, case: _answers(course, lab, case))
    (folder / "matmul.cu").write_text(text)
    own = {
        name: getattr(attack, name) or getattr(limits, name)
        for name in ("compile_seconds", "record_seconds", "execute_seconds")
    }
    options = Options("sim", seed=seed, limits=dataclasses.replace(limits, **own))
    lab = load_lab(
        next(
            at / attack.lab for at in (course.labs, course.exercises) if (at / attack.lab).is_dir()
        )
    )
    return grade(course, lab, read(folder / "matmul.cu"), options)


def _summary(result: Result) -> str:
    lines = [f"{result.status}, {result.score} points. {result.message}"]
    lines += [f"  {item.code} line {item.line}: {item.message}" for item in result.diagnostics]
    return "\n".join(lines)


def _kinds(attack: Attack) -> list:
    """`make test` runs one attack a way to end."""
    return [(attack.codes, attack.exact is None)]


@pytest.mark.parametrize("attack", one_of_each(ALL, _kinds), ids=[attack.name for attack in ALL])
def test_attack_is_caught(attack, built, tmp_path):
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: attacks are not run without it")
    result = _grade(built, attack, tmp_path / attack.name, HIDDEN_SEED)
    said = _summary(result)
    assert "SUCCEEDED" not in said and SECRET not in json.dumps(to_dict(result)), said
    assert "\x1b" not in said and all(len(item.message) < 1500 for item in result.diagnostics)
    assert str(built.build) not in said, said  # where the grader keeps its files
    assert result.sandbox == "bubblewrap"
    if attack.exact is not None:
        status = "passed" if attack.exact == result.max_score else "failed"
        assert (result.status, result.score) == (status, attack.exact), said
        return
    assert result.diagnostics and result.diagnostics[0].code in attack.codes, said
    if result.status == "error":  # nothing that can be graded: never any points
        assert result.diagnostics[0].code == "unsupported" and result.score is None, said
    else:
        assert result.status == "failed" and result.score <= attack.most, said


# A right program may need as long as a class is given.
OF_RIGHT = StepLimits(compile_seconds=120, record_seconds=20, execute_seconds=120)


@pytest.mark.parametrize(
    "program", one_of_each(RIGHT, lambda one: [one.lab]), ids=[one.name for one in RIGHT]
)
def test_what_is_right_and_odd_is_not_accused(program, built, tmp_path):
    result = _grade(built, program, tmp_path / program.name, HIDDEN_SEED, OF_RIGHT)
    said = _summary(result)
    assert not result.diagnostics, said
    assert result.score == program.exact, said
    lost = [item for item in result.checks if item.score < item.max_score]
    assert all(item.group == "performance" for item in lost), said


def test_the_published_seed_would_have_helped(built, tmp_path):
    """Why a class is graded with a seed of its own: the same file, and the seed it knows."""
    for name, case in (("known-answers", "w64"), ("known-toy", "toy")):
        attack = next(attack for attack in ALL if attack.name == name)
        known = _grade(built, attack, tmp_path / name, DEFAULT_SEED)
        assert {case.id: case.status for case in known.cases}[case] == "passed", _summary(known)


def test_the_collection_is_complete():
    """Every file is described, every description has its file, every code exists."""
    files = {f"{attack.name}.cu" for attack in ALL if attack.has_file}
    assert files == {path.name for path in ATTACKS.glob("*.cu")}
    assert len({attack.name for attack in (*ALL, *RIGHT)}) == len(ALL) + len(RIGHT) >= 240
    for attack in ALL:
        assert attack.codes or attack.exact is not None, attack.name
        assert set(attack.codes) <= codes.KNOWN, attack.name
