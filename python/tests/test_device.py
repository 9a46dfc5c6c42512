# SPDX-License-Identifier: Apache-2.0
"""Tests arrays on a GPU, as far as possible without one: CuPy's interface over tests/cuda_module's simulated device."""
import os
import subprocess
import sys
from pathlib import Path

import polykem
import pytest

HERE = Path(__file__).resolve().parent


def test_arrays_on_the_simulated_device(tmp_path):
    module = os.environ.get("POLYKEM_SIMULATED_DEVICE", "")
    if not Path(module).is_file():
        pytest.skip("POLYKEM_SIMULATED_DEVICE names no module (ctest sets it)")
    environment = {**os.environ, "POLYKEM_CUDA_MODULE": module, "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run([sys.executable, str(HERE / "device_program.py")], env=environment, timeout=120,
                            capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout == "passed\n", result.stderr


class OnAnUnknownGpu:
    def __dlpack_device__(self):
        return (2, 0)


def test_arrays_of_other_libraries_on_a_gpu(ctx):
    with pytest.raises(polykem.ArgumentError, match="cupy.from_dlpack"):
        ctx.encaps("mlkem768", OnAnUnknownGpu())


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_arrays_on_a_gpu(name):
    library = pytest.importorskip(name)
    if not polykem.backends()[0].available:
        pytest.skip(polykem.backends()[0].requirements)
    with polykem.Context(backend="cuda") as ctx:
        pk, sk = ctx.keygen("mlkem768", 1000)
        there = library.asarray(pk).cuda() if name == "torch" else library.asarray(pk)
        ct, ss, _ = ctx.encaps("mlkem768", there)
        back = ct.cpu().numpy() if name == "torch" else library.asnumpy(ct)
        assert ctx.decaps("mlkem768", sk, back).ss == ss.export()
