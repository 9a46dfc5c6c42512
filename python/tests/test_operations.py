# SPDX-License-Identifier: Apache-2.0
"""Tests round trips, arguments and errors."""
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polykem
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from known_answers import ROOT

SMALL = ["mlkem512", "ntruhps2048509", "efrodokem640shake", "kyber768"]
relaxed = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@relaxed
@given(name=st.sampled_from(SMALL), count=st.integers(1, 40))
def test_round_trip_with_a_key_each(ctx, name, count):
    pk, sk = ctx.keygen(name, count)
    ct, ss, status = ctx.encaps(name, pk)
    assert ct.shape == (count, polykem.Scheme(name).ciphertext_bytes) and status.shape == (count,)
    back = ctx.decaps(name, sk, ct)
    assert back.ss == ss and not back.status.any() and not status.any()


@relaxed
@given(name=st.sampled_from(SMALL), count=st.integers(1, 40))
def test_round_trip_with_one_key(ctx, name, count):
    pk, sk = ctx.keygen(name, 2)
    ct, ss, _ = ctx.encaps(name, pk[1], count)
    assert ctx.decaps(name, sk[1], ct).ss == ss
    assert len({s.export() for s in ss}) == count


@relaxed
@given(data=st.data(), size=st.integers(1, 6))
def test_key_sets_by_index(ctx, data, size):
    secret, pk = polykem.KeySet.generate(ctx, "mlkem512", size)
    public = ctx.keyset("mlkem512", pk)
    assert (public.kind, secret.kind, len(public), len(secret)) == ("public", "secret", size, size)
    index = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=20))
    ct, ss, _ = ctx.encaps("mlkem512", public, key_index=index)
    assert ctx.decaps("mlkem512", secret, ct, key_index=np.array(index, np.int32)).ss == ss
    shared, ss, _ = ctx.encaps("mlkem512", public, 3, key_index=index[0])
    assert ctx.decaps("mlkem512", secret, shared, key_index=index[0]).ss == ss
    each, ss, _ = ctx.encaps("mlkem512", public)
    assert ctx.decaps("mlkem512", secret, each).ss == ss


@relaxed
@given(bad=st.sets(st.integers(0, 9), min_size=1))
def test_malformed_public_keys(ctx, bad):
    pk, sk = ctx.keygen("mlkem768", 10)
    wrong = sorted(bad)
    pk[wrong, :384] = 255  # coefficients of 4095
    with pytest.raises(polykem.ItemsError) as caught:
        ctx.encaps("mlkem768", pk)
    error = caught.value
    assert error.items.tolist() == wrong and error.status == polykem.Status.ITEMS
    assert set(error.item_status[wrong]) == {polykem.Status.PUBLIC_KEY}
    assert f"{len(wrong)} of 10" in str(error)
    ct, ss, status = ctx.encaps("mlkem768", pk, errors="return")
    assert np.flatnonzero(status).tolist() == wrong
    assert not ct[wrong].any() and not np.asarray(ss)[wrong].any()
    good = [i for i in range(10) if i not in bad]
    if good:
        sks = np.asarray(sk)[good]
        assert ctx.decaps("mlkem768", sks, ct[good]).ss == np.asarray(ss)[good]


def test_a_malformed_secret_key(ctx):
    pk, sk = ctx.keygen("mlkem768", 2)
    np.asarray(sk)[1, 1152 + 5] ^= 1  # the public key's part: its hash is wrong then
    ct = ctx.encaps("mlkem768", pk).ct
    ss, status = ctx.decaps("mlkem768", sk, ct, errors="return")
    assert status.tolist() == [0, polykem.Status.SECRET_KEY]
    with pytest.raises(polykem.ItemsError, match="secret key"):
        ctx.decaps("mlkem768", sk, ct)


def test_what_counts_as_an_array(ctx):
    pk, sk = ctx.keygen("mlkem512", 1)
    secret = sk[0].export()
    for form in (pk[0], pk, bytes(pk[0]), bytearray(pk[0]), memoryview(bytes(pk[0])), memoryview(pk)):
        ct, ss, _ = ctx.encaps("mlkem512", form)
        assert ctx.decaps("mlkem512", secret, ct).ss == ss
        assert ctx.decaps("mlkem512", sk, bytes(ct[0])).ss == ss


