"""Where mistakes were seen: what `Exhibit.seen` says, with a link and the date or commit of each.

Pages are mended, so nothing here is said of today: a thread bears the month in which it was opened.
"""


def thread(project, number, month, note=""):
    """A thread of "owner/name" on GitHub. The address leads to pull requests, too."""
    return f"[{project}#{number}](https://github.com/{project}/issues/{number}), {month}{note}"


def at_commit(words, project, commit, path):
    """A file of "owner/name" on GitHub as it was at `commit`, all 40 digits."""
    return f"[{words}](https://github.com/{project}/blob/{commit}/{path}), commit {commit[:7]}"


# ---- the four tutorials that this course started from; two of them bear no date

OUR_COPY = "in the copy that this course started from in November 2026"

KOSMIDER = (
    "[Kosmider, *Transformer Tutorial with PyTorch*]"
    f"(https://michaelkosmider.github.io/transformertutorial/), {OUR_COPY}"
)
KOSMIDER_RELEASE = (
    "release 0.1.1, August 2025, of [its code]"
    "(https://github.com/michaelkosmider/transformer_tutorial_code)"
)
KOSMIDER_MENDED = f"{KOSMIDER}; right in {KOSMIDER_RELEASE}"
KOSMIDER_CODE = "michaelkosmider/transformer_tutorial_code"
KOSMIDER_SEARCH = "transformer_components/transformer_encoder_decoder.py"
KOSMIDER_BEAMS = "; ".join(
    at_commit(words, KOSMIDER_CODE, commit, KOSMIDER_SEARCH)
    for words, commit in (
        ("Kosmider's beam search", "9b1b6152e2fb241e41d381e8542cf21e40a417b6"),
        ("mended", "03b573918b057b5694dc63d3767aa8cdc9288406"),
    )
)
KOSMIDER_CACHE = "; ".join(
    [
        at_commit(
            "Kosmider's beam search with a cache",
            KOSMIDER_CODE,
            "3e0198e00742ecf2346bba7c34ff48f28b93230c",
            KOSMIDER_SEARCH,
        ),
        KOSMIDER_RELEASE,
    ]
)
KOSMIDER_DEMO = at_commit(
    "Kosmider's notebook",
    KOSMIDER_CODE,
    "3e0198e00742ecf2346bba7c34ff48f28b93230c",
    "demo/demo.ipynb",
)
KZAJAC97 = at_commit(
    "kzajac97, *Reconstructing Transformer*",
    "kzajac97/reconstructing-transformer",
    "3d83527efcae71255186514adc8e077b761548c5",
    "notebooks/reconstructing-transformer.ipynb",
)
# Of these two the author's page is known for certain, so the link leads there.
WORDEN = (
    "[Worden](https://medium.com/@drewpworden), "
    "*Under the Hood: Transformer Architecture*, 28 April 2024"
)
LEPELAARS = f"[Lepelaars](https://wandb.ai/carlolepelaars), *Transformer Deep Dive*, {OUR_COPY}"

# ---- public threads

PYTORCH = "pytorch/pytorch"
FLOAT_MASK = thread(PYTORCH, 21518, "June 2019")
EMPTY_ROW = "; ".join([thread(PYTORCH, 41508, "July 2020"), thread(PYTORCH, 103963, "June 2023")])
OPPOSITE_MASKS = "; ".join(
    [
        thread("rasbt/LLMs-from-scratch", 1061, "August 2026", ", mended by thread 1062"),
        thread(PYTORCH, 120668, "February 2024", ", a warning for the documentation"),
    ]
)
NORM_AND_RESIDUAL = thread(PYTORCH, 61165, "July 2021", ", mended by thread 61692")

ANNOTATED = "harvardnlp/annotated-transformer"
ANNOTATED_VARIANCE = thread(ANNOTATED, 122, "April 2024")
ANNOTATED_ORDER = "; ".join(
    [
        thread(ANNOTATED, 1, "April 2018"),
        thread(ANNOTATED, 13, "May 2018"),
        thread(ANNOTATED, 92, "May 2022"),
        at_commit(
            "its code, with a comment that says so",
            ANNOTATED,
            "0a91a254735c07532e23733dce8a693e504f3a08",
            "the_annotated_transformer.py",
        ),
    ]
)
BERT_EPSILON = thread("codertimo/BERT-pytorch", 30, "October 2018")
BERT_POSITIONS = thread("codertimo/BERT-pytorch", 18, "October 2018", ", mended by thread 24")
DOUBLED_EXPONENT = thread("SamLynnEvans/Transformer", 25, "September 2020")
ODD_WIDTH = thread("zhouhaoyi/Informer2020", 224, "September 2021")

KERAS_TRANSLATOR = thread("keras-team/keras-io", 1997, "November 2024", ", which mended it")
SUM_OF_LOSSES = thread("huggingface/transformers", 7546, "October 2020")
CACHE_OF_BEAMS = thread("huggingface/transformers", 46612, "June 2026", ", mended by thread 46819")
OFFSET = thread("skyzh/tiny-llm", 46, "August 2025", ", which mended an offset that counted wrong")
TOKENS_TO_SACREBLEU = thread("mjpost/sacrebleu", 162, "September 2021", ", about its warning")

# ---- since 2017

