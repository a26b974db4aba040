"""Are the checks themselves right? Each is given the whole bank of right and wrong answers."""

import argparse
import dataclasses
import itertools
import json
import math
import re
import sys
import time
from unittest.mock import ANY

import torch

from course import mutation
from tutor.check.bank import chapters, find, folder, places
from tutor.check.examine import (
    CASES_SEED,
    alike,
    draw,
    openness,
    outcome_of_mistake,
    put_plainly,
    trouble_with,
)
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, TEST, WRITE, evaluate
from tutor.check.guard import Outcome, Unnamed, attempt
from tutor.commands import streams

ZERO = {
    "slipped": "wrong answers that pass",
    "unnamed": "wrong answers that are not told the words that they should be",
    "rejected": "right answers that do not pass",
    "blank_passes": "stubs that pass",
    "ambiguous": "pairs of mistakes that no case tells apart: add a case, or give them one message",
    "silent": "messages that no program is told",
    "too_few": "numbers of answers or hints that are too small",
    "mutation_survivors": "small changes of a solution that pass: add a case, or say under "
    "Equivalent why they are right",
    "mutation_idle": "programs under Equivalent that are no mutants, or do not pass",
    "gradients_unsaid": "exercises whose result has gradients: compare them, or say in the "
    "task that none are asked for",
    "no_section": "sections that the chapter's page does not have, letter by letter",
}
AUDITED = ("exercises", "wrong_answers", "alternatives", "mutants", "generic", "coincidences")
AUDITED += ("mutations", "mutation_equivalent", *ZERO)
ONE_IN = 15  # of the wrong answers may be told no more than numbers
ONE_MUTANT_IN = 20  # may be equivalent, over the whole bank


def trials(exercise):
    """Yield (sort, number, code, words): every piece of code that an exercise brings along.

    The sorts: "blank", "solution", "right", "wrong"; `words` are what a message must hold.
    """
    yield "blank", 0, exercise.stub, ""
    yield "solution", 0, exercise.solution, ""
    for number, code in enumerate(exercise.right, start=1):
        yield "right", number, code, ""
    for number, (code, words) in enumerate(exercise.wrong.items(), start=1):
        yield "wrong", number, code, words


def verdict(exercise, sort, code, words):
    """The count of the audit that this trial belongs to, None if all is well, and the Trouble."""
    trouble = trouble_with(exercise, evaluate(exercise, code))
    if sort in ("solution", "right"):  # what is right is so with the hidden inputs, too
        trouble = trouble or trouble_with(exercise, evaluate(exercise, code), hidden=True)
        return trouble and "rejected", trouble
    if trouble is None:
        return "blank_passes" if sort == "blank" else "slipped", trouble
    return None if words.lower() in str(trouble).lower() else "unnamed", trouble


def behaviours(exercise):
    """(message, Outcomes in all cases) of what is right, whose message is None, and of each
    mistake."""
    if exercise.kind == PREDICT:
        right = exercise.reference
        values = [(None, right), *exercise.mistakes]
        return [(message, [Outcome(put_plainly(value, right))]) for message, value in values]
    cases = draw(exercise, CASES_SEED)
    right = [attempt(exercise, exercise.reference, case) for case in cases]
    return [(None, right)] + [
        (
            message,
            [outcome_of_mistake(exercise, number, CASES_SEED, *at) for at in enumerate(cases)],
        )
        for number, (message, _) in enumerate(exercise.mistakes)
    ]


def same(ones, others, tolerance):
    """Whether two lists of Outcomes are one behaviour, and leave as much open.

    Of what says by itself what it equals, only ANY can be compared.
    """
    return all(
        openness(a.value) == openness(b.value)
        and can_be_compared(a.value)
        and can_be_compared(b.value)
        and alike(a, b, tolerance)
        for a, b in zip(ones, others, strict=True)
    )


def can_be_compared(value):
    if isinstance(value, list | tuple):
        return all(map(can_be_compared, value))
    return value is ANY or not openness(value)


