"""Every answer of the quiz by two independent ways, for many students."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from grader.quiz import answers, counted, counting
from grader.quiz.bank import QUESTIONS
from grader.quiz.question import WAYS, pose, shown
from grader.tests.selection import first_of

FEW, MANY = 2, 100
TABLE = json.loads(counted.FILE.read_text())["counts"]
SHARES = 12  # of its runs: all together take a slow machine more than a quarter of an hour
BY_ID = {question.id: question for question in QUESTIONS}


def agree(one, other) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return abs(one - other) <= 1e-9 * max(1.0, abs(other))
    return type(one) is type(other) and one == other


def differences(questions, students) -> list[str]:
    """Questions whose two ways differ, or whose text cannot be made, with the parameters."""
    found = []
    for question in questions:
        for student in range(students):
            asked = pose(question, 1, f"student {student}")
            if not agree(asked.answer, asked.second):
                found.append(f"{question.id} {asked.parameters}: {asked.answer} or {asked.second}")
            assert (
                asked.text and asked.why and "{" not in asked.text.replace("{}", "").split("```")[0]
            ), asked
            assert not asked.choices or asked.answer in asked.choices, (question.id, asked.answer)
            for value, reason in asked.wrong_ways():
                assert reason.endswith((".", "?")) and not agree(value, asked.answer), question.id
                assert not asked.choices or value in asked.choices, (question.id, value)
    return found


def test_both_ways_give_the_same_answers():
    assert differences(QUESTIONS, FEW) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_both_ways_give_the_same_answers_for_a_hundred_students():
    assert differences(QUESTIONS, MANY) == []


def test_a_wrong_formula_is_found():
    right = BY_ID["02.requests"]
    wrong = replace(right, answer=lambda n, t: n**3 // (t * 32))  # one of the two matrices
    assert len(differences([wrong], MANY)) == MANY
    assert differences([right], MANY) == []


def test_each_run_of_the_table_is_in_one_share():
    shares = counting.shares(TABLE, SHARES)
    assert sorted(key for keys in shares for key in keys) == sorted(TABLE)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.slow
def test_the_table_has_what_questions_ask_for():
    assert set(TABLE) == counting.needed()


@pytest.mark.parametrize("share", first_of(range(SHARES), 0))
def test_the_table_is_what_the_simulator_counts(built, share):
    keys = counting.shares(TABLE, SHARES)[share]
    fresh = counting.count(built, keys)
    assert {key: (fresh[key], TABLE[key]) for key in keys if fresh[key] != TABLE[key]} == {}


def test_every_question_has_its_parts():
    assert len(BY_ID) == len(QUESTIONS)
    for question in QUESTIONS:
        assert question.by in WAYS and question.source and question.given, question.id
        assert question.wrong or question.choices, question.id


def test_right_answers_are_judged_right_and_wrong_ones_get_their_reason():
    for question in QUESTIONS:
        asked = pose(question, 1, "somebody")
        assert answers.judge(asked, shown(asked.answer)).right, question.id
        for value, _ in asked.wrong_ways():
            verdict = answers.judge(asked, shown(value))
            assert not verdict.right and verdict.reason, (question.id, value)
