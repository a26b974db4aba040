"""What a second training does, exactly and measured.

    python tests/benchmarks/rewarded.py

The last line is one JSON object. dpo_to_closed_form: largest difference of a probability from the
closed form, over all pairs of 48 texts, all weights and LoRA at full rank.
grpo_gradient_difference: of the mean over all groups of two from the exact gradient.
lora_merge_difference: of merged from unmerged log-probabilities. peft_difference: from the LoRA of
`peft`, null where it is missing.
share_right_before, share_right_after, kl, different_words, nats_above: medians over the seeds of
results.json, after GRPO with all weights. seeds: how many. seconds: of CPU, for all seeds.
"""

import json
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from test_rewarded import (
    closed_form_difference,
    grpo_gradient_difference,
    merge_difference,
    peft_difference,
)

from tutor.models.rewarded import load

try:
    from_peft = peft_difference()
except ImportError:
    from_peft = None
measured = load()
after = {what: median(numbers) for what, numbers in measured["runs"]["GRPO"].items()}
print(
    json.dumps(
        {
            "dpo_to_closed_form": max(map(closed_form_difference, (False, True))),
            "grpo_gradient_difference": grpo_gradient_difference(),
            "lora_merge_difference": merge_difference(),
            "peft_difference": from_peft,
            "share_right_before": median(measured["runs"]["before"]["right"]),
            "share_right_after": after["right"],
            "kl": after["kl"],
            "different_words": after["words"],
            "nats_above": after["nats"],
            "seeds": len(measured["seeds"]),
            "seconds": measured["cpu_seconds"],
        }
    )
)
