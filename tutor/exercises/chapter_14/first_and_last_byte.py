"""Where a tensor stands in its file."""

from tutor.check.exercise import PREDICT, Exercise

first_and_last_byte = Exercise(
    name="first_and_last_byte",
    chapter="14",
    section="What safetensors holds",
    kind=PREDICT,
    title="Where does it stand?",
    goal="Find a tensor in a file without a program.",
    difficulty=2,
    importance=3,
    minutes=6,
    text="""\
The first 8 bytes of a safetensors file hold the number 248. An entry of its header reads

    "embedding.weight": {"dtype": "F32", "shape": [100, 64], "data_offsets": [512, ...]}

**Predict**, counted from the beginning of the **file**: at which byte does this tensor begin, and
at which byte does the next one begin? (The tensors stand one behind another.) A list of two whole
numbers.""",
    hints=(
        "Three things stand in front of the tensor: the length of the header, the header, and "
        "other tensors.",
        "It begins at 8 + 248 + 512.",
        "A float32 number takes 4 bytes, and there are 100 times 64 of them.",
    ),
    stub="first_and_last_byte = None  # a list of two whole numbers, such as [10, 20]",
    solution="first_and_last_byte = [8 + 248 + 512, 8 + 248 + 512 + 100 * 64 * 4]",
    because="8 + 248 + 512 = 768, and 6,400 numbers of 4 bytes each.",
    reference=[768, 26368],
    mistakes=(
        (
            "The offsets are counted from the end of the header, not from the beginning of the "
            "file.",
            [512, 26112],
        ),
        ("The eight bytes that hold the length stand in front, too.", [760, 26360]),
        ("The header stands in front, too: 248 bytes.", [520, 26120]),
        ("F32 means 32 bits, which are 4 bytes a number, not 2.", [768, 13568]),
        ("Count bytes, not numbers: a float32 number takes 4 bytes.", [768, 7168]),
        ("F32 means 32 bits, which are 4 bytes, not 32.", [768, 205568]),
        ("The second number is a place, not a length.", [768, 25600]),
        ("A shape of [100, 64] has 100 times 64 numbers, not 100 and 64.", [768, 1424]),
        ("That is the last byte of this tensor. The next one begins one byte later.", [768, 26367]),
    ),
    wrong={
        "first_and_last_byte = [512, 512 + 25600]": "counted from the end of the header",
        "first_and_last_byte = [248 + 512, 248 + 512 + 25600]": "eight bytes",
        "first_and_last_byte = [8 + 512, 8 + 512 + 25600]": "248 bytes",
        "first_and_last_byte = [768, 768 + 12800]": "not 2",
        "first_and_last_byte = [768, 768 + 6400]": "Count bytes",
        "first_and_last_byte = [768, 25600]": "not a length",
        "first_and_last_byte = [768, 26367]": "one byte later",
        "first_and_last_byte = 768": "a list is wanted",
    },
    right=(
        "first_and_last_byte = (768, 26368)",
        "first_and_last_byte = torch.tensor([768, 26368])",
    ),
)
