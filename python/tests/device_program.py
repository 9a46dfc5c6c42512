# SPDX-License-Identifier: Apache-2.0
"""Tests arrays on a simulated GPU. test_device.py runs it with the simulated device as the CUDA module."""
import functools
import gc
import pickle
import sys

import fake_cupy as cupy
import numpy as np

sys.modules["cupy"] = cupy
import polykem  # noqa: E402


def raises(error, says, call):
    try:
        call()
    except error as caught:
        assert says in str(caught), str(caught)
        return caught
    raise AssertionError(f"no {error.__name__}")


def secrets_die(ctx, scheme, pk):
    """Checks that secrets are wiped on their stream when the last view is gone."""
    with cupy.Stream(7):
        ss = ctx.encaps(scheme, pk).ss
    assert isinstance(ss, polykem.DeviceSecret) and "GPU 0" in repr(ss) and ss.shape == (5, 32)
    raises(TypeError, "export", functools.partial(pickle.dumps, ss))
    assert ss[1].export() == ss.export()[1].tobytes() and any(ss[1].export())
    cupy.log.clear()
    item = ss[2]
    del ss
    gc.collect()
    assert not cupy.log, "wiped although a view is alive"
    del item
    gc.collect()
    assert cupy.log == [("fill", 5 * 32, 7)]


def signatures(ctx):
    """Checks that signatures take arrays in host memory only."""
    pk, sk = ctx.keygen("mldsa44", 2)
    sig = ctx.sign("mldsa44", sk, b"x").sig
    for call in (lambda: ctx.verify("mldsa44", cupy.asarray(pk), b"x", sig),
                 lambda: ctx.verify("mldsa44", pk, b"x", cupy.asarray(sig)),
                 lambda: ctx.verify("mldsa44", pk, cupy.asarray(pk), sig),
                 lambda: ctx.sign("mldsa44", cupy.asarray(np.asarray(sk)), b"x"),
                 lambda: ctx.keyset("mldsa44", cupy.asarray(pk)),
                 lambda: ctx.keygen("mldsa44", 2, out=(cupy.asarray(pk), cupy.asarray(np.asarray(sk))))):
        raises(polykem.ArgumentError, "take arrays in host memory", call)


def main():
    scheme = polykem.Scheme("mlkem768")
    ctx = polykem.Context(threads=1, backend="cuda")
    host_pk, host_sk = ctx.keygen(scheme, 5)
    pk, sk = cupy.asarray(host_pk), cupy.asarray(np.asarray(host_sk))
    with cupy.Stream(7):
        ct, ss, status = ctx.encaps(scheme, pk)
    assert cupy.last_stream() == 7 and isinstance(ct, cupy.ndarray) and isinstance(status, cupy.ndarray)
    back = ctx.decaps(scheme, sk, ct)
    assert cupy.last_stream() == 0 and back.ss == ss
    assert ctx.decaps(scheme, host_sk, cupy.asnumpy(ct)).ss == ss.export()
    del ss, back
    secrets_die(ctx, scheme, pk)

    shared, ss, _ = ctx.encaps(scheme, pk[1], 9)
    assert shared.shape == (9, 1088) and ctx.decaps(scheme, sk[1], shared).ss == ss

    made = ctx.keygen(scheme, 4, out=(cupy.zeros((4, 1184), np.uint8), cupy.zeros((4, 2400), np.uint8)))
    ct, ss, _ = ctx.encaps(scheme, made.pk)
    assert ctx.decaps(scheme, made.sk, ct).ss == ss

    bad = host_pk.copy()
    bad[3, :384] = 255
    error = raises(polykem.ItemsError, "1 of 5", lambda: ctx.encaps(scheme, cupy.asarray(bad)))
    assert error.items.tolist() == [3]
    status = ctx.encaps(scheme, cupy.asarray(bad), errors="return").status
    assert cupy.asnumpy(status).tolist() == [0, 0, 0, polykem.Status.PUBLIC_KEY, 0]

    raises(polykem.ArgumentError, "where another argument lies", lambda: ctx.decaps(scheme, host_sk, ct))
    raises(polykem.ArgumentError, "queued on your stream", lambda: ctx.submit("encaps", scheme, pk))
    raises(polykem.SizeError, "shape (5, 1183)", lambda: ctx.encaps(scheme, cupy.asarray(host_pk[:, 1:])))
    raises(polykem.ArgumentError, "int32", lambda: ctx.encaps(scheme, cupy.asarray(host_pk.astype(np.int32))))
    with polykem.Context(threads=1, backend="ref") as cpu:
        raises(polykem.BackendUnavailable, 'backend="cuda"', lambda: cpu.encaps(scheme, pk))
        raises(polykem.BackendUnavailable, 'backend="cuda"', lambda: cpu.keyset(scheme, pk))
        signatures(cpu)
    print("passed")


main()
