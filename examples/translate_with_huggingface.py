"""Translate standard input: python translate_with_huggingface.py FOLDER < english.txt

FOLDER is what `python -m tutor export --to huggingface` wrote, or any other translation model of
theirs. Needs torch and transformers, and nothing of tutor.
"""

import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

folder = sys.argv[1] if sys.argv[1:] else sys.exit("usage: translate_with_huggingface.py FOLDER")
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSeq2SeqLM.from_pretrained(folder)

sys.stdin.reconfigure(encoding="utf-8-sig")
sys.stdout.reconfigure(encoding="utf-8", newline="\n")
for line in sys.stdin:
    batch = tokenizer([line.rstrip("\n")], return_tensors="pt", truncation=True)
    ids = model.generate(**batch) if line.strip() else [[]]
    print(tokenizer.decode(ids[0], skip_special_tokens=True), flush=True)
