# SPDX-License-Identifier: Apache-2.0
"""Bulk jobs: millions of keys, encapsulations or messages over Parquet and Arrow datasets, on a Ray cluster or here.

`polykem-bulk` is the program; `run`, `open_dataset`, `verify` and `export` are the same in Python (docs/bulk.md).
"""

from typing import TYPE_CHECKING

from .errors import BulkError

if TYPE_CHECKING:
    from .api import open_dataset, run
    from .inputs import Dataset
    from .job import Job, describe
    from .keys import Keys
    from .reader import export, open_column_key, verify
    from .recipient import make_pair
    from .secrets import make_key_file, read_key_file
    from .statuses import RowStatus

__all__ = ["BulkError", "Dataset", "Job", "Keys", "RowStatus", "describe", "export", "make_key_file", "make_pair",
           "open_column_key", "open_dataset", "read_key_file", "run", "verify"]

_PLACES = {"Dataset": "inputs", "Job": "job", "Keys": "keys", "RowStatus": "statuses", "describe": "job",
           "export": "reader", "make_key_file": "secrets", "make_pair": "recipient", "open_column_key": "reader",
           "open_dataset": "api", "read_key_file": "secrets", "run": "api", "verify": "reader"}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
