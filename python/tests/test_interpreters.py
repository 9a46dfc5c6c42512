# SPDX-License-Identifier: Apache-2.0
"""Tests other interpreters than the usual one: free-threaded builds, subinterpreters."""
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import polykem
import pytest


WITHOUT_GIL = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the GIL")


@WITHOUT_GIL
def test_the_gil_stays_off():
    program = "import sys, polykem; polykem.Context().keygen('mlkem512', 9); assert not sys._is_gil_enabled()"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@WITHOUT_GIL
def test_a_thread_closes_what_another_uses(ctx):
    pk, sk = ctx.keygen("mlkem512", 1)
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    opened, end = [], threading.Event()

    def renew():
        while not end.is_set():
            old, opened[:] = list(opened), [ctx.keyset("mlkem512", sk, "secret"), polykem.Context(threads=1)]
            for each in old:
                each.close()

    def use():
        for _ in range(3000):
            keys, other = opened
            for call in (lambda: ctx.decaps("mlkem512", keys, ct).ss == ss, lambda: other.backend("mlkem512"),
                         lambda: len(keys) in (0, 1)):
                try:
                    assert all(call() for _ in range(3))
                except polykem.ArgumentError as error:
                    assert "closed" in str(error)

    opened[:] = [ctx.keyset("mlkem512", sk, "secret"), polykem.Context(threads=1)]
    thread = threading.Thread(target=renew)
    thread.start()
    try:
        use()
    finally:
        end.set()
        thread.join()


@WITHOUT_GIL
def test_a_thread_wipes_what_another_reads(ctx):
    """The other thread gets an error. The secret is large, so that its wiping takes a while."""
    pk, sk = ctx.keygen("mlkem512", 1)
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    for _ in range(10):
        secret = polykem.Secret(np.tile(np.asarray(sk), (40_000, 1)))
        key, thread = secret[0], threading.Timer(0.003, secret.wipe)
        thread.start()
        with pytest.raises(polykem.ArgumentError, match="wiped"):
            while True:
                assert ctx.decaps("mlkem512", key, ct).ss == ss
        thread.join()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 no module can refuse subinterpreters")
def test_subinterpreters_are_refused():
    """nanobind's modules live in the main interpreter only; another one gets an ImportError and nothing breaks."""
    program = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sysconfig
other = interpreters.create()
code = '''
try:
    import polykem._core
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    raise SystemExit("it was imported")
'''
try:
    failed = interpreters.run_string(other, code)
except interpreters.RunFailedError as error:
    failed = error
assert not failed, failed
import polykem
assert polykem.Context(threads=1).keygen("mlkem512", 1).pk.any()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
