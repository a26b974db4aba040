"""Each exhibit: the test sees the wrong code and passes the mended one, and all that is said of
what happens does happen."""

import dataclasses
import functools
import html
import itertools
import re
from pathlib import Path

import nbformat
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tutor
from course import museum
from course.museum import lazy, places
from course.museum.exhibit import Page, moving_rows
from course.museum.styles import styles_of
from tutor import modern

ALL = list(museum.EXHIBITS.values())
each = pytest.mark.parametrize("exhibit", ALL, ids=[e.name for e in ALL])


def of(symptom):
    some = [e for e in ALL if e.symptom == symptom]
    return pytest.mark.parametrize("exhibit", some, ids=[e.name for e in some])


@each
def test_the_check_names_the_mistake_and_passes_the_mend(exhibit):
    exhibit.check(exhibit.mended)
    with pytest.raises(AssertionError) as failure:
        exhibit.check(exhibit.wrong)
    assert str(failure.value) == exhibit.mistake


@each
def test_the_wrong_code_shows_what_is_said_and_the_mended_does_not(exhibit):
    assert exhibit.shows in exhibit.demonstrate(exhibit.wrong)
    assert exhibit.shows not in exhibit.demonstrate(exhibit.mended)


@each
def test_it_is_small_and_told(exhibit):
    for which in ("wrong", "mended", "check"):
        lines = exhibit.source(which).splitlines()
        assert len(lines) <= 20 and max(map(len, lines)) <= 96
        assert not re.search(r"\b(noqa|fmt|ruff)\b", "\n".join(lines))
    assert exhibit.mistake.endswith(".") and len(exhibit.mistake) <= 100
    assert 2 <= len(re.findall(r"[.!?](?=\s|$)", exhibit.story)) <= 5
    assert exhibit.seen and exhibit.test


# ---- where the mistakes were seen

LINK = re.compile(r"\[([^\]]+)\]\((https://[^)\s]+)\)")
DATE_OR_COMMIT = re.compile(r"\b20\d\d\b|\bcommit [0-9a-f]{7}\b")
NO_PLACE = {"classrooms", "widespread"}  # all that `seen` may say without a link
A_PLACE = re.compile(r"\b(tutorial|page|article|thread|repositor|published)|\w/\w[^ ]*#\d", re.I)


def loose_accusations(exhibit):
    """The places that an exhibit names without a link, or without a date or commit beside it."""
    if exhibit.seen in NO_PLACE:
        told = f"{exhibit.mistake} {exhibit.story}"
        return [told] if A_PLACE.search(told) else []
    return [
        place
        for place in exhibit.seen.split("; ")
        if not (LINK.search(place) and DATE_OR_COMMIT.search(LINK.sub("", place)))
    ]


@each
def test_an_outside_place_is_named_with_a_link_and_a_date_or_commit(exhibit):
    assert loose_accusations(exhibit) == []


@pytest.mark.parametrize(
    ("seen", "loose"),
    [
        ("widespread", 0),
        ("[a/b#7](https://github.com/a/b/issues/7), June 2019", 0),
        ("[a/b, c.py](https://github.com/a/b/blob/0123456/c.py), commit 0123456", 0),
        ("a/b#7", 1),
        ("a/b#7, June 2019", 1),  # no link
        ("[a/b#2019](https://github.com/a/b/issues/2019)", 1),  # that is no year
        ("[B, *T*](https://b.org/2019/t)", 1),  # nor is that said to the reader
        ("[B, *T*](http://b.org), 2019", 1),
        ("[B, *T*](https://b.org), 2019; a/b#7; classrooms", 2),
    ],
)
def test_a_place_without_a_link_or_a_date_would_be_told(seen, loose):
    assert len(loose_accusations(dataclasses.replace(ALL[0], seen=seen))) == loose


def test_a_place_that_only_the_story_names_would_be_told():
    silent = dataclasses.replace(ALL[0], seen="classrooms", story="Many write it so. It crashes.")
    assert loose_accusations(silent) == []
    for story in ("A tutorial has it. It crashes.", "Seen in a/b#7. It crashes."):
        assert loose_accusations(dataclasses.replace(silent, story=story))