TRANSFORMERS = "huggingface/transformers"
TWO_LAYOUTS = "; ".join(
    [
        thread(TRANSFORMERS, 25199, "July 2023", ", which asks why the two differ"),
        thread("rasbt/LLMs-from-scratch", 750, "July 2025", ", which put weights in order"),
    ]
)
ROTATED_VALUES = thread(
    "lucidrains/x-transformers", 182, "September 2023", ", an early choice, since removed"
)
NORM_AND_ROTATION = thread("meta-pytorch/torchtune", 2809, "June 2025")
ALIBI_SIGN = thread("meta-pytorch/attention-gym", 86, "December 2024", ", which mended it")
GROUPS_IN_ORDER = "; ".join(
    [
        thread("apple/axlearn", 842, "November 2024", ", which mended it"),
        thread("onnx/onnx", 7274, "September 2025", ", which mends it"),
    ]
)
RMS_OR_VARIANCE = thread("keras-team/keras", 22393, "March 2026")
WINDOW_BY_ONE = "; ".join(
    [
        thread(TRANSFORMERS, 39408, "July 2025"),
        thread("ml-explore/mlx-lm", 390, "August 2025", ", which mended it"),
    ]
)
PACKED_DOCUMENTS = thread("huggingface/nanoVLM", 204, "April 2026", ", which mends it")
CACHE_AT_ZERO = thread("Blaizzy/mlx-vlm", 1983, "August 2026")
TURNED_BEFORE = thread(TRANSFORMERS, 25104, "July 2023")
LATENT_SCALE = "; ".join(
    [
        thread("ollama/ollama", 13893, "January 2026", ", which mended it"),
        thread("vllm-project/vllm", 41569, "May 2026", ", which mended it"),
    ]
)
ROWS_OF_ZEROS = "; ".join(
    [
        thread("openvinotoolkit/openvino", 28326, "January 2025", ", which mended it"),
        thread("huggingface/kernels-community", 681, "April 2026"),
    ]
)
SHIFTED_TWICE = "; ".join(
    [
        thread(TRANSFORMERS, 44642, "March 2026", ", which words the documentation"),
        thread(TRANSFORMERS, 46898, "June 2026", ", which mended it"),
    ]
)

# ---- around the model: what circulates most, read in November 2026

MICRO_BATCHES = "; ".join(
    [
        thread("ml-explore/mlx-lm", 1413, "June 2026"),
        thread("huggingface/blog", 2414, "October 2024", ", a report on their own trainer"),
    ]
)
TWO_SOFTMAXES = "; ".join(
    [
        thread("bowang-lab/Transformer-GCN-QA", 32, "June 2019", ", which mended it"),
        thread("lansinuote/Huggingface_Toturials", 6, "September 2026"),
    ]
)
PADDED_WITH_EOS = thread("NVIDIA-NeMo/Megatron-Bridge", 4660, "July 2026", ", which mended it")
LEFT_IN_EVAL = "; ".join(
    [
        thread("fartashf/vsepp", 4, "January 2018"),
        thread("wkentaro/pytorch-fcn", 56, "October 2017", ", since mended"),
    ]
)
WARM_UP_BY_EPOCHS = thread("coqui-ai/TTS", 1611, "May 2022")
PLACES_OF_PADDING = "; ".join(
    [
        thread(TRANSFORMERS, 33095, "August 2024"),
        thread("TransformerLensOrg/TransformerLens", 1609, "August 2026"),
    ]
)
TWO_STARTS = "; ".join(
    [
        thread("huggingface/open-r1", 462, "March 2025"),
        thread("ggml-org/llama.cpp", 7107, "May 2024"),
    ]
)
FILL_TOO_LARGE = "; ".join(
    [thread("NVIDIA/apex", 1105, "May 2021"), thread("facebookresearch/fairseq", 3575, "May 2021")]
)
PLACES_OF_SENTENCES = "; ".join(
    [
        thread("tanjimin/C.Origami", 42, "April 2024"),
        thread("songyangco/GETNext", 2, "October 2022", ", which asks"),
    ]
)
PLAIN_LIST = "; ".join(
    [
        thread("maruya24/pytorch_robotics_transformer", 3, "October 2023", ", since mended"),
        thread(PYTORCH, 666, "February 2017", ", which asks"),
    ]
)
ONE_LAYER_MANY_TIMES = "; ".join(
    [
        thread("zalandoresearch/pytorch-vq-vae", 2, "June 2019"),
        thread("linkedin/Liger-Kernel", 269, "September 2024", ", which mended it"),
    ]
)
LOST_TIE = thread(TRANSFORMERS, 43429, "January 2026", ", which mended it")
DEAD_PROJECTION = "; ".join(
    [
        thread("helicalAI/helical", 405, "July 2026", ", which mended it"),
        thread("speechbrain/speechbrain", 2780, "December 2024"),
    ]
)
PADDED_PREFERENCE = "; ".join(
    [
        thread("0xallam/Direct-Preference-Optimization", 4, "October 2025"),
        thread("huggingface/trl", 6803, "August 2026", ", in what is logged"),
    ]
)
BOTH_ARE_ONE = "; ".join(
    [
        thread("huggingface/trl", 1843, "July 2024", ", where nothing moves"),
        thread("huggingface/trl", 892, "October 2023", ", which asks"),
    ]
)
MEAN_OVER_TOKENS = "; ".join(
    [
        thread("huggingface/trl", 3138, "March 2025"),
        thread("verl-project/verl", 593, "March 2025", ", which asks"),
    ]
)
