"""Five claims, and what was measured."""

from itertools import product

from tutor.check.exercise import PREDICT, Exercise

VERDICTS = ("follows", "contradicted", "open")
RIGHT = ["contradicted", "follows", "contradicted", "open", "open"]
# For each claim, what is said to each wrong verdict.
WHY = [
    {
        "follows": "Claim 1 says “in each of these models”. Compute both effects in seed 1: by how "
        "much the lead moves from row to row.",
        "open": "Claim 1 can be computed from table 1, model by model: change one noun and leave "
        "the other as it is.",
    },
    {
        "contradicted": "Claim 2: compare 0.80 to 0.92 of the way with what the other places, and "
        "the random pushes, can do.",
        "open": "Claim 2 is what tables 2 and 3 measure: every place, in every model, with a "
        "control. It claims nothing beyond them.",
    },
    {
        "follows": "Claim 3 concludes from a map, and table 2 tests it. See what "
        "happens when the vector at the English noun is replaced.",
        "open": "Claim 3 says that the vector at the English noun does not matter for the "
        "adjective. Table 2 has replaced it.",
    },
    {
        "follows": "Claim 4 would explain tables 2 and 4 together. But none of the "
        "measurements has looked at earlier rows, or touched what they hand on.",
        "contradicted": "Claim 4: which number speaks against it? Table 4 is about the last row "
        "alone.",
    },
    {
        "follows": "Claim 5 is about other words. All four tables were made with one pair of nouns "
        "and one adjective.",
        "contradicted": "Claim 5 is about other words, and no number here is about them.",
    },
]

# Where to look if several verdicts are wrong; which of the claims it is about is not told.
TOPICS = (
    "Compute with table 1, model by model, before you judge.",
    "Say for each claim which table measures it, and whether it claims more than that table.",
    "Ask which of the tables are interventions, and which only look.",
    "Ask of each claim whether any of the four measurements has touched what it speaks of.",
    "Ask of each claim of which words, and of how many, it speaks.",
)


def _mistakes():
    """Every other list of verdicts: of one that is wrong the reason, of more their number."""
    for verdicts in product(VERDICTS, repeat=len(RIGHT)):
        wrong = [i for i, verdict in enumerate(verdicts) if verdict != RIGHT[i]]
        if len(wrong) == 1:
            yield WHY[wrong[0]][verdicts[wrong[0]]], list(verdicts)
        elif wrong:
            yield (
                f"{len(wrong)} of your five verdicts do not hold. {TOPICS[wrong[0]]}",
                list(verdicts),
            )


what_follows = Exercise(
    name="what_follows",
    chapter="10",
    section="What a heat map does not show",
    kind=PREDICT,
    title="Five claims, four tables",
    goal="Tell what follows from measurements from what only fits them.",
    difficulty=4,
    importance=5,
    minutes=13,
    text="""\
*The queen is happy.* is *La reine est heureuse.*, and *The king is happy.* is *Le roi est heureux.*
All numbers are from the three small models. The lead is now the logit of *heureuse* less that of
*heureux* (of their first tokens), for the word after *est*.
(Left alone, seed 2 repeats the adjective: *La reine heureuse est heureuse.*; here the French so far
is given to all three.)

**1. The lead,** also where the French so far does not fit the English:

| English | French so far | seed 0 | seed 1 | seed 2 |
|---|---|---|---|---|
| king | Le roi est | -6.2 | -6.4 | -4.2 |
| king | La reine est | 0.5 | -2.4 | 0.7 |
| queen | Le roi est | -0.8 | 1.7 | -0.3 |
| queen | La reine est | 5.0 | 5.4 | 4.7 |

**2. A patch.** In the run *king, Le roi est*, one vector that the decoder reads comes from the
queen's run (with *Le roi est* too). How far the lead moves, from 0 (the first row above) to 1 (the
third): patched at the noun 0.80, 0.92, 0.91; at *happy* 0.10, 0.06, 0.09; anywhere else less than
0.01.

**3. A control.** 200 random pushes at the noun, each as long as the patch: at most 0.39, 0.31,
0.33 of the way.

**4. A map.** The run is *queen, La reine est*, the row the one that writes the adjective. Of the
eight cross-attention heads, none gives *queen* more than 0.01, 0.03, 0.01 of its weight.

Five claims:

1. In each of these models, the French noun moves the lead more than the English noun.
2. In each of these models, after *Le roi est*, the vector that the decoder reads at the English
   noun decides more of what English tells this adjective than the vector at any other place.
3. When the model writes the adjective it does not look at the English noun, so the vector there
   does not matter for the adjective.
4. Earlier rows of the decoder, which write *La* and *reine*, fetch the gender from the English
   noun, and the last row hears of it from them.
5. With other nouns and other adjectives the shares of table 2 are much the same.

**Predict** the five verdicts: a list of `"follows"` (these numbers show it), `"contradicted"`
(they speak against it) or `"open"` (they fit it, or say nothing about it).""",
    hints=(
        "For claim 1, subtract rows of table 1 that differ in one noun alone. Do so in all three "
        "models.",
        "A patch is an intervention, and a map is not. If they seem to disagree, what does the map "
        "leave out? What would explain both, and has anybody measured that?",
        "Three sorts: one claim is what tables 2 and 3 measure, two have numbers against them, "
        "and two say more than was measured.",
    ),
    stub='what_follows = None  # a list of five verdicts, such as ["open", "follows", ...]',
    solution='what_follows = ["contradicted", "follows", "contradicted", "open", "open"]',
    because="Claim 4 was measured since. Hide the noun from the last row, and all of its say is "
    "left; hide it from the earlier rows, and 0.21, 0.09, 0.12 of it is.",
    reference=RIGHT,
    mistakes=tuple(_mistakes()),
    wrong={
        'what_follows = ["follows", "follows", "contradicted", "open", "open"]': "Claim 1 says",
        'what_follows = ["open", "follows", "contradicted", "open", "open"]': "can be computed",
        'what_follows = ["contradicted", "open", "contradicted", "open", "open"]': "Claim 2 is",
        'what_follows = ["contradicted", "contradicted", "contradicted", "open", "open"]': (
            "Claim 2: c"
        ),
        'what_follows = ["contradicted", "contradicted", "open", "open", "open"]': "2 of your five",
        'what_follows = ["open"] * 5': "3 of your five",
        'what_follows = ["follows"] * 5': "4 of your five",
        'what_follows = ["contradicted", "follows", "follows", "follows", "open"]': "only look",
        'what_follows = ["contradicted", "follows", "contradicted", "follows", "follows"]': (
            "touched what it speaks of"
        ),
        'what_follows = ["contradicted", "follows", "follows", "open", "open"]': "from a map",
        'what_follows = ["contradicted", "follows", "open", "open", "open"]': "has replaced it",
        'what_follows = ["contradicted", "follows", "contradicted", "follows", "open"]': "explain",
        'what_follows = ["contradicted", "follows", "contradicted", "contradicted", "open"]': (
            "speaks against it"
        ),
        'what_follows = ["contradicted", "follows", "contradicted", "open", "follows"]': (
            "one pair of nouns"
        ),
        'what_follows = ["contradicted", "follows", "contradicted", "open", "contradicted"]': (
            "no number here"
        ),
        'what_follows = ["contradicted", "follows"]': "of length 2",
        "what_follows = [False, True, False, None, None]": "a text is wanted",
    },
    right=(
        'what_follows = ("Contradicted", "follows ", "contradicted", "open", "open")',
        """\
what_follows = ["open"] * 5
what_follows[0] = what_follows[2] = "contradicted"
what_follows[1] = "follows"
""",
    ),
)