@pytest.mark.parametrize(
    "tutorial", [places.KOSMIDER, places.KZAJAC97, places.WORDEN, places.LEPELAARS]
)
def test_the_tutorials_whose_mistakes_are_shown_are_thanked(tutorial):
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    thanks = readme.partition("## Credits")[2].partition("\n## ")[0]
    title = re.search(r"\*[^*]+\*", tutorial)[0]
    thanked = [line for line in thanks.splitlines() if title in line]
    assert len(thanked) == 1 and LINK.search(thanked[0])


def test_every_symptom_has_its_room():
    assert len(ALL) >= 28 and {e.symptom for e in ALL} == set(museum.SYMPTOMS)
    assert len({e.mistake for e in ALL}) == len(ALL)


@of(museum.CRASHES)
def test_it_crashes_as_it_says(exhibit):
    assert re.match("|".join(kind.__name__ for kind in exhibit.crash), exhibit.shows[:40]) or (
        any(f"{kind.__name__}: " in exhibit.demonstrate(exhibit.wrong) for kind in exhibit.crash)
    )


@pytest.mark.parametrize("symptom", [museum.WRONG, museum.SLOW])
def test_nothing_complains(symptom):
    shown = [e.demonstrate(e.wrong) for e in ALL if e.symptom == symptom]
    assert not [text for text in shown if "Error" in text]


def add(words, memory):
    return len(words) + memory


RIGHT_BUT_SLOW = {
    "write_a_translation": lambda: (sum, add, [1, 2], 3),
    "keys_while_writing": lambda: (torch.square, torch.randn(5, 4)),
    "logits_while_writing": lambda: (torch.randn(2, 5, 4), torch.randn(9, 4)),
    "vectors_of_words": lambda: (torch.tensor([3, 1, 1]), torch.randn(9, 4)),
    "queries_of_all_heads": lambda: (torch.randn(3, 8), torch.randn(8, 8), 4),
    "layers_of_a_stack": lambda: (lambda: nn.Linear(2, 2), 3),
    "loss_of_a_test_set": lambda: ([torch.tensor(1.0), torch.tensor(2.0)],),
    "batches_of_sentences": lambda: ([[5], [6, 7], [8, 9], [5]], 2),
}
# inputs on which nobody can tell the wrong code from the mended
RIGHT_BY_ACCIDENT = {
    "mask_with_a_help_text": lambda: (),
    "judge_a_translator": lambda: (str.upper, [("a", "A")], [("b", "B")]),
    "weights_of_a_sentence": lambda: (torch.randn(3, 4), torch.randn(5, 4)),
    "weights_of_an_empty_row": lambda: (torch.randn(3, 4), torch.randn(3, 4), future(3)),
    "scores_of_all_heads": lambda: (torch.randn(3, 8), torch.randn(3, 8), 8, 1),
    "attend_with_heads": lambda: (*torch.randn(3, 2, 5, 8), 1),
    "look_across": lambda: (F.scaled_dot_product_attention, *torch.randn(2, 3, 4, 8)),
    "rebuild_a_new_layer": lambda: (layer(), torch.randn(2, 3, 8)),
    "table_of_halves": lambda: (5, 6),
    "loss_in_pieces": lambda: (torch.randn(4, 5), torch.randint(5, (4,)), [2, 2]),
    "places_of_tokens": lambda: (torch.ones(2, 3, dtype=torch.long),),
    "load_a_table": lambda: (torch.randn(5, 4),),
    "logits_of_a_pair": lambda: (tiny(), *torch.randint(4, 12, (2, 2, 3))),
    "extend_the_cache": lambda: (torch.randn(1, 3, 4), torch.tensor([0]), torch.randn(1, 1, 4)),
    "place_the_newest": lambda: (torch.randn(2, 1, 4), torch.randn(9, 4), 0),
    "logits_of_the_beams": lambda: (torch.randn(3, 1, 4), torch.randn(9, 4)),
    "rotate_for_llama": lambda: (torch.randn(2, 3, 2), torch.arange(3)),
    "queries_by_place": lambda: (torch.randn(3, 4), torch.ones(4), torch.arange(3)),
    "keys_for_all_heads": lambda: (torch.randn(2, 1, 5, 4), 3),
    "keys_with_a_cache": lambda: (torch.randn(2, 0, 4), torch.randn(2, 3, 4)),
    "keys_of_a_longer_text": lambda: ([torch.randn(2, 3, 4), torch.randn(2, 1, 4)],),
    "scores_of_latents": lambda: (
        torch.randn(2, 3, 5, 4),
        torch.randn(2, 6, 4),
        torch.randn(3, 4, 4),
    ),
    "round_keys": lambda: (torch.randn(2, 3, 4),),
}
ONLY_THE_SHAPE = {"look_across", "logits_of_a_pair"}


