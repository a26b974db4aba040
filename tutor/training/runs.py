"""The record of trainings: loss and tokens of every step, as CSV, and several of them in one plot.

from tutor.training import runs
runs.plot(["models/first", "models/second"])

The same for TensorBoard, where that is installed: runs.to_tensorboard([...], "events").
"""

import csv
import io
from pathlib import Path

from tutor.training.checkpoint import HISTORY
from tutor.training.loop import History

COLUMNS = ["step", "loss", "target_tokens"]
MAX_BYTES = 200_000_000  # of a history: some five million steps


def to_csv(history):
    """A History as CSV: a line for each step, counted from 1; the loss in nats a target token."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = zip(history.loss, history.tokens, strict=True)
    writer.writerows((step, *row) for step, row in enumerate(rows, 1))
    return text.getvalue()


def read(folder):
    """The History of a training, from its model folder or from the one it is training in.

    `seconds` is 0: training.json has it. Raises FileNotFoundError or ValueError.
    """
    folder = Path(folder).expanduser()
    paths = [folder / HISTORY, training_folder(folder) / HISTORY]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise FileNotFoundError(
            f"{folder} holds no {HISTORY}: name the folder that `python -m tutor train` wrote."
        )
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    history = History()
    try:
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        head, *rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
        if head != COLUMNS:
            raise ValueError(f"the columns must be {', '.join(COLUMNS)}")
        for number, (step, loss, tokens) in enumerate(rows, 1):
            if int(step) != number:
                raise ValueError(f"line {number + 1} is not step {number}")
            history.loss.append(float(loss))
            history.tokens.append(int(tokens))
    except (ValueError, csv.Error) as error:
        raise ValueError(
            f"{path} is not the history of a training ({str(error)[:100]}): train again."
        ) from None
    return history


def training_folder(folder):
    """Where a training keeps what it needs to go on, until its model is saved in `folder`."""
    folder = Path(folder).expanduser().resolve()
    return folder.with_name(folder.name + ".training")


def plot(folders, window=50):
    """Draw the loss of several trainings over one another, a running mean over `window` steps."""
    from tutor import figures  # takes long to import, and training needs none

    lines, ends = {}, []
    for folder in folders:
        loss = read(folder).loss
        width = min(window, len(loss))
        means = [sum(loss[i - width : i]) / width for i in range(width, len(loss) + 1)]
        name = Path(folder).name
        lines[name if name not in lines else str(folder)] = (range(width, len(loss) + 1), means)
        ends.append(f"{name} from {means[0]:.2f} to {means[-1]:.2f} in {len(loss):,} steps")
    figures.curves(
        lines,
        "step",
        "loss, nats a target token",
        f"Running mean over at most {window} steps of the loss of {len(lines)} trainings.",
        alt=f"Training loss against the step: {'; '.join(ends)}.",
    )


def to_tensorboard(folders, logdir):
    """Write the loss of several trainings for `tensorboard --logdir LOGDIR`.

    Each gets a folder of its own in `logdir`, named as its model is. Raises ModuleNotFoundError
    where TensorBoard is not installed, FileExistsError for a folder that is there already, and what
    `read` raises; then nothing is written.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ModuleNotFoundError(
            "TensorBoard is not installed: python -m pip install tensorboard"
        ) from None
    histories = {}
    for folder in folders:
        events = Path(logdir).expanduser() / Path(folder).name
        if events.exists() or events in histories:
            raise FileExistsError(f"{events} is there already: name another folder for the events.")
        histories[events] = read(folder)
    for events, history in histories.items():
        with SummaryWriter(events) as writer:
            for step, loss in enumerate(history.loss, 1):
                writer.add_scalar("loss, nats a target token", loss, step)