class OnlyDlpack:
    def __init__(self, array, error=None):
        self.array, self.error = array, error

    def _exporter(self):
        if self.error:
            raise self.error
        return self.array

    def __dlpack__(self, **options):
        return self._exporter().__dlpack__(**options)

    def __dlpack_device__(self):
        return self._exporter().__dlpack_device__()


def test_dlpack(ctx):
    pk, sk = OnlyDlpack(np.empty((3, 800), np.uint8)), OnlyDlpack(np.empty((3, 1632), np.uint8))
    if not np.from_dlpack(pk).flags.writeable:  # NumPy before 2.1
        with pytest.raises(polykem.ArgumentError, match="out.pk is read-only"):
            ctx.keygen("mlkem512", 3, out=(pk, sk))
        pk, sk = map(OnlyDlpack, ctx.keygen("mlkem512", 3))
    else:
        made = ctx.keygen("mlkem512", 3, out=(pk, sk))
        assert made.pk is pk and made.sk is sk
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    assert ctx.decaps("mlkem512", sk, OnlyDlpack(ct)).ss == ss


@pytest.mark.parametrize("error", [BufferError, NotImplementedError, TypeError, ValueError])
def test_an_array_that_dlpack_refuses(ctx, error):
    """Exporters may refuse, as PyTorch's tensors do that need a gradient or have no memory."""
    array = OnlyDlpack(np.empty((3, 800), np.uint8), error("no memory"))
    for name, call in (("pk", lambda: ctx.encaps("mlkem512", array)), ("keys", lambda: ctx.keyset("mlkem512", array)),
                       ("out.pk", lambda: ctx.keygen("mlkem512", 3, out=(array, bytearray(4896))))):
        with pytest.raises(polykem.ArgumentError, match=f"^{name} cannot be read by DLPack: no memory"):
            call()


def test_tensors_in_host_memory(ctx):
    torch = pytest.importorskip("torch")
    pk, sk = torch.empty((3, 800), dtype=torch.uint8), torch.empty((3, 1632), dtype=torch.uint8)
    made = ctx.keygen("mlkem512", 3, out=(pk, sk))
    assert made.pk is pk and made.sk is sk
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    assert ctx.decaps("mlkem512", sk, torch.from_numpy(ct)).ss == ss
    assert ctx.encaps("mlkem512", ctx.keyset("mlkem512", pk), key_index=torch.tensor([2, 0])).ct.shape == (2, 768)
    for wrong, says in ((pk.to("meta"), "DLPack"), (pk.float().requires_grad_(), "DLPack: .*detach"),
                        (pk.to(torch.bfloat16), "DLPack"), (pk.to_sparse(), "DLPack"), (pk.bool(), "pass uint8"),
                        (pk.t(), "not C-contiguous"), (pk[:1].expand(3, -1), "not C-contiguous")):
        with pytest.raises(polykem.ArgumentError, match=f"^pk .*{says}"):
            ctx.encaps("mlkem512", wrong)
    seen = torch.from_dlpack(ss)
    assert seen.any()
    ss.wipe()
    assert not seen.any()