def future(T):
    return tutor.causal_mask(T)


def layer():
    return nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)


def tiny():
    return tutor.Transformer(tutor.TransformerConfig(12, 8, 2, d_ff=16, num_layers=1, dropout=0.0))


def comparable(result, only_the_shape):
    """A result as something that == understands."""
    if isinstance(result, torch.Tensor) and result.dim() == 0:
        return result.item()
    if isinstance(result, torch.Tensor):
        shape = tuple(result.shape)
        return shape if only_the_shape else (shape, result.detach().double().round(decimals=4))
    if isinstance(result, nn.Sequential):
        return comparable(result(torch.arange(3)), only_the_shape)
    if isinstance(result, nn.ModuleList):
        return [str(module) for module in result]
    if isinstance(result, dict):  # what a page made
        return result["hide"](torch.ones(2, 2), future(2)).tolist()
    if isinstance(result, list):
        return [comparable(part, only_the_shape) for part in result]
    return result


@pytest.mark.parametrize(
    ("name", "inputs"),
    [*RIGHT_BUT_SLOW.items(), *RIGHT_BY_ACCIDENT.items()],
    ids=[*RIGHT_BUT_SLOW, *RIGHT_BY_ACCIDENT],  # a function's address differs between workers
)
def test_it_is_right_where_it_was_tried(name, inputs):
    exhibit = museum.EXHIBITS[name]
    torch.manual_seed(0)
    inputs = inputs()
    results = [
        comparable(candidate(*inputs), name in ONLY_THE_SHAPE)
        for candidate in (exhibit.wrong, exhibit.mended)
    ]
    assert str(results[0]) == str(results[1])


def test_no_room_claims_to_be_right_without_proof():
    right = {e.name for e in ALL if e.symptom in (museum.SLOW, museum.LUCKY)}
    assert right == {*RIGHT_BUT_SLOW, *RIGHT_BY_ACCIDENT}


# ---- wrong answers to one exercise

TASKS = {task: [e for e in ALL if e.task == task] for task in {e.task for e in ALL} - {None}}


@pytest.mark.parametrize("exhibit", [e for e in ALL if e.task], ids=lambda e: e.name)
def test_the_first_check_of_a_task_that_fails_is_the_one_that_names_the_mistake(exhibit):
    failing = [other.name for other in TASKS[exhibit.task] if other.blames(exhibit.wrong)]
    assert failing[0] == exhibit.name
    assert all(other.passes(exhibit.mended) for other in TASKS[exhibit.task])


PAGE = Path(__file__).parents[1] / "notebooks" / "15_the_museum_of_bugs.ipynb"
TEXT = PAGE.parent / "source" / f"{PAGE.stem}.md"


def lets_pass(test, code):
    try:
        return not museum.EXHIBITS[test].blames(museum.EXHIBITS[code].wrong)
    except Exception:  # they take other arguments
        return False


BLIND_TO_EACH_OTHER = [  # both wrong, of one task, and each passes the other's own questions
    ("grow_and_add_up", "grow_the_beams"),
    ("loss_of_a_batch", "loss_to_compare"),
    ("table_by_loops", "table_of_halves"),
    ("table_by_loops", "table_of_pairs"),
    ("table_of_halves", "table_of_positions"),
    ("table_of_pairs", "table_of_positions"),
    ("weights_of_a_sentence", "weights_of_an_empty_row"),
    ("weights_of_a_sentence", "weights_of_wide_words"),
    ("weights_of_a_sentence", "weights_with_a_mask"),
    ("weights_of_an_empty_row", "weights_with_a_mask"),
]


