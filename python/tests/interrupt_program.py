# SPDX-License-Identifier: Apache-2.0
"""Sends Ctrl-C soon after a long call begins: interrupt_program.py NAME. test_interrupt.py runs it.

Prints how many seconds later the call ended by KeyboardInterrupt.
"""
import gc
import signal
import sys
import threading
import time

import numpy as np
import polykem

SET, COUNT, MESSAGES = "frodokem1344shake", 8000, 60_000  # so that a call takes seconds
WAIT = 0.05  # before the signal: with one key for all, a fast core does COUNT operations in 0.3 s
CTX = polykem.Context(threads=1)


def kem(name):
    pk, sk = CTX.keygen(SET, 1)
    ct = np.repeat(CTX.encaps(SET, pk).ct, COUNT, 0)
    secret, public = CTX.keyset(SET, sk), CTX.keyset(SET, pk)
    return {"keygen": lambda: CTX.keygen(SET, COUNT),
            "encaps": lambda: CTX.encaps(SET, pk[0], COUNT),
            "encaps with a key set": lambda: CTX.encaps(SET, public, COUNT, key_index=0),
            "decaps": lambda: CTX.decaps(SET, sk[0], ct),
            "decaps with a key set": lambda: CTX.decaps(SET, secret, ct, key_index=0),
            "profile": lambda: CTX.profile(SET, "keygen", COUNT),
            "a job's result": lambda: CTX.submit("keygen", SET, COUNT // 10).result()}[name]


def hpke(name):
    from polykem import hpke
    suite = hpke.Suite("MLKEM1024-P384", "HKDF-SHA384", "AES-256-GCM")
    pk, sk = suite.generate(CTX, 1)
    many = np.ones((MESSAGES, suite.secret_key_bytes), np.uint8)
    enc, ciphertexts = (np.repeat(each, MESSAGES, 0) for each in suite.seal(CTX, pk, b"message"))
    return {"hpke.generate": lambda: suite.generate(CTX, MESSAGES),
            "hpke.derive_key_pairs": lambda: suite.derive_key_pairs(CTX, many),
            "hpke.public_keys": lambda: suite.public_keys(CTX, many),
            "hpke.seal": lambda: suite.seal(CTX, pk[0], b"message", count=MESSAGES),
            "hpke.open": lambda: suite.open(CTX, sk[0], enc, ciphertexts),
            "hpke.sender": lambda: suite.sender(CTX, pk[0], count=MESSAGES),
            "hpke.recipient": lambda: suite.recipient(CTX, sk[0], enc)}[name]


def into_own_arrays():
    """Returns a call that checks that its output arrays are zero after the interruption."""
    scheme = polykem.Scheme(SET)
    out = (np.full((COUNT, scheme.public_key_bytes), 1, np.uint8),
           polykem.Secret.zeros((COUNT, scheme.secret_key_bytes)))

    def call():
        try:
            CTX.keygen(SET, COUNT, out=out)
        finally:
            assert not out[0].any() and not np.asarray(out[1]).any()
    return call


def main():
    name = sys.argv[1]
    call = into_own_arrays() if name == "out" else (hpke if name.startswith("hpke.") else kem)(name)
    sent = []

    def interrupt():
        time.sleep(WAIT)
        sent.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        call()
    except KeyboardInterrupt:
        print(time.monotonic() - sent[0])
    else:
        sys.exit("the call ended before it was interrupted" if sent else "the call ended at once")
    pk, sk = CTX.keygen("mlkem512", 300)  # the context is as it was
    ct, ss, _ = CTX.encaps("mlkem512", pk)
    assert CTX.decaps("mlkem512", sk, ct).ss == ss
    gc.collect()


if __name__ == "__main__":
    main()
