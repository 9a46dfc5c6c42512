# SPDX-License-Identifier: Apache-2.0
"""Tests `pip install .` in a fresh environment, and ten lines with the installed package."""
import os
import shutil
import subprocess
import sys
import venv

import pytest

from known_answers import ROOT

PROGRAM = """
import polykem
ctx = polykem.Context()
pk, sk = ctx.keygen("mlkem768", 1000)
ct, ss, status = ctx.encaps("mlkem768", pk)
assert ctx.decaps("mlkem768", sk, ct).ss == ss
print(polykem.__version__, polykem.__file__, polykem._core.__file__)
"""


CKKS = """
from polykem import ckks
assert "128 bits" in str(ckks.Parameters.choose(14, 4))
"""


def install(tmp_path, python=None, vectors="avx512", ckks="ON"):
    """Returns a new environment of `python` with the package, and the environment variables to build with."""
    folder = tmp_path / "fresh"
    if python is None:
        venv.create(folder, with_pip=True)
    else:
        subprocess.run([python, "-m", "venv", folder], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "POLYKEM_CUDA")}
    environment["CMAKE_ARGS"] = f"-DPOLYKEM_VECTORS={vectors}"
    environment["POLYKEM_CKKS"] = ckks
    if shutil.which("ccache"):
        environment.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache")
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", ROOT],
                   check=True, env=environment, timeout=1500)
    return folder / "bin" / "python", environment


def files_of(python, environment, tmp_path):
    result = subprocess.run([python, "-c", PROGRAM], check=True, env=environment, cwd=tmp_path, timeout=120,
                            capture_output=True, text=True)
    version, package, core = result.stdout.split()
    assert package.startswith(os.fspath(tmp_path)) and core.startswith(os.fspath(tmp_path))
    return version, os.path.dirname(package), core


@pytest.mark.install
@pytest.mark.parametrize("vectors, ckks", [("none", "ON"), pytest.param("avx512", "OFF", marks=pytest.mark.long)])
def test_a_fresh_environment(tmp_path, vectors, ckks):
    """The package is complete, and has CKKS only if asked for. Vector backends take most of the compiler's time."""
    python, environment = install(tmp_path, vectors=vectors, ckks=ckks)
    version, package, core = files_of(python, environment, tmp_path)
    project = (ROOT / "CMakeLists.txt").read_text()
    assert f"project(polykem VERSION {version} " in project
    shown = subprocess.run([python, "-m", "pip", "show", "-f", "polykem"], env=environment, check=True, text=True,
                           capture_output=True).stdout
    assert f"Version: {version}\n" in shown
    has_ckks = subprocess.run([python, "-c", CKKS], env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert (has_ckks.returncode == 0) == (ckks == "ON")
    installed = {os.path.join("polykem", name) for name in os.listdir(package)}
    assert {"polykem/py.typed", "polykem/_core.pyi", "polykem/__init__.py"} <= installed
    assert not any(line.strip().startswith(("include/", "lib/", "bin/")) for line in shown.splitlines())
    symbols = subprocess.run(["nm", "-D", "--defined-only", core], capture_output=True, text=True).stdout
    assert "PyInit__core" in symbols and " polykem_run" not in symbols


def interpreter(name):
    """Returns an interpreter's path if it runs: a version manager may have the name of one that is not chosen."""
    path = shutil.which(name)
    runs = path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
    return path if runs else None


@pytest.mark.install
@pytest.mark.long
def test_the_stable_abi(tmp_path):
    """A package that Python 3.12 has built runs in 3.13, too."""
    builder, user = interpreter("python3.12"), interpreter("python3.13")
    if builder is None or user is None or sys.platform != "linux":
        pytest.skip("needs python3.12 and python3.13")
    python, environment = install(tmp_path, builder)
    _, package, core = files_of(python, environment, tmp_path)
    assert core.endswith(".abi3.so")
    subprocess.run([user, "-m", "venv", tmp_path / "other"], check=True)
    other = tmp_path / "other" / "bin"
    needs = ["numpy", "pytest", "hypothesis"]
    subprocess.run([other / "pip", "install", "--quiet", "--disable-pip-version-check", *needs], check=True,
                   env=environment)
    environment["PYTHONPATH"] = os.path.dirname(package)
    shutil.rmtree(os.path.join(os.path.dirname(package), "numpy"))  # of the other version
    subprocess.run([other / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long and not install",
                    ROOT / "python" / "tests", ROOT / "ckks" / "python" / "tests"], check=True, env=environment)
