# SPDX-License-Identifier: Apache-2.0
"""Jobs for ckks/tests/interop/lattigo, which computes with Lattigo."""
import json
import os
import shutil
import subprocess
from functools import partialmethod

import numpy as np
import pytest

from folders import ROOT
from polykem import ckks


def build(folder):
    """Returns the built program; skips without Go 1.24 or, unless Lattigo was downloaded before, without a network."""
    go = shutil.which("go") or pytest.skip("needs Go 1.24")
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}

    def run(*arguments):
        return subprocess.run([go, *arguments], cwd=ROOT / "ckks/tests/interop/lattigo", capture_output=True, text=True,
                              env=environment)
    downloaded = run("mod", "download")
    assert "SECURITY ERROR" not in downloaded.stderr, downloaded.stderr
    if downloaded.returncode and "requires go" not in downloaded.stderr.lower():
        pytest.skip(f"Go cannot download Lattigo: {downloaded.stderr.strip().splitlines()[0]}")
    built = run("build", "-o", folder / "lattigo", ".")
    if "requires go" in built.stderr.lower():
        pytest.skip("needs Go 1.24")
    assert built.returncode == 0, built.stderr
    return folder / "lattigo"


class Value:
    """A ciphertext that Lattigo will have. Its limbs and scale are known only there; here they name it."""

    def __init__(self, name):
        self.name = self.limbs = self.scale = name


class Job:
    """Steps for Lattigo in a folder. It has an evaluator's methods, so that circuits can be written down with it.

    `run` has them computed. After that `load` and `array` return what was saved.
    """

    def __init__(self, program, folder, context, secret, rotations=()):
        self._program, self._folder, self._context = program, folder, context
        self._steps, self._names = [], 0
        x = context.parameters
        self._job = {"LogN": x.log_n, "LogScale": int(np.log2(x.scale)), "Q": x.q, "Roots": x.q_roots, "P": x.p,
                     "Rotations": list(rotations), "Secret": "secret", "Steps": self._steps}
        self._write("secret", words_of_secret(context, secret))

    # ---- inputs

    def ciphertext(self, a):
        """Adds an input, a batch of one ciphertext."""
        value = self._step("ciphertext", Parts=a.parts, Limbs=a.limbs, Scale=a.scale)
        self._write(value.name, a.words)
        return value

    def plaintext(self, a):
        value = self._step("plaintext", Limbs=a.limbs, Scale=a.scale)
        self._write(value.name, a.words)
        return value

    def numbers(self, numbers):
        """Adds numbers as an input; a single number fills all slots."""
        value = self._step("numbers")
        self._write(value.name, np.broadcast_to(np.asarray(numbers, complex), self._context.ring_dimension // 2))
        return value

    def encrypt(self, numbers):
        return self._step("encrypt", self.numbers(numbers))

    # ---- what an evaluator does

    def _with_operand(self, operation, a, b):
        return self._step(operation, a, b if isinstance(b, Value) else self.numbers(b))

    add = partialmethod(_with_operand, "add")
    sub = partialmethod(_with_operand, "sub")

    def mul(self, a, b, relinearise=True, rescale=True):
        out = self._with_operand("mul", a, b)
        if relinearise and isinstance(b, Value):
            out = self._step("relinearise", out)
        return self.rescale(out) if rescale else out

    def square(self, a):
        return self.mul(a, a)

    def rescale(self, a):
        return self._step("rescale", a)

    def rotate(self, a, steps):
        return self._step("rotate", a, By=steps)

    def conjugate(self, a):
        return self._step("conjugate", a)

    def align(self, a, limbs, scale):
        assert limbs == scale
        return self._step("align", a, Value(limbs))

    # ---- results

    def save(self, a):
        self._steps.append({"Op": "save", "A": a.name})
        return a

    def coefficients(self, a):
        """Returns the name of an array, uint64, (parts, limbs, N)."""
        return self._step("coefficients", a).name

    def decrypt(self, a):
        """Returns the name of an array, complex128, (slots,)."""
        return self._step("decrypt", a).name

    def run(self):
        (self._folder / "job.json").write_text(json.dumps(self._job))
        result = subprocess.run([self._program], cwd=self._folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        self._saved = json.loads((self._folder / "saved.json").read_text())

    def load(self, a):
        """Returns ciphertexts that were saved."""
        header = self._saved[a.name]
        n = self._context.ring_dimension
        words = self.array(a.name, "<u8").reshape(1, header["parts"], header["limbs"], n)
        return ckks.Ciphertexts.from_words(self._context, words, n // 2, header["scale"])

    def array(self, name, kind):
        return np.fromfile(self._folder / f"{name}.bin", kind)

    # ----

    def _step(self, operation, a=None, b=None, **rest):
        self._names += 1
        out = Value(f"v{self._names}")
        self._steps.append({"Op": operation, "Out": out.name, "A": a.name if a else "", "B": b.name if b else "",
                            **rest})
        return out

    def _write(self, name, array):
        array = np.ascontiguousarray(array)
        array.astype(array.dtype.newbyteorder("<")).tofile(self._folder / f"{name}.bin")


def words_of_secret(context, secret):
    """Returns the key modulo the first prime, to which the ciphertext (0, 1) decrypts."""
    words = np.zeros((1, 2, 1, context.ring_dimension), np.uint64)
    words[0, 1] = 1
    one = ckks.Ciphertexts.from_words(context, words, context.ring_dimension // 2, 1.0)
    return context.decrypt_plaintexts(secret, one).words
