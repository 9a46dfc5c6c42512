# SPDX-License-Identifier: Apache-2.0
"""The types of polykem.bulk, as mypy --strict sees them."""

import os
import subprocess
import sys
from pathlib import Path

import polykem
import pytest
from known_answers import ROOT

PROGRAM = Path(__file__).with_name("typed_bulk.py")


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    package = Path(polykem.__file__).parent
    if not (package / "_core.pyi").is_file() or not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the stub of the extension, or the settings, are not here")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir",
               tmp_path]
    for what in (["-p", "polykem.bulk"], [PROGRAM]):
        result = subprocess.run([*command, *what], env={**os.environ, "MYPYPATH": str(package.parent)}, cwd=tmp_path,
                                capture_output=True, text=True, timeout=600)
        assert result.returncode == 0, result.stdout + result.stderr


def test_the_program_runs(place):
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "holds this job already" not in done.stdout and "began with other inputs" in done.stdout
