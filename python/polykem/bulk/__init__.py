# SPDX-License-Identifier: Apache-2.0
"""Bulk jobs: millions of keys, encapsulations or messages over Parquet and Arrow datasets, on a Ray cluster or here.

`polykem-bulk` is the program; `describe`, `run`, `Dataset` and `verify` are the same in Python (docs/bulk.md).
"""

from .errors import BulkError

__all__ = ["BulkError", "Dataset", "Job", "Keys", "describe", "export", "open_column_key", "run", "verify"]

_PLACES = {"Dataset": "inputs", "Job": "job", "describe": "job", "Keys": "driver", "run": "driver", "export": "reader",
           "open_column_key": "reader", "verify": "reader"}


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)
