# SPDX-License-Identifier: Apache-2.0
"""Describes how the job in a folder differs from the one that a command asks for."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .column import Json

if TYPE_CHECKING:
    from .job import Job

WORDS = {"partition_rows": "number of rows of a partition", "group_rows": "number of rows of a row group",
         "to_scheme": "suite of the new keys", "reads": "list of columns that are read",
         "writes": "list of columns that are written", "keep": "list of columns that are copied",
         "constants": "list of columns that are one record", "secrets": "protection of secret columns"}
APART = ("id", "secrets", "secret_check", "mac", "inputs")  # compared elsewhere, or not at all


def of_jobs(old: Job, new: Job) -> str | None:
    """Describes the first field that differs, inputs aside; returns None if all are equal."""
    for one in dataclasses.fields(old):
        mine, theirs = getattr(old, one.name), getattr(new, one.name)
        if one.name not in APART and mine != theirs:
            return difference(one.name, mine, theirs)
    if old.secrets.get("kind") != new.secrets.get("kind"):
        return difference("secrets", old.secrets.get("kind"), new.secrets.get("kind"))
    return None


def difference(name: str, mine: object, theirs: object) -> str:
    mine, theirs = in_words(mine), in_words(theirs)
    if mine == theirs:
        return f"its {WORDS.get(name, name)} has the same names but different contents"
    return f"its {WORDS.get(name, name)} is {mine}, not {theirs}"


def in_words(value: object, limit: int = 120) -> str:
    """Returns a field's value as one line."""
    if isinstance(value, list):
        value = ", ".join(f"{column.source}:{column.name}" if column.source else column.name for column in value)
    elif isinstance(value, dict):
        value = ", ".join(value)
    text = str(value)
    return "empty" if text == "" else text if len(text) <= limit else text[:limit] + "..."


def of_inputs(old: list[Json], new: list[Json]) -> tuple[str | None, bool]:
    """Describes what has changed in a job's inputs since job.json recorded them.

    Returns
    -------
    tuple of (str or None, bool)
        A sentence, if anything has changed; and whether only the times of files have.
    """
    if len(old) != len(new):
        return f"it has {len(old)} inputs, not {len(new)}", False
    touched = None
    for number, (mine, theirs) in enumerate(zip(old, new), 1):
        if mine["path"] != theirs["path"]:
            return f"its input {number} is {mine['path']}, not {theirs['path']}", False
        for what, only_time in files_that_differ(mine["files"], theirs["files"]):
            sentence = f"its input {number} ({mine['path']}) has changed: {what}"
            if not only_time:
                return sentence, False
            touched = touched or sentence
    return touched, touched is not None


def files_that_differ(old: list[Json], new: list[Json]) -> Iterator[tuple[str, bool]]:
    """Yields (what has changed, whether only its time has) for each file of an input."""
    then, now = ({file["name"]: file for file in files} for files in (old, new))
    for name in sorted(set(then) | set(now)):
        if name not in now:
            yield f"{name} is no longer there", False
        elif name not in then:
            yield f"{name} was not there when the job began", False
        elif then[name] != now[name]:
            yield file_difference(name, then[name], now[name])


def file_difference(name: str, then: Json, now: Json) -> tuple[str, bool]:
    for what in ("rows", "bytes"):
        if then.get(what) != now.get(what):
            return f"{name} has {now.get(what):,} {what}, but had {then.get(what):,}", False
    if then.get("footer") != now.get("footer") or then.get("sha256") != now.get("sha256"):
        return f"{name} has different contents", False
    return f"{name} was written again at {clock(now['time'])} (before: {clock(then['time'])})", True


def clock(nanoseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(nanoseconds / 1e9))
