"""`python -m tutor translate`: text in on standard input, text out on standard output."""

import itertools
import sys

from tqdm import tqdm

from tutor.commands.common import CHUNK, load_together, need_input, need_output, read_lines, say
from tutor.record import DOUBT


def run_translate(args):
    need_input()
    need_output()
    translator = load_together(args.model)
    by_hand = sys.stdin.isatty()
    if by_hand:
        say("type a sentence and press Enter; end with Ctrl-D (Windows: Ctrl-Z, Enter)")
    lines, done = read_lines(sys.stdin.buffer), 0
    with tqdm(unit="line", desc="translated", disable=by_hand or not sys.stderr.isatty()) as bar:
        while chunk := list(itertools.islice(lines, 1 if by_hand else CHUNK)):
            written = translator.translations(chunk, args.beams, args.alpha)
            for translation in written:
                # A model may write a line end; a line must stay a line.
                print(translation.text.replace("\r", " ").replace("\n", " "))
            sys.stdout.flush()
            for count, text in enumerate(chunk, done + 1):
                if slip := translator.slip(text):
                    say(f"line {count}: {slip}")
            if strange := [str(n) for n, each in enumerate(written, done + 1) if each.doubted]:
                say(f"line {', '.join(strange)}: {DOUBT}")
            done += len(chunk)
            bar.update(len(chunk))
