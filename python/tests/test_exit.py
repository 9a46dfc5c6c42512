# SPDX-License-Identifier: Apache-2.0
"""Tests that a program ends with its own exit code, whatever its daemon threads are doing."""
import json
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
    if name in ("ckks.load", "ckks.save"):
        return hasattr(polykem._core, "OpenfheContext")
    return not name.startswith("ckks.") or hasattr(polykem._core, "CkksContext")


@pytest.mark.parametrize("name", [name for name in CALLS if available(name)])
def test_a_daemon_thread_in_a_call(name, endings):
    assert endings[name] == [[CODE, ""]] * len(endings[name])


@pytest.fixture(scope="module")
def endings(tmp_path_factory):
    """{name: the exit code and the standard error of each of several endings}."""
    names = 2 * [name for name in CALLS if available(name)] + 3 * ["calls that fail"]
    folder = str(tmp_path_factory.mktemp("files"))
    done = subprocess.run([sys.executable, PROGRAM, *names], timeout=600, capture_output=True, text=True, check=True,
                          env={**os.environ, "EXIT_PROGRAM_FOLDER": folder})
    found = {}
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        found.setdefault(name, []).append(json.loads(line))
    return found
