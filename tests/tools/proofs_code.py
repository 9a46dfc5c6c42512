# SPDX-License-Identifier: Apache-2.0
"""A library of one function, which tests of proofs run."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.machines import memory  # noqa: E402


class Code(memory.Library):
    """A library that is one function, f, at START."""

    START = 0x10000

    def __init__(self, code, variable=()):
        self.path = pathlib.Path("code")
        self.bytes = {0: bytes(64), self.START: bytes.fromhex(code) + bytes(8192)}
        self.functions, self.objects, self.outside, self.ambiguous = {"f": self.START}, {}, [], set()
        self.variable, self.linked = list(variable), set()
