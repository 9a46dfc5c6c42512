# SPDX-License-Identifier: Apache-2.0
"""A program ends with its own exit code, whatever its daemon threads are doing."""
import os
import subprocess
import sys
from pathlib import Path

import polykem
import pytest

from exit_program import CALLS, CODE

PROGRAM = str(Path(__file__).with_name("exit_program.py"))


def available(name):
    if name.startswith("hpke."):
        return hasattr(polykem._core, "HpkeSuite")
    return name not in ("ckks.load", "ckks.save") or hasattr(polykem._core, "OpenfheContext")


@pytest.mark.parametrize("name", [name for name in CALLS if available(name)])
def test_a_daemon_thread_in_a_call(name, tmp_path):
    for _ in range(2):
        result = subprocess.run([sys.executable, PROGRAM, name], timeout=120, capture_output=True, text=True,
                                env={**os.environ, "EXIT_PROGRAM_FOLDER": str(tmp_path)})
        assert result.returncode == CODE and not result.stderr, result.stderr


FAILING = """
import sys, threading
import numpy as np
import polykem
ctx, started = polykem.Context(threads=1), threading.Event()
pk, bad = ctx.keygen("mlkem512", 1).pk, np.full((1, 800), 255, np.uint8)
secret = polykem.Secret(bytes(1632))
secret.wipe()
def work():
    while True:
        for call in (lambda: ctx.encaps("mlkem512", bad), lambda: ctx.keygen("mlkem512", 1, draws=b"short"),
                     lambda: ctx.decaps("mlkem512", secret, bytes(768)),
                     lambda: ctx.keygen("mlkem512", 1, out=(pk[0], pk[0]))):
            try:
                call()
            except polykem.Error:
                pass
        started.set()
threading.Thread(target=work, daemon=True).start()
started.wait(60)
sys.exit(7)
"""


def test_a_daemon_thread_whose_calls_fail():
    """Exceptions that the extension raises need Python, too."""
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", FAILING], timeout=120, capture_output=True, text=True)
        assert result.returncode == CODE and not result.stderr, result.stderr
