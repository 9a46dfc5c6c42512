# SPDX-License-Identifier: Apache-2.0
"""Tests the types, with mypy --strict, and what Python shows of the package: names, pickles, representations."""
import copy
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polykem
import pytest

from known_answers import ROOT

PROGRAM = Path(__file__).with_name("typed_program.py")
OF_BULK = Path(__file__).with_name("bulk") / "typed_bulk.py"
ADDRESS = re.compile("0x[0-9a-f]+")  # its digits differ in every process


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    pytest.importorskip("polykem.hpke", exc_type=ImportError)
    pytest.importorskip("polykem.ckks", exc_type=ImportError)
    package = Path(polykem.__file__).parent
    if not (package / "_core.pyi").is_file():
        pytest.skip("this build has no stub of the extension")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "--config-file",
         str(ROOT / "pyproject.toml"), str(package), str(PROGRAM), str(OF_BULK)],
        env={**os.environ, "MYPYPATH": str(package.parent)}, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_program_runs():
    pytest.importorskip("polykem.hpke", exc_type=ImportError)
    pytest.importorskip("polykem.ckks", exc_type=ImportError)
    subprocess.run([sys.executable, str(PROGRAM)], check=True, timeout=120)


@pytest.mark.parametrize("name", ["polykem", "polykem.hpke", "polykem.ckks", "polykem.report"])
def test_names(name):
    """dir(), which completion uses, has exactly the public names, and so has import *."""
    module = pytest.importorskip(name, exc_type=ImportError)
    submodules = {"bulk", "ckks", "hpke", "report"} if name == "polykem" else set()
    assert set(module.__all__) <= set(dir(module)) <= {*module.__all__, *submodules}
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, each) for each in dir(module))
    namespace = {}
    exec(f"from {name} import *", namespace)
    assert set(module.__all__) <= set(namespace)


def test_dir_of_the_package_in_a_new_process():
    program = "import polykem; assert dir(polykem) == sorted(polykem.__all__), dir(polykem)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ---- pickle and copy

def test_sealed_is_pickled(ctx):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("ML-KEM-768", "HKDF-SHA256", "AES-128-GCM")
    pk, sk = suite.generate(ctx, 2)
    for plaintexts in ([b"a", b"bc"], np.zeros((2, 3), np.uint8)):
        sealed = suite.seal(ctx, pk, plaintexts)
        for other in (pickle.loads(pickle.dumps(sealed)), copy.copy(sealed), copy.deepcopy(sealed)):
            assert type(other) is hpke.Sealed and np.array_equal(other.enc, sealed.enc)
            assert all(map(np.array_equal, other.ciphertexts, sealed.ciphertexts)) and not other.status.any()
            assert suite.open(ctx, sk, *other).plaintexts == suite.open(ctx, sk, *sealed).plaintexts
    with pytest.raises(TypeError, match="export"):
        pickle.dumps(suite.open(ctx, sk, *sealed))
    opened = suite.open(ctx, sk, *suite.seal(ctx, pk, [b"a", b"b"]))
    assert pickle.loads(pickle.dumps(opened)).plaintexts == [b"a", b"b"]


def test_errors_are_pickled(ctx):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("ML-KEM-768", "HKDF-SHA256", "AES-128-GCM")
    with pytest.raises(polykem.ItemsError) as caught:
        suite.seal(ctx, np.full((2, 1184), 255, np.uint8), b"m")
    other = pickle.loads(pickle.dumps(caught.value))
    assert str(other) == str(caught.value) and other.items.tolist() == [0, 1]
    assert other.item_status.tolist() == [8, 8] and type(other.result) is hpke.Sealed
    with pytest.raises(polykem.ItemsError) as caught:
        ctx.encaps("mlkem768", np.full((2, 1184), 255, np.uint8))
    assert caught.value.result.ss.shape == (2, 32)
    other = pickle.loads(pickle.dumps(caught.value))  # as a process pool does: the error must arrive
    assert str(other) == str(caught.value) and other.items.tolist() == [0, 1] and other.result is None
    for wrong in (lambda: polykem.Scheme("mlkem786"), lambda: ctx.keygen("mlkem512", 0),
                  lambda: ctx.encaps("mlkem512", b"short"), lambda: polykem.Context(backend="nothing")):
        with pytest.raises(polykem.Error) as caught:
            wrong()
        other = pickle.loads(pickle.dumps(caught.value))
        assert (type(other), vars(other), str(other)) == (type(caught.value), vars(caught.value), str(caught.value))


# ---- representations

def test_no_repr_shows_a_secret(ctx):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("ML-KEM-768", "HKDF-SHA256", "AES-128-GCM")
    text, pattern = b"attack at dawn", np.full((1, 64), 0xA7, np.uint8)
    pairs = suite.derive_key_pairs(ctx, pattern)
    opened = suite.open(ctx, pairs.sk, *suite.seal(ctx, pairs.pk, [text]))
    secret = polykem.Secret(pattern)
    keys = ctx.keygen("mlkem768", 1, coins=pattern)
    sent = ctx.encaps("mlkem768", keys.pk, coins=np.zeros((1, 32), np.uint8))  # drawn ones may show 167
    job = ctx.submit("decaps", "mlkem768", pattern, sent.ct)
    job.result(60)
    with pytest.raises(polykem.ItemsError) as caught:
        suite.open(ctx, pairs.sk, np.zeros((1, 1088), np.uint8), [bytes(20)])
    batch = ctx._decaps("mlkem768", pattern, sent.ct)
    for thing in (pairs, opened, secret, keys, sent, job, ctx.keyset("mlkem768", pattern), caught.value,
                  caught.value.result, batch, batch.request, hpke._messages.Messages.of([text], "m"), suite, ctx):
        for shown in (ADDRESS.sub("", repr(thing)), ADDRESS.sub("", str(thing))):
            assert "dawn" not in shown and "167" not in shown and "a7a7" not in shown.lower(), shown
