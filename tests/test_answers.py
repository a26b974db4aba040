"""Exercises without code on the site: the page says what `tutor.check` says."""

import json

import pytest

from course.site import answers
from course.site.write import SITE_FOLDER
from tutor.check import Check
from tutor.check.bank import exercises, find
from tutor.check.examine import another_form, put_plainly, trouble_with
from tutor.check.exercise import EXPLAIN, PREDICT, evaluate
from tutor.check.plain import plainly

WITHOUT_CODE = [find(name) for name in exercises() if find(name).kind in (EXPLAIN, PREDICT)]
ANSWERABLE = [exercise for exercise in WITHOUT_CODE if answers.judge_of(exercise)]
JUDGE = """([exercise, answer]) => exercise.kind === "explain"
  ? judgeText(exercise, answer) : judgePrediction(exercise, answer)"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.set_content("<!doctype html><article></article>")
    page.add_script_tag(content=(SITE_FOLDER / "static" / "answers.js").read_text("utf-8"))
    yield page
    page.close()


def said(exercise, answer):
    """What a notebook prints; None where a text has nothing against it."""
    wrong = trouble_with(exercise, answer)
    if wrong:
        return f"Not yet. {wrong}"
    return None if exercise.kind == EXPLAIN else Check(exercise).praise()


def as_fields(answer, right):
    """A prediction as the fields of the page hold it; None if they cannot."""
    answer = put_plainly(plainly(answer), right)
    return None if another_form(answer, right, guessed=True) else answer


def answers_in_bank(exercise):
    programs = [exercise.solution, *exercise.right, *exercise.wrong]
    found = [evaluate(exercise, program) for program in programs]
    if exercise.kind == EXPLAIN:
        return [text for text in found if isinstance(text, str) and text.strip()]
    right = put_plainly(exercise.reference, exercise.reference)
    fields = [as_fields(answer, right) for answer in found if answer is not None]
    return [answer for answer in fields if answer is not None]


def test_nearly_all_exercises_without_code_are_answered_in_the_page():
    assert len(ANSWERABLE) >= 0.9 * len(WITHOUT_CODE)


@pytest.mark.parametrize("exercise", ANSWERABLE, ids=lambda exercise: exercise.name)
def test_the_page_says_what_the_notebook_says(exercise, page):
    judge, found = json.loads(json.dumps(answers.judge_of(exercise))), answers_in_bank(exercise)
    assert len(found) > 3
    for answer in found:
        told = said(exercise, answer)
        assert page.evaluate(JUDGE, [judge, answer]) == told, answer


def test_what_is_no_plain_value_is_left_to_python():
    with pytest.raises(TypeError):
        answers.leaves([object()])
    assert answers.in_page(find("attend")) == ""
