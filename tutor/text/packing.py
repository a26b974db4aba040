"""Documents laid end to end in rows of one length, so that little is padding (chapter 18)."""

from typing import NamedTuple

import torch

from tutor.attention import PAD
from tutor.text.tokenizer import BOS, EOS


class PackedBatch(NamedTuple):
    """Ids of packed documents, (N, T) each; what no document fills is 0.

    ids: each document begins with BOS; targets: the same one step later, each ends with EOS;
    documents: the number of each token's document, from 1 on in each row.
    """

    ids: torch.Tensor
    targets: torch.Tensor
    documents: torch.Tensor

    def to(self, device):
        return PackedBatch(*(ids.to(device, non_blocking=True) for ids in self))


def fill_rows(sizes, length):
    """Which documents share a row: lists of indices into `sizes`, together at most `length`.

    Each goes, in order, into the first row with room for it (first fit). Raises ValueError for a
    document that fits in no row.
    """
    rows, room = [], []
    for index, size in enumerate(sizes):
        if size > length:
            raise ValueError(
                f"Document {index} has {size} tokens, more than a row's {length}: cut it, or take "
                "longer rows."
            )
        row = next((row for row, left in enumerate(room) if size <= left), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(length)
        rows[row].append(index)
        room[row] -= size
    return rows


def pack(documents, length):
    """A PackedBatch of `documents`, lists of ids without special tokens, in rows of `length`."""
    rows = fill_rows([len(ids) + 1 for ids in documents], length)
    packed = torch.full((3, len(rows), length), PAD)
    for row, members in zip(packed.unbind(1), rows, strict=True):  # row: (3, length)
        start = 0
        for number, index in enumerate(members, start=1):
            ids = documents[index]
            here = slice(start, start + len(ids) + 1)
            row[0, here] = torch.tensor([BOS, *ids])
            row[1, here] = torch.tensor([*ids, EOS])
            row[2, here] = number
            start = here.stop
    return PackedBatch(*packed)