@pytest.mark.parametrize("call, error, says", [
    (lambda c, p: c.keygen("mlkem512", 0), polykem.ArgumentError, "at least one"),
    (lambda c, p: c.keygen("mlkem512", 2**62), polykem.ArgumentError, "more than memory"),
    (lambda c, p: c.keygen("mlkem512", 2**38), polykem.OutOfMemory, "no memory"),
    (lambda c, p: c.keygen("mlkem512", 1.5), TypeError, "whole number"),
    (lambda c, p: c.keygen("mlkem-521", 1), polykem.UnknownScheme, "did you mean 'mlkem512'"),
    (lambda c, p: c.keygen(5, 1), TypeError, "named by a str"),
    (lambda c, p: c.keygen("mlkem512", 3, out=p), polykem.ArgumentTypeError, "out must be two arrays"),
    (lambda c, p: c.keygen("mlkem512", 3, out=5), polykem.ArgumentTypeError, "out must be two arrays"),
    (lambda c, p: c.keygen("mlkem512", 2, coins=bytes(64)), polykem.SizeError, r"coins has shape \(64,\)"),
    (lambda c, p: c.encaps("mlkem512", p.ravel()), polykem.SizeError, r"reshape\(-1, 800\)"),
    (lambda c, p: c.encaps("mlkem512", p[:, :-1].copy()), polykem.SizeError, r"shape \(3, 799\)"),
    (lambda c, p: c.encaps("mlkem512", p, 2), polykem.SizeError, r"expected \(2, 800\)"),
    (lambda c, p: c.encaps("mlkem512", p[:0]), polykem.SizeError, "shape"),
    (lambda c, p: c.encaps("mlkem512", p[::2]), polykem.ArgumentError, "not C-contiguous"),
    (lambda c, p: c.encaps("mlkem512", np.asfortranarray(p)), polykem.ArgumentError, "ascontiguousarray"),
    (lambda c, p: c.encaps("mlkem512", p.astype(np.int64)), polykem.ArgumentError, "int64; pass uint8"),
    (lambda c, p: c.encaps("mlkem512", [1, 2]), polykem.ArgumentError, "pk is list"),
    (lambda c, p: c.encaps("mlkem512", p, errors="ignore"), polykem.ArgumentError, '"raise" or "return"'),
    (lambda c, p: c.encaps("mlkem512", p, key_index=0), polykem.ArgumentError, "KeySet"),
    (lambda c, p: c.encaps("mlkem768", c.keyset("mlkem512", p)), polykem.ArgumentError, "of mlkem512"),
    (lambda c, p: c.encaps("mlkem512", c.keyset("mlkem512", p), key_index=3), polykem.RangeError, "0 to 2"),
    (lambda c, p: c.encaps("mlkem512", c.keyset("mlkem512", p), key_index=[0, -1]), polykem.RangeError, "0 to 2"),
    (lambda c, p: c.encaps("mlkem512", c.keyset("mlkem512", p), key_index=[[0], [1, 2]]), polykem.ArgumentError,
     "one-dimensional array of int: "),
    (lambda c, p: c.encaps("mlkem512", c.keyset("mlkem512", p), 4), polykem.RangeError, "key_index says"),
    (lambda c, p: c.decaps("mlkem512", c.keyset("mlkem512", p), bytes(768)), polykem.ArgumentError, "public keys"),
    (lambda c, p: c.decaps("mlkem512", np.zeros((1, 1632), np.uint8), np.zeros((2, 768), np.uint8)),
     polykem.ArgumentError, r"pass sk\[0\]"),
    (lambda c, p: c.decaps("mlkem512", bytes(1633), bytes(768)), polykem.SizeError, r"\(1632,\).*\(64,\)"),
    (lambda c, p: c.submit("seal", "mlkem512"), polykem.ArgumentError, "keygen, encaps, decaps"),
    (lambda c, p: polykem.Context(backend="avx1024"), polykem.UnknownBackend, "avx1024"),
    (lambda c, p: polykem.Context(threads=5000), polykem.ArgumentError, "threads"),
    (lambda c, p: c.keyset("mlkem512", p, "private"), polykem.ArgumentError, "public, secret, seed"),
])
def test_errors_say_what_to_do(ctx, call, error, says):
    pk = ctx.keygen("mlkem512", 3).pk
    with pytest.raises(error, match=says):
        call(ctx, pk)


def test_classes_of_errors():
    assert issubclass(polykem.ArgumentError, ValueError) and issubclass(polykem.OutOfMemory, MemoryError)
    assert issubclass(polykem.RangeError, IndexError) and issubclass(polykem.SizeError, polykem.ArgumentError)
    with pytest.raises(polykem.UnknownScheme) as caught:
        polykem.Scheme("frodo976")
    assert caught.value.nearest.startswith("frodokem976") or caught.value.nearest in str(caught.value)


def test_status_is_the_headers():
    header = (ROOT / "include/polykem/polykem.h").read_text()
    codes = {name.removeprefix("ERR_"): int(number)
             for name, number in re.findall(r"^  POLYKEM_(OK|ERR_\w+) = (\d+)", header, re.M)}
    assert codes == {s.name: s.value for s in polykem.Status}
    assert polykem.Status.BUSY.text


def test_version_is_the_headers():
    header = (ROOT / "include/polykem/polykem.h").read_text()
    parts = [re.search(rf"POLYKEM_VERSION_{p} (\d+)", header)[1] for p in ("MAJOR", "MINOR", "PATCH")]
    assert polykem.__version__ == ".".join(parts)


def test_unavailable_backends(ctx):
    for backend in polykem.backends():
        if backend.available:
            with polykem.Context(threads=1, backend=backend) as forced:
                own = "mlkem768" if backend.name == "rtl" else "frodokem640aes"  # amx leaves some sets to avx512
                assert forced.backend(own) == backend.name
        else:
            with pytest.raises(polykem.BackendUnavailable, match=backend.name):
                polykem.Context(backend=backend.name)
    assert ctx.backend("mlkem768") in {b.name for b in polykem.backends()}


