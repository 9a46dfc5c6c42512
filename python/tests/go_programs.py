# SPDX-License-Identifier: Apache-2.0
"""Builds the Go programs of tests/interop."""

import os
import re
import shutil
import subprocess

import pytest

from known_answers import ROOT


def go_program(name, version, folder):
    """Builds the program tests/interop/`name` in `folder`; it needs Go `version`."""
    go = shutil.which("go") or pytest.skip(f"needs Go {version}")
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    built = subprocess.run([go, "build", "-o", folder / name, "."], cwd=ROOT / "tests/interop" / name,
                           capture_output=True, text=True, env=environment)
    if re.search(rf"requires go (>= )?{version}", built.stderr, re.I):
        pytest.skip(f"needs Go {version}")
    assert built.returncode == 0, built.stderr
    return folder / name
