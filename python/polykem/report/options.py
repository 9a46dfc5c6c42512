# SPDX-License-Identifier: Apache-2.0
"""An argument parser that names an unknown option before one that is missing."""

from __future__ import annotations

import argparse
import difflib
from typing import Any


class UnknownOption(Exception):
    """An error with a sentence, and with the option that was probably meant, or ""."""

    def __init__(self, message: str, close: str) -> None:
        super().__init__(message)
        self.close = close


class Parser(argparse.ArgumentParser):
    """Raises UnknownOption first; argparse complains of what is missing, and suggests nothing."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._check_options(list(args or []))
        return super().parse_known_args(args, namespace)

    def _check_options(self, words: list[str]) -> None:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for word in words:
            name = word.partition("=")[0]
            if word == "--" or (self._subparsers and not word.startswith("-")):
                return  # the rest is no option, or another parser's
            if not name.startswith("--") or name in known:
                continue
            if self.allow_abbrev and any(option.startswith(name) for option in known):
                continue
            close = difflib.get_close_matches(name, known, 1)
            raise UnknownOption(f"{self.prog} has no option '{name[:40]}'", close[0] if close else "")