def test_schemes_are_values():
    for scheme in polykem.schemes():
        assert polykem.Scheme(scheme.name) is scheme and polykem.Scheme(scheme.title) is scheme
        assert pickle.loads(pickle.dumps(scheme)) is scheme
    with pytest.raises(AttributeError):
        polykem.schemes()[0].name = "other"


def test_out(ctx):
    pk, sk = np.zeros((4, 800), np.uint8), polykem.Secret.zeros((4, 1632))
    made = ctx.keygen("mlkem512", 4, out=(pk, sk))
    assert made.pk is pk and made.sk is sk and pk.any(axis=1).all()
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    assert ctx.decaps("mlkem512", sk, ct).ss == ss
    with pytest.raises(polykem.ArgumentError, match="read-only"):
        ctx.keygen("mlkem512", 1, out=(bytes(800), bytearray(1632)))
    with pytest.raises(polykem.SizeError, match="out.pk"):
        ctx.keygen("mlkem512", 5, out=(pk, sk))


def test_coins_decide(ctx):
    scheme = polykem.Scheme("mlkem768")
    coins = np.arange(2 * scheme.keygen_coin_bytes, dtype=np.uint8).reshape(2, -1)
    first, second = (ctx.keygen(scheme, 2, coins=coins) for _ in range(2))
    assert np.array_equal(first.pk, second.pk) and first.sk == second.sk
    assert not np.array_equal(first.pk, ctx.keygen(scheme, 2).pk)


def test_a_closed_context():
    ctx = polykem.Context(threads=1)
    secret, pk = polykem.KeySet.generate(ctx, "mlkem512", 1)
    ctx.close()
    for call in (lambda: ctx.keygen("mlkem512", 1), lambda: ctx.threads, lambda: ctx.submit("keygen", "mlkem512", 1)):
        with pytest.raises(polykem.ArgumentError, match="closed"):
            call()
    with polykem.Context(threads=1) as other:
        secret.close()
        with pytest.raises(polykem.ArgumentError, match="closed"):
            other.decaps("mlkem512", secret, bytes(768))


def test_profile_and_plan():
    with polykem.Context(threads=1, backend="ref") as ctx:  # of accelerators, the plan is that of large batches
        profile = ctx.profile("mlkem512", "decaps", 100, batch=32)
        plan = ctx.plan("mlkem512", "decaps")
    assert (profile.scheme, profile.op, profile.count, profile.batch) == ("mlkem512", "decaps", 128, 32)
    assert [(r.step, r.stages) for r in profile] == plan
    assert 0 < profile.stage_nanoseconds and all(r.items >= 128 for r in profile)
    assert profile.stage_nanoseconds <= profile.wall_nanoseconds * profile.threads


CYCLES = """
import polykem
with polykem.Context(threads=1, backend="rtl") as ctx:
    steps = {record.step: record for record in ctx.profile("mlkem768", "encaps", 3, batch=3)}
core, parts = steps["core"], [record for name, record in steps.items() if name.startswith("core: ")]
assert core.cycles == sum(record.cycles for record in parts) > 0, steps
assert core.items == 3 and len(parts) == 5
print("passed")
"""


def test_profile_has_the_cycles_of_the_hardware_core(ctx):
    module = os.environ.get("POLYKEM_FAKE_RTL", "")
    if not Path(module).is_file():
        pytest.skip("POLYKEM_FAKE_RTL names no module (ctest sets it)")
    assert all(record.cycles == 0 for record in ctx.profile("mlkem512", "encaps", 3))
    result = subprocess.run([sys.executable, "-c", CYCLES], env={**os.environ, "POLYKEM_RTL_MODULE": module},
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and result.stdout == "passed\n", result.stderr


def test_lists_of_the_machine():
    assert isinstance(polykem.cpu_features(), list)
    for name, op in ("mlkem768", "encaps"), ("mldsa65", "sign"):
        crossover = polykem.crossover(name, op)
        assert crossover.items is None or crossover.items > 0
        if not polykem.backends()[0].available:
            with pytest.raises(polykem.BackendUnavailable):
                polykem.tune(name)
    with pytest.raises(polykem.ArgumentError, match="no operation 'encaps'"):
        polykem.crossover("mldsa65", "encaps")
