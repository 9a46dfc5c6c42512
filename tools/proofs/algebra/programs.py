# SPDX-License-Identifier: Apache-2.0
"""Programs in C that proofs run, compiled for this CPU."""

import functools
import subprocess
import tempfile
from pathlib import Path

_folder = tempfile.TemporaryDirectory()


@functools.cache
def compiled(text: str) -> Path:
    """Returns the program of a source text, which is compiled the first time, once in each process."""
    program = Path(tempfile.mkdtemp(dir=_folder.name), "program")
    program.with_suffix(".c").write_text(text)
    options = ("-O3", "-march=native", "-fwrapv", "-w")
    subprocess.run(["cc", *options, "-o", program, program.with_suffix(".c")], check=True)
    return program
