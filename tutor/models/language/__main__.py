"""Compute these results again: `python -m tutor.models.language`."""

import json

from tutor.models.language import FOLDER, truth

rows = ",\n".join(json.dumps(row) for row in truth())
(FOLDER / "truth.json").write_text(f"[\n{rows}\n]\n", encoding="utf-8")
print("saved truth.json")
