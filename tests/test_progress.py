"""What a learner tried and solved: one small file that nothing breaks, hints, ticks, the map."""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import nbclient
import nbformat
import pytest

from tutor import check
from tutor.check import words
from tutor.check.bank import exercises
from tutor.check.exercise import EXPLAIN, PREDICT, Exercise
from tutor.check.progress import NAME, TRIES, _here, _said

SAMPLE = Exercise(
    name="three", chapter="02", section="In code", kind=PREDICT, title="Three", goal="Go.",
    difficulty=1, importance=1, minutes=1, text="", stub="three = None", solution="three = 3",
    hints=("Count $\\sqrt{d_k}$.", "Count *on*.", "It is `1 + 2`."), reference=3,
)  # fmt: skip
WORDS = Exercise(
    name="in_words", chapter="02", section="In $T$ words", kind=EXPLAIN, title="Words", goal="Go.",
    difficulty=1, importance=1, minutes=1, text="", stub="in_words = ''", solution="",
    hints=("", "", ""), points=("It is one.", "It is two.", "It is three."),
    questions=("Is it $1$?", "Is it two?", "Is it three?"),
    misconceptions=((r"\bit is four\b", "It is not four."),),
)  # fmt: skip
LONG = "This explanation has as many words as an explanation must have, and more."
three, in_words = check.Check(SAMPLE), check.Check(WORDS)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A place for the file; what earlier tests said and remembered is forgotten."""
    _here.clear()
    _said.clear()
    monkeypatch.setenv("TUTOR_PROGRESS", str(tmp_path / "mine.json"))
    return tmp_path / "mine.json"


@pytest.fixture
def said(capsys):
    """The lines printed since the last call."""
    return lambda: capsys.readouterr().out.splitlines()


def kept(file, name="three"):
    return json.loads(file.read_text(encoding="utf-8"))["exercises"][name]


# ---- tries


def test_tries_are_counted_until_it_is_solved(file, said):
    three(None)
    three()
    assert not file.exists(), "a blank answer is no try"
    said()
    three(4)
    first = said()
    assert first[-1] == "(try 1)" and str(file) in first[-2]
    three(4)
    assert said()[-1] == "(try 2; `check.three.hint()` helps)"
    three.hint()
    three(4)
    assert said()[-1] == "(try 3)"
    three(3)
    assert said() == ["Right.", "Solved at try 4, with 1 hint."]
    three.hint()
    three(4)
    assert said()[-1] == "(solved before, at try 4)"
    three(3)
    assert said()[-1] == "Solved at try 4, with 1 hint."
    record = {"tries": 4, "hints": 2, "solved_at_try": 4, "solved_with_hints": 1}
    assert kept(file) == record


def test_grading_counts_nothing(file, said):
    three(3, grade=True, hidden=True)
    with pytest.raises(AssertionError):
        three(4, grade=True)
    assert said() == ["Right."] and not file.exists()


NOTEBOOK = """
from test_progress import three
three(None); three(4); three.hint(); three(4); three(3); three(4)
"""


def test_a_notebook_keeps_the_numbers_of_tries_as_data(file):
    cell = nbformat.v4.new_code_cell(NOTEBOOK)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": Path(__file__).parent}}
    ).execute()
    found = [
        (output["data"]["text/plain"], output["metadata"][TRIES])
        for output in cell.outputs
        if TRIES in output.get("metadata", {})
    ]
    assert found == [
        ("(try 1)", {"tries": 1, "hints": 0}),
        ("(try 2)", {"tries": 2, "hints": 0}),
        ("Solved at try 3, with 1 hint.", {"tries": 3, "hints": 1}),
    ]
    nbformat.validate(notebook)


# ---- the file


def test_nothing_is_kept_where_the_variable_is_empty(tmp_path, monkeypatch, said):
    monkeypatch.setenv("TUTOR_PROGRESS", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    three(4)
    three(3)
    assert said() == ["Not yet. That is not it. Look again at the section “In code” of chapter 02.",
                      "Right."]  # fmt: skip
    assert list(tmp_path.iterdir()) == []
    assert "Nothing is kept" in str(check.progress())


def test_the_file_lies_in_the_home_folder_unless_it_is_moved(file, tmp_path, monkeypatch, said):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("TUTOR_PROGRESS")
    three(4)
    assert kept(tmp_path / NAME)["tries"] == 1
    assert f"Kept in {tmp_path / NAME}, on this machine alone. Delete" in str(check.progress())
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("TUTOR_PROGRESS", str(tmp_path / "folder"))
    three(4)
    assert kept(tmp_path / "folder" / NAME)["tries"] == 1


WRITER = """
import dataclasses
from tutor import check
exercise = check.weights_of_two_keys.exercise
for number in range(20):
    check.weights_of_two_keys([0.5, 0.5])
    check.Check(dataclasses.replace(exercise, name=f"mine_{NUMBER}_{number}"))([0.5, 0.5])