def ambiguous(exercise, known):
    """Yield the pairs of messages of which the cases cannot tell which is meant."""
    for (one, ours), (other, theirs) in itertools.combinations(known, 2):
        if one != other and same(ours, theirs, exercise.tolerance):
            yield one or "what is right", other


def too_few(exercise):
    """Yield what there is too little of."""
    sizes = {
        "wrong answers": (len(exercise.wrong), 3),
        "right answers besides the solution": (len(exercise.right), 2 * (exercise.kind != PREDICT)),
        "twins": (len(exercise.twins), 2 * (exercise.kind == TEST)),
        "mutants": (len(exercise.mutants), 4 * (exercise.kind == TEST)),
        "hints of more than 20 characters": (sum(len(hint) > 20 for hint in exercise.hints), 3),
    }
    for what, (there, wanted) in sizes.items():
        if there < wanted:
            yield f"{there} {what}, at least {wanted} are wanted"


def leaves_gradients_unsaid(exercise):
    """Whether a result has gradients that neither the check compares nor the task waives."""
    if exercise.gradient or exercise.kind not in (WRITE, MEND):
        return False
    asked, cases = dataclasses.replace(exercise, gradient=True), draw(exercise, CASES_SEED)
    found = [attempt(asked, exercise.reference, case).gradients for case in cases]
    said = re.search(r"\bno\s+gradients\b", exercise.text, re.I)
    return not said and any(g is not None for gradients in found for g in gradients)


def has_section(exercise):
    """Whether the page of an exercise has the heading that it names; True outside a clone."""
    sources = folder().parents[1] / "notebooks" / "source"
    pages = [path.read_text(encoding="utf-8") for path in sources.glob(f"{exercise.chapter}_*.md")]
    return not sources.is_dir() or any(
        re.search(rf"^##+ {re.escape(exercise.section)}$", page, re.M) for page in pages
    )


def silent(exercise, told):
    """The messages that stand in nothing that a program of the bank is told."""
    ours = [message for message, _ in (*exercise.mistakes, *exercise.properties)]
    ours += [message for _, message in exercise.misconceptions]
    return [m for m in dict.fromkeys(ours) if not any(m in said for said in told)]


def coincidences(exercise, known):
    """Yield, of an exercise whose results are numbers, the mistakes whose number two others make
    together: by the sum of what they go wrong, or by the sum of their numbers."""
    (_, right), *mistakes = known
    right = numbers_in([outcome.value for outcome in right])
    rows = {message: numbers_in([o.value for o in outcomes]) for message, outcomes in mistakes}
    rows = {
        message: row for message, row in rows.items() if row and right and len(row) == len(right)
    }

    def equal(*pair):
        return all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9), *pair))

    for (one, ours), (other, theirs) in itertools.combinations(rows.items(), 2):
        for third, row in rows.items():
            if third in (one, other):
                continue
            if equal([a + b - r for a, b, r in zip(ours, theirs, right, strict=True)], row):
                yield f"both of ({one}) ({other}) give what ({third}) gives"
            elif equal([a + b for a, b in zip(ours, theirs, strict=True)], row):
                yield f"the sum of ({one}) ({other}) is what ({third}) gives"