def test_tests_that_let_each_other_pass_are_known():
    assert lets_pass("mask_of_the_future", "mask_of_what_follows")
    pairs = {
        (a, b)
        for exhibits in TASKS.values()
        for a, b in itertools.combinations(sorted(exhibit.name for exhibit in exhibits), 2)
        if lets_pass(a, b) and lets_pass(b, a)
    }
    assert sorted(pairs) == BLIND_TO_EACH_OTHER


def test_the_page_counts_the_exhibits_without_a_place():
    unknown = sum(exhibit.seen in NO_PLACE for exhibit in ALL)
    page = TEXT.read_text(encoding="utf-8")
    assert f"For {unknown} of the {len(ALL)} we have no place" in page


def test_a_rebuilt_layer_is_not_compared_with_a_fresh_one():
    fresh_only = museum.EXHIBITS["rebuild_a_new_layer"].wrong
    assert not museum.EXHIBITS["rebuild_a_layer"].passes(fresh_only)


def layer_norm(X, eps=1e-5):
    return F.layer_norm(X, X.shape[-1:], eps=eps)


def rms_norm(X, eps=1e-6):
    return modern.RMSNorm(X.shape[-1], eps)(X)


def token_loss(logits, targets):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0)


def test_a_table_that_refuses_ids_by_another_exception_is_right():
    museum.EXHIBITS["look_up_words"].check(F.embedding)


@pytest.mark.parametrize("shape", [(4, 8), (2, 4, 8), (2, 3, 4, 8)])
def test_rows_that_move_are_seen_behind_a_layer_norm(shape):
    def read(X):
        X = layer_norm(X)
        return X.cumsum(dim=-2)  # row t reads the rows up to t

    assert moving_rows(read, torch.randn(shape).double(), 1) == [1, 2, 3]


@pytest.mark.parametrize(
    ("task", "right"),
    [
        ("compute_attention_matrix", tutor.compute_attention_matrix),
        ("causal_mask", tutor.causal_mask),
        ("slice_vertically", tutor.slice_vertically),
        ("unslice_vertically", tutor.unslice_vertically),
        ("sinusoidal_positions", tutor.sinusoidal_positions),
        ("layer_norm", layer_norm),
        ("token_loss", token_loss),
        ("rotate", modern.rotate),
        ("repeat_heads", modern.repeat_heads),
        ("rms_norm", rms_norm),
        ("window_mask", modern.window_mask),
    ],
)
def test_right_code_that_was_written_elsewhere_passes(task, right):
    for exhibit in TASKS[task]:
        exhibit.check(right)


def mended(name):
    return museum.EXHIBITS[name].mended


@each
def test_right_answers_in_three_other_styles_pass(exhibit):
    assert len(styles_of(exhibit)) >= 3
    for answer in styles_of(exhibit):
        exhibit.check(answer)


def mean_of_means(logits, targets):
    losses = [token_loss(Z[None], ids[None]) for Z, ids in zip(logits, targets, strict=True)]
    return torch.stack(losses).mean()


WRONG_IN_ANOTHER_WAY = [
    ("translate_a_sentence", "The mode", lambda model, X: model.eval()(X)),
    ("attend_to_the_past", "The result",
     lambda Q, K, V, hidden: F.scaled_dot_product_attention(Q, K, V, is_causal=True)),
    ("loss_of_a_batch", "The result", mean_of_means),
    ("loss_to_compare", "The result", mean_of_means),
    ("loss_to_compare", "The result", lambda Z, ids: token_loss(Z.softmax(-1), ids)),
    ("loss_of_the_next_word", "The gradient",
     lambda *inputs: torch.tensor(mended("loss_of_the_next_word")(*inputs).item())),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "answer"), WRONG_IN_ANOTHER_WAY)
def test_what_is_wrong_in_another_way_is_told_so(name, what, answer):
    with pytest.raises(AssertionError, match=f"^{what}.* is wrong, but this is another mistake"):
        museum.EXHIBITS[name].check(answer)


# ---- what all exhibits rely on