"""


def test_processes_that_write_at_once_lose_nothing(file):
    many = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("NUMBER", str(n), 1)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(3)
    ]  # fmt: skip
    for process in many:
        printed, errors = process.communicate(timeout=1200)
        assert process.returncode == 0, errors
        assert printed.count("(try ") == 40 and "not kept" not in printed
    assert kept(file, "weights_of_two_keys")["tries"] == 60
    written = json.loads(file.read_text(encoding="utf-8"))["exercises"]
    assert len(written) == 61
    assert [path.name for path in file.parent.iterdir() if ".tmp" in path.name] == []


@pytest.mark.parametrize(
    "content", [b'{"exercises": {"three": {"tr', b"[1, 2]", b"\xff\xfe", b'{"exercises": 3}',
                b"[" * 100_000], ids=["cut", "list", "bytes", "number", "deep"]
)  # fmt: skip
def test_a_damaged_file_is_put_aside_and_a_new_one_begun(file, said, content):
    file.write_bytes(content)
    (file.parent / "mine.json.broken").write_text("an older one")
    three(4)
    lines = said()
    assert lines[-1] == "(try 1)" and "renamed to mine.json.broken1" in lines[-2]
    assert sum("mine.json" in line for line in lines) == 1
    assert (file.parent / "mine.json.broken1").read_bytes() == content
    assert (file.parent / "mine.json.broken").read_text() == "an older one"
    assert kept(file)["tries"] == 1


def test_what_cannot_be_written_costs_one_sentence(file, tmp_path, monkeypatch, said):
    (tmp_path / "no_folder").write_text("")
    monkeypatch.setenv("TUTOR_PROGRESS", str(tmp_path / "no_folder" / "mine.json"))
    three(4)
    assert said()[-1] == f"Your progress is not kept: there is no folder {tmp_path / 'no_folder'}."
    three(4)
    three(3)
    assert len(said()) == 2, "no more than the checks say themselves"
    three.hint()
    three.hint()
    assert [line[:4] for line in said()] == ["Hint", "Hint"]
    assert not (tmp_path / "mine.json").exists()
    monkeypatch.setenv("TUTOR_PROGRESS", str(tmp_path / "missing" / "mine.json"))
    three(4)
    assert "there is no folder" in said()[-1] and not (tmp_path / "missing").exists()


def test_a_disk_that_refuses_costs_one_sentence_too(file, monkeypatch, said):
    check.weights_of_two_keys([0.5, 0.5])
    before = file.read_text()

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    monkeypatch.setattr(sys.modules["tutor.check.progress"], "FileLock", refuse)
    said()
    three(4)
    three(4)
    assert [line for line in said() if "progress" in line or "try" in line] == [
        "Your progress is not kept: Read-only file system."
    ]
    assert file.read_text() == before and "~ weights_of_two_keys" in str(check.progress())


def test_a_home_that_nobody_knows(file, monkeypatch, said):
    monkeypatch.delenv("TUTOR_PROGRESS")

    def unknown(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    three(4)
    assert said()[-1] == "Your progress is not kept: Could not determine home directory."
    assert "Nothing is kept: Could not determine home directory." in str(check.progress())


def test_files_of_other_versions_are_harmless(file, said):
    newer = json.dumps({"version": 99, "exercises": {"three": {"stars": 5}}})
    file.write_text(newer)
    three(4)
    assert "a newer version of this course wrote" in said()[-1] and file.read_text() == newer
    odd = {"three": {"tries": "7", "hints": -1, "stars": 5}, "gone": 3, "attend": {"tries": True}}
    file.write_text(json.dumps({"exercises": odd, "more": [1]}))
    assert " 0 of " in str(check.progress())
    three(4)
    written = json.loads(file.read_text())
    assert written["exercises"]["three"]["tries"] == 1 and written["version"] == 1
    assert written["exercises"]["three"]["stars"] == 5 and written["more"] == [1]
    file.write_text("")
    three(4)
    assert kept(file)["tries"] == 1 and len(list(file.parent.glob("*broken*"))) == 0


# ---- hints


def test_hints_come_one_by_one_and_go_on_after_a_restart(file, said):
    three.hint(1)
    assert said() == ["You have not seen a hint 1 yet; check.three.hint() shows the next."]
    three.hint()
    assert said()[0] == "Hint 1 of 3: Count √d_k."
    again = "from test_progress import three; three.hint(); three.hint(1); three.hint(3)"
    done = subprocess.run(
        [sys.executable, "-c", again], cwd=str(__file__).rpartition("test_progress")[0] or ".",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "Hint 2 of 3: Count on.", "Hint 1 of 3: Count √d_k.",
        "You have not seen a hint 3 yet; check.three.hint() shows the next.",
    ]  # fmt: skip
    three.hint()
    three.hint()
    assert said() == [
        "Hint 3 of 3: It is `1 + 2`.",
        "Those were all 3 hints; check.three.hint(1) shows the first again.",
        "A solution is in notebooks/solutions, in the notebook of chapter 02.",
    ]
    assert kept(file)["hints"] == 3
    for _ in range(4):
        check.attend.hint()
    assert "folded cell after yours, in chapter 02" in said()[-1]


def test_every_hint_can_be_read_as_plain_text():
    shown = words.Words(
        "**So** $e^{\\log 4 - \\log 8} = d_{model}\\,\\cdot 2$ and `a * b * c`, *b*"
    )
    assert repr(shown) == "So e^(log 4 - log 8) = d_model · 2 and `a * b * c`, b"
    assert shown._repr_markdown_().startswith("**So**")
    for exercise in exercises().values():
        for hint in exercise.hints:
            text = "".join(words.plain(hint).split("`")[::2])
            assert "$" not in text and "\\" not in text and "**" not in text, text


# ---- explanations


QUESTIONS = [
    "Noted. Does your text answer these questions?",
    "1. Is it 1?", "2. Is it two?", "3. Is it three?",
    "Add what is missing, and run the check again: a second text is shown our points. "
    "`check.in_words.points()` shows them at once.",
]  # fmt: skip
POINTS = [
    "Compare. Which of these does your text say?",
    "1. It is one.", "2. It is two.", "3. It is three.",
    "Many get one thing wrong, perhaps not you. It is not four.",
    "Tick what it says, such as `check.in_words.tick(1, 3)`.",
]  # fmt: skip
SECOND = "It is not so that it is four, as three follows from one and two alone."


def test_a_first_explanation_meets_questions_and_a_second_one_is_compared_and_ticked(file, said):
    in_words.tick(1)
    assert said() == ["Write your text first, and run check.in_words(in_words)."]
    in_words(" \n ")
    in_words("So it is four, because two and two are four, as all of us know.")
    lines = said()
    assert lines[0].startswith("Not yet. This is not written yet")
    assert lines[1].endswith("It is not four.") and lines[3] == "(try 1)"
    for same in (LONG, f"{LONG.upper()}\n!"):
        in_words(same)
        assert said()[:-1] == QUESTIONS
        in_words.tick(1, 2, 3)
        assert said() == [
            "Write a second text that answers the questions, and run check.in_words(in_words); or "
            "see the points: check.in_words.points()."
        ]
    assert "points" not in kept(file, "in_words")
    in_words(LONG, grade=True)
    in_words(SECOND, grade=True)
    assert said() == ["There is a text; a person grades it."] * 2
    in_words(SECOND)
    assert said()[:-1] == POINTS
    assert kept(file, "in_words")["points"] == "after a second text"
    in_words(LONG)
    assert said()[:-1] == POINTS
    in_words.points()
    assert said() == POINTS
    in_words.tick(3, 1, 3)
    assert said() == [
        "2 of 3 points. Missing:", "2. It is two.",
        "Read “In T words” in chapter 02 again, and add it.",
    ]  # fmt: skip
    assert kept(file, "in_words")["ticked"] == [1, 3]
    for wrong in ((0,), (4,), ("1",), ([1],)):
        in_words.tick(*wrong)
        assert said() == ["Tick numbers from 1 to 3, as in check.in_words.tick(1, 2)."]
    in_words.tick(1, 2, 3)
    assert said() == ["3 of 3 points.", "Solved at try 5, without a hint."]
    in_words.tick(1, 2)
    assert len(said()) == 3 and kept(file, "in_words")["solved_at_try"] == 5
    three.tick(1)
    three.points()
    assert said() == [
        "There is nothing to tick: check.three(three) judges this answer.",
        "This exercise has none: check.three(three) judges the answer.",
    ]


def test_points_on_request_are_recorded_and_count_as_a_hint(file, said):
    in_words(LONG)
    in_words.points()
    assert said()[-7:] == [*POINTS, "To ask for them counts as a hint."]
    in_words(LONG)
    assert said()[:-1] == POINTS
    in_words(SECOND)
    in_words.tick(1, 2, 3)
    assert said()[-1] == "Solved at try 3, with 1 hint."
    assert kept(file, "in_words")["points"] == "on request"


def test_ticks_work_where_nothing_is_kept(monkeypatch, said):
    _here.clear()
    monkeypatch.setenv("TUTOR_PROGRESS", "")
    in_words(LONG)
    in_words(SECOND)
    in_words.tick(1, 2, 3)
    assert said()[-1] == "3 of 3 points."


# ---- all of it


@pytest.fixture
def some_progress(file):
    record = {"tries": 2, "hints": 1, "solved_at_try": 2, "solved_with_hints": 1}
    alone = {"tries": 1, "solved_at_try": 1}
    tried = {"attend": {"tries": 3}, "word_by_word": record, "choose_alike": alone, "gone": alone}
    file.write_text(json.dumps({"version": 1, "exercises": tried}))
    return check.progress()


def test_progress_in_words(some_progress, file):
    said = str(some_progress)
    total = len(exercises())
    assert said.startswith(
        f"The course: 2 of {total} solved (1 without a hint), 1 more tried, 6 tries, 1 hint.\n"
    )
    assert "\n02  2 of " in said and "page: ★ choose_alike  ~ attend  · padding" in said
    assert "✓ word_by_word" in said and "gone" not in said
    assert f"Kept in {file}" in said and "Delete that file" in said


def test_progress_as_a_picture(some_progress):
    page = ET.fromstring(some_progress._repr_html_())
    svg = page.find("{http://www.w3.org/2000/svg}svg")
    assert svg.get("role") == "img" and "2 of" in svg.get("aria-label")
    titles = [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    names = {title.partition(": ")[0]: title.partition(": ")[2] for title in titles}
    assert {name for name, how in names.items() if how} == set(exercises())
    assert names["attend"] == "tried" and names["word_by_word"] == "solved"
    assert names["choose_alike"] == "solved without a hint" and names["causal_mask"] == "untouched"
    assert page.find("details/pre").text == str(some_progress)
