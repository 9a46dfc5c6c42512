# SPDX-License-Identifier: Apache-2.0
"""Ends the main thread while a daemon thread makes one call after the other: exit_program.py NAME...

test_exit.py runs it. Each call has a child of its own, which ends as any program does; a line of JSON for each has its
exit code and its standard error. CALLS[name]() makes what a call needs and returns a function that blocks
for some milliseconds.
"""
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import polykem
import polykem.ckks

try:
    import polykem.hpke
except ImportError:
    pass  # built without OpenSSL

CODE = 7
SET, ITEMS = "mlkem1024", 400


def kem(work):
    def prepare():
        ctx = polykem.Context(threads=1)
        pk, sk = ctx.keygen(SET, ITEMS)
        return work(ctx, pk, sk, ctx.encaps(SET, pk).ct)
    return prepare


def hpke(work):
    def prepare():
        from polykem import hpke
        ctx, suite = polykem.Context(threads=1), hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-128-GCM")
        pk, sk = suite.generate(ctx, 40)
        return work(ctx, suite, pk, sk, suite.seal(ctx, pk, b"message"))
    return prepare


def ckks(work):
    def prepare():
        from polykem import ckks

        class Party:
            context = ckks.Context(ckks.Parameters.choose(11, 4), threads=1, allow_insecure=True)
            secret = ckks.SecretKey.generate(context)
            public = ckks.PublicKey.generate(context, secret)
            keys = ckks.Keys.generate(context, secret, rotations=[1], conjugation=True)
            evaluator = ckks.Evaluator(context, keys)
            values = np.ones((4, 1024))
            numbers = context.encode(values)
            encrypted = context.encrypt(public, values)
            module = ckks
        return work(Party)
    return prepare


def reading_a_file(p):
    path = str(Path(tempfile.mkdtemp(dir=os.environ.get("EXIT_PROGRAM_FOLDER"))) / "context.bin")
    p.module.save(p.context, path)
    return lambda: p.module.load(path, allow_insecure=True)


def writing_a_file(p):
    path = str(Path(tempfile.mkdtemp(dir=os.environ.get("EXIT_PROGRAM_FOLDER"))) / "encrypted.bin")
    return lambda: p.module.save(p.encrypted[0], path)


def submitting(ctx, pk, sk, ct):
    def work():
        ctx.submit("encaps", SET, pk[:20]).result(60)
    return work


def failing(ctx, pk, sk, ct):
    """Calls that fail: exceptions that the extension raises need Python, too."""
    bad, secret = np.full((1, 800), 255, np.uint8), polykem.Secret(bytes(1632))
    secret.wipe()

    def work():
        for call in (lambda: ctx.encaps("mlkem512", bad), lambda: ctx.keygen("mlkem512", 1, coins=b"short"),
                     lambda: ctx.decaps("mlkem512", secret, bytes(768)),
                     lambda: ctx.keygen("mlkem512", 1, out=(pk[0], pk[0]))):
            try:
                call()
            except polykem.Error:
                pass
    return work


CALLS = {
    "calls that fail": kem(failing),
    "keygen": kem(lambda ctx, pk, sk, ct: lambda: ctx.keygen(SET, ITEMS)),
    "encaps": kem(lambda ctx, pk, sk, ct: lambda: ctx.encaps(SET, pk)),
    "decaps": kem(lambda ctx, pk, sk, ct: lambda: ctx.decaps(SET, sk, ct)),
    "one item": kem(lambda ctx, pk, sk, ct: lambda: ctx.encaps("mlkem512", pk[0, :800])),
    "submit": kem(submitting),
    "keyset": kem(lambda ctx, pk, sk, ct: lambda: ctx.keyset(SET, sk)),
    "KeySet.generate": kem(lambda ctx, pk, sk, ct: lambda: polykem.KeySet.generate(ctx, SET, ITEMS)),
    "profile": kem(lambda ctx, pk, sk, ct: lambda: ctx.profile(SET, "decaps", ITEMS)),
    "hpke.generate": hpke(lambda ctx, suite, pk, sk, sealed: lambda: suite.generate(ctx, 40)),
    "hpke.derive_key_pairs": hpke(lambda ctx, suite, pk, sk, sealed: lambda: suite.derive_key_pairs(ctx, sk)),
    "hpke.public_keys": hpke(lambda ctx, suite, pk, sk, sealed: lambda: suite.public_keys(ctx, sk)),
    "hpke.seal": hpke(lambda ctx, suite, pk, sk, sealed: lambda: suite.seal(ctx, pk, b"message")),
    "hpke.open": hpke(lambda ctx, suite, pk, sk, sealed: lambda: suite.open(ctx, sk, *sealed)),
    "ckks.Context": ckks(lambda p: lambda: p.module.Context(p.context.parameters, threads=1, allow_insecure=True)),
    "ckks.SecretKey.generate": ckks(lambda p: lambda: p.module.SecretKey.generate(p.context)),
    "ckks.PublicKey.generate": ckks(lambda p: lambda: p.module.PublicKey.generate(p.context, p.secret)),
    "ckks.Keys.generate": ckks(lambda p: lambda: p.module.Keys.generate(p.context, p.secret)),
    "ckks.encode": ckks(lambda p: lambda: p.context.encode(p.values)),
    "ckks.decode": ckks(lambda p: lambda: p.context.decode(p.numbers)),
    "ckks.encrypt": ckks(lambda p: lambda: p.context.encrypt(p.public, p.numbers)),
    "ckks.decrypt": ckks(lambda p: lambda: p.context.decrypt_plaintexts(p.secret, p.encrypted)),
    "ckks.add": ckks(lambda p: lambda: p.evaluator.add(p.encrypted, p.encrypted)),
    "ckks.mul": ckks(lambda p: lambda: p.evaluator.mul(p.encrypted, p.encrypted)),
    "ckks.rotate": ckks(lambda p: lambda: p.evaluator.rotate(p.encrypted, 1)),
    "ckks.load": ckks(reading_a_file),
    "ckks.save": ckks(writing_a_file),
}


def compute_and_end(name):
    call, several = CALLS[name](), threading.Event()

    def work():
        for _ in range(3):
            call()
        several.set()
        while True:
            call()

    threading.Thread(target=work, daemon=True).start()
    assert several.wait(60)
    sys.exit(CODE)


def main():
    for name in sys.argv[1:]:
        with tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                signal.alarm(120)
                os.dup2(errors.fileno(), 2)
                compute_and_end(name)
            _, status = os.waitpid(child, 0)
            errors.seek(0)
            print(json.dumps([os.waitstatus_to_exitcode(status), errors.read().decode()]), flush=True)


if __name__ == "__main__":
    main()