@functools.cache  # it takes a tenth of a second
def page_of(exhibit, dtype=torch.float32):
    """What is shown of an exhibit, which must change no state."""
    before, state = torch.get_default_dtype(), torch.get_rng_state()
    try:
        torch.set_default_dtype(dtype)
        page = museum.as_html(exhibit)
        assert torch.get_rng_state().equal(state) and torch.get_default_dtype() == dtype
    finally:
        torch.set_default_dtype(before)
    return page


@each
def test_what_is_shown_depends_on_no_state(exhibit):
    page = page_of(exhibit)
    torch.manual_seed(2)
    assert page == page_of(exhibit, torch.float64)
    assert not re.search(r"0x[0-9a-f]{6}|-0\.0|\bnan\b|site-packages", page)


def test_chance_is_the_same_in_every_run():
    dice, thrown = dataclasses.replace(ALL[0], demo=lambda candidate: torch.randn(3).tolist()), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        thrown.append(dice.demonstrate(None))
    assert thrown[0] == thrown[1]


def test_only_the_exceptions_of_the_mistake_are_blamed_on_it():
    def stumbles(*inputs, **named):
        raise ZeroDivisionError("of its own")

    for exhibit in ALL:
        with pytest.raises(ZeroDivisionError, match="of its own"):
            exhibit.check(stumbles)


def raises_value_error(candidate):
    raise ValueError("of the test")


@pytest.mark.parametrize(
    ("judge", "passes"),
    [
        (lambda candidate: None, True),
        (lambda candidate: True, True),
        (lambda candidate: False, False),
        (lambda candidate: torch.zeros(2).all(), False),
        (raises_value_error, False),
    ],
)
def test_a_judge_fails_in_all_ways_in_which_the_test_of_a_learner_may(judge, passes):
    assert dataclasses.replace(ALL[0], judge=judge).passes(ALL[0].mended) is passes


@each
def test_no_lazy_answer_passes(exhibit):
    """No zeros, no ones, no other constant, no argument, no right answer to another question."""
    assert len(lazy.candidates(exhibit)) >= 15
    assert lazy.let_through(exhibit) == []


@pytest.mark.parametrize(
    ("name", "weak", "passed"),
    [
        ("mask_of_the_future", lambda mask: not mask(3)[1, 0], "zeros"),
        ("table_of_halves", lambda table: table(3, 5).shape == (3, 5), "random numbers"),
        ("chances_of_words", lambda p: (p(-torch.arange(3.0)).diff() < 0).all(), "argument 0"),
        ("logits_of_the_beams", lambda logits: len(logits(torch.ones(1, 1, 4), torch.eye(4))) == 1,
         "always answer 0 of the test with seed 0"),
    ],
)  # fmt: skip
def test_a_weak_judge_lets_lazy_answers_through(name, weak, passed):
    def judge(candidate):
        assert weak(candidate)

    assert passed in lazy.let_through(dataclasses.replace(museum.EXHIBITS[name], judge=judge))


def test_a_check_that_sees_nothing_would_be_told():
    """The tests above are not satisfied by an exhibit without a mistake."""
    blind = dataclasses.replace(ALL[0], judge=lambda candidate: None)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_the_check_names_the_mistake_and_passes_the_mend(blind)
    harmless = dataclasses.replace(ALL[0], wrong=ALL[0].mended)
    with pytest.raises(AssertionError):
        test_the_wrong_code_shows_what_is_said_and_the_mended_does_not(harmless)


@pytest.fixture
def displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(museum, "display", lambda page: shown.append(page.data))
    return shown


def as_text(page):
    """What a reader sees of HTML once all is unfolded."""
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def in_the_open(page):
    """What a reader sees before anything is unfolded, on any page that knows <details>."""
    folds = re.findall(r"<details[^>]*>", page)
    assert len(folds) == page.count("</details>") and not [fold for fold in folds if "open" in fold]
    return as_text(re.sub(r"<details[^>]*>.*?</details>", "", page, flags=re.S))


@each
def test_all_that_gives_the_mistake_away_is_folded(exhibit):
    page = page_of(exhibit)
    assert in_the_open(page).strip() == exhibit.name + exhibit.source("wrong").strip()
    unfolded = " ".join(as_text(page).split())
    for said in (exhibit.mistake, exhibit.story, exhibit.test, exhibit.shows):
        plain = re.sub(r"[`*]", "", " ".join(said.split()))
        assert plain in re.sub(r"[`*]", "", unfolded)


