# SPDX-License-Identifier: Apache-2.0
"""Shows a bar on standard error if that is a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

WIDTH = 30


class Progress:
    def __init__(self, quiet: bool, stream: Any = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = not quiet and self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()

    def __call__(self, done: float, what: str) -> None:
        if not self._shown:
            return
        filled = round(WIDTH * done)
        bar = "#" * filled + "." * (WIDTH - filled)
        line = f"[{bar}] {100 * done:3.0f} % {time.monotonic() - self._start:4.0f} s  {what}"
        self._stream.write(f"\r{line:<79.79}")
        self._stream.flush()

    def clear(self) -> None:
        if self._shown:
            self._stream.write("\r" + " " * 79 + "\r")
            self._stream.flush()
