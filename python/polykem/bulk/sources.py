# SPDX-License-Identifier: Apache-2.0
"""Finds the input of a column. NAME is a column that only one input has; N:NAME is that of input N, counted from 1."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .errors import DATA, USAGE, BulkError

if TYPE_CHECKING:
    from .inputs import Dataset

QUALIFIED = re.compile(r"([0-9]+):(.+)", re.DOTALL)
ColumnSource = tuple[int, str]  # number of an input, name of a column


def find(inputs: Sequence[Dataset], text: str, option: str) -> ColumnSource:
    """Returns (number of the input, name of the column) for NAME or N:NAME.

    Parameters
    ----------
    inputs : sequence of polykem.bulk.inputs.Dataset
    text : str
    option : str
        The text before the name on a command line, for the error: "--column pk=".
    """
    match = QUALIFIED.fullmatch(text)
    number, name = of_input(inputs, match[1], match[2]) if match else of_any(inputs, text, option)
    if name in inputs[number - 1].repeated:
        raise BulkError(f"input {number} ({inputs[number - 1].path}) has several columns '{name}'", DATA,
                        "rename all but one")
    return number, name


def of_any(inputs: Sequence[Dataset], text: str, option: str) -> ColumnSource:
    """Returns (number, name) of a column that only one input has."""
    holders = [number for number, dataset in enumerate(inputs, 1) if text in dataset.types]
    if not holders:
        raise BulkError(f"no input has a column '{text}'", DATA, columns_hint(inputs))
    if len(holders) > 1:
        raise BulkError(f"several inputs have a column '{text}': "
                        + ", ".join(f"{number} ({inputs[number - 1].path})" for number in holders), USAGE,
                        "say which: " + " or ".join(f"{option}{number}:{text}" for number in holders))
    return holders[0], text


def of_input(inputs: Sequence[Dataset], digits: str, name: str) -> ColumnSource:
    """Returns (number, name) of a column of the input with that number."""
    if len(digits) > 9 or not 1 <= int(digits) <= len(inputs):
        raise BulkError(f"'{digits}:{name}' names input {digits}, but there are {len(inputs)}", USAGE,
                        "inputs are counted from 1, in the order of --input")
    dataset = inputs[int(digits) - 1]
    if name not in dataset.types:
        raise BulkError(f"input {digits} ({dataset.path}) has no column '{name}'", DATA,
                        "it has " + (", ".join(dataset.types) or "no column"))
    return int(digits), name


def columns_hint(inputs: Sequence[Dataset]) -> str:
    names = sorted({name for dataset in inputs for name in dataset.types})
    return "the inputs have " + (", ".join(names) or "no column")


def check_rotation(inputs: Sequence[Dataset], found: dict[str, ColumnSource], names: Mapping[str, str]) -> None:
    """Raises if the new keys' column was found beside the old keys: it may be theirs, and nothing would change."""
    if not {"sk", "to_pk"} <= set(found) or QUALIFIED.fullmatch(names.get("to_pk", "")):
        return
    number, name = found["to_pk"]
    if number == found["sk"][0]:
        raise BulkError(f"the new public keys would be column '{name}' of input {number} ({inputs[number - 1].path}), "
                        "which has the old secret keys too", USAGE,
                        f"add the new keys as another --input, or, if the keys are to stay, say --column "
                        f"to_pk={number}:{name}")