def what_it_prints(notebook):
    """All that the outputs and the texts of a notebook show before anything is unfolded."""
    said = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            said.append(in_the_open(cell.source))
        for output in cell.get("outputs", ()):
            for kind, text in {**output.get("data", {}), "text": output.get("text", "")}.items():
                if kind.startswith("text"):
                    said.append(in_the_open(text))
    return " ".join(" ".join(said).split())


def test_the_page_prints_no_mistake_in_the_open():
    open_text = what_it_prints(nbformat.read(PAGE, as_version=4))
    assert "cut_into_heads" in open_text
    for exhibit in ALL:
        for secret in (exhibit.mistake, exhibit.test, *re.split(r"(?<=[.!?]) ", exhibit.story)):
            assert " ".join(secret.split()) not in open_text
            assert re.sub(r"[`*]", "", " ".join(secret.split())) not in open_text
        told = [line for line in exhibit.demonstrate(exhibit.wrong).splitlines() if len(line) > 20]
        assert not [line for line in told if line in open_text]


def test_a_mistake_in_the_open_would_be_seen():
    exhibit = museum.EXHIBITS["cut_into_heads"]
    page = museum.as_html(exhibit).replace("<details>", "<p>").replace("</details>", "</p>")
    assert as_text(museum.text_html(exhibit.mistake)) in in_the_open(page)
    with pytest.raises(AssertionError):
        in_the_open(museum.as_html(exhibit).replace("<details>", "<details open>", 1))


def test_the_page_says_how_every_exhibit_is_named():
    source = TEXT.read_text(encoding="utf-8")
    (many, listed), *others = re.findall(r"All (\d+) names are in `([^`]+)`", source)
    names = eval(listed, {"museum": museum})
    assert not others and names == [e.name for e in ALL] and int(many) == len(ALL)


def test_show_displays_code_test_and_mend(displayed):
    museum.show("cut_into_heads", "join_the_heads")
    told = as_text(displayed[0])
    assert "def cut_into_heads(X, width):" in told and "def join_the_heads(X):" in told
    assert re.search(r"as shown: the test fails\nmended: the test passes", told)
    assert "def</b> check" in displayed[0]
    assert "\n-    return X.reshape(*N, columns // width" in told
    assert "\n+    return X.reshape(*N, T, columns // width" in told


def test_show_links_to_the_place_and_says_the_rest(displayed):
    museum.show("normalise_words")
    assert (
        'Seen in: <a href="https://github.com/harvardnlp/annotated-transformer/issues/122">'
        "harvardnlp/annotated-transformer#122</a>, April 2024; "
    ) in displayed[0]
    assert museum.text_html("[a < *b*](https://c.org/d_e), `f`") == (
        '<a href="https://c.org/d_e">a &lt; <em>b</em></a>, <code>f</code>'
    )


def test_an_unknown_name_is_told_what_is_there():
    with pytest.raises(ValueError, match="no exhibit 'cut_in_heads'.*'cut_into_heads'"):
        museum.show("cut_in_heads")


def test_a_page_runs_in_an_empty_session_each_time():
    page = Page("""
        count = globals().get("count", 0) + 1
    """)
    assert page.text.startswith("count") and page()["count"] == page()["count"] == 1


@each
def test_no_nearly_right_answer_passes_but_those_that_may(exhibit):
    passed = [*lazy.passed(exhibit, lazy.nearly_right), *lazy.passed(exhibit, lazy.mutants)]
    assert [what for what in passed if not lazy.allowed(exhibit, what)] == []
    for words in lazy.ALLOWED.get(exhibit.name, ()):
        assert any(words in what for what in passed)


def test_a_right_answer_without_its_gradient_is_tried_and_refused():
    exhibit, tried = museum.EXHIBITS["normalise_words"], "the right numbers without their gradient"
    assert sum(tried in lazy.nearly_right(one) for one in ALL) >= 40
    with pytest.raises(AssertionError, match="The gradient is wrong, but this is another mistake"):
        exhibit.check(lambda *inputs, **named: exhibit.mended(*inputs, **named).detach())