def numbers_in(value):
    """The numbers of a result, in lists or alone, as one list; [] if it holds anything else."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        value = value.item()
    if isinstance(value, list | tuple):
        parts = [numbers_in(item) for item in value]
        return sum(parts, []) if all(parts) else []
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [value] if is_number and math.isfinite(value) else []


def audit(chosen, say=print, messages=False, mutate=True):
    """Run the whole bank of these exercises, say what is amiss, and return the counts.

    messages: also say what each wrong answer is told.
    mutate: also try the mutants of each solution, which takes longer than all the rest.
    """
    counts = dict.fromkeys(AUDITED, 0)
    slowest = (0.0, "")

    def note(key, exercise, words):
        counts[key] += 1
        say(f"{exercise.name}{words}")

    for exercise in chosen:
        counts["exercises"] += 1
        counts["wrong_answers"] += len(exercise.wrong)
        counts["alternatives"] += len(exercise.right)
        counts["mutants"] += len(exercise.mutants)
        told = []
        for sort, number, code, words in trials(exercise):
            start = time.perf_counter()
            amiss, trouble = verdict(exercise, sort, code, words)
            slowest = max(slowest, (time.perf_counter() - start, exercise.name))
            told.append(str(trouble))
            if messages and sort in ("blank", "wrong"):
                say(f"---- {exercise.name}, {sort} {number}\n{code.strip()}\n>> {trouble}")
            generic = "generic" if sort == "wrong" and isinstance(trouble, Unnamed) else None
            for key in filter(None, (amiss, generic)):
                note(key, exercise, f", {sort} {number}: {key}; the message was: {trouble}")
        for message in silent(exercise, told):
            note("silent", exercise, f": no program of the bank is told: {message}")
        if exercise.kind not in (TEST, EXPLAIN):
            known = behaviours(exercise)
            for one, other in ambiguous(exercise, known):
                note("ambiguous", exercise, f": ambiguous, ({one}) and ({other})")
            for words in coincidences(exercise, known):
                note("coincidences", exercise, f": only a note, {words}")
        if mutate:
            many, living, idle = mutation.tried(exercise)
            counts["mutations"] += many
            counts["mutation_equivalent"] += len(exercise.equivalent) - len(idle)
            for sort, codes in (("mutation_survivors", living), ("mutation_idle", idle)):
                for code in codes:
                    changed = mutation.lines_changed(exercise, code)
                    note(sort, exercise, f": {sort}\n{changed}")
        if leaves_gradients_unsaid(exercise):
            note("gradients_unsaid", exercise, ": the task says nothing of its result's gradients")
        if not has_section(exercise):
            note("no_section", exercise, f": its page has no heading “{exercise.section}”")
        for words in too_few(exercise):
            note("too_few", exercise, f": {words}")
    if not enough_named(counts):
        say(
            f"{counts['generic']} wrong answers are told no mistake by name, one in {ONE_IN} may "
            "be: write a message for them under Mistakes"
        )
    say(f"slowest check: {slowest[0]:.2f} s ({slowest[1]})")
    return counts


def enough_named(counts):
    """Whether at most one wrong answer in fifteen gets a message that names no mistake."""
    return counts["generic"] * ONE_IN <= counts["wrong_answers"]


def main(arguments=None):
    streams.prepare()
    parser = argparse.ArgumentParser(prog="python -m tutor.check", description=__doc__)
    parser.add_argument("--audit", action="store_true", required=True, help="run the whole bank")
    parser.add_argument("--messages", action="store_true", help="print what each is told")
    parser.add_argument("names", nargs="*", help="chapters, as 02, or exercises (default: all)")
    options = parser.parse_args(arguments)
    try:
        unknown = set(options.names) - {*chapters(), *places()}
        if unknown:
            parser.error(f"there are no exercises for {', '.join(sorted(unknown))}")
        wanted = {*options.names} or {*chapters()}
        chosen = [find(name) for name, at in places().items() if wanted & {name, at}]
    except ValueError as error:  # a text of the bank
        print(error, file=sys.stderr)
        return 1
    counts = audit(chosen, messages=options.messages)
    bad = {key: words for key, words in ZERO.items() if counts[key]}
    for key, words in bad.items():
        print(f"{key}: {counts[key]} {words}")
    few = counts["mutation_equivalent"] * ONE_MUTANT_IN <= counts["mutations"]
    if not (few or options.names):
        print(f"of the mutants, one in {ONE_MUTANT_IN} may be equivalent, not more")
    passed = not bad and enough_named(counts) and bool(few or options.names)
    print("All is well." if passed else "Not all is well.")
    print(json.dumps(counts))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
