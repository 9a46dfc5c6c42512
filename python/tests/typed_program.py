# SPDX-License-Identifier: Apache-2.0
"""An example of a user's service, which test_typing.py checks with mypy --strict and runs."""
from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Awaitable, Sequence

import numpy as np
import numpy.typing as npt
import polykem
from polykem import ckks, hpke

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    def assert_type(value, _):
        return value

Bytes2D = npt.NDArray[np.uint8]


def make(ctx: polykem.Context, n: int) -> tuple[Bytes2D, polykem.Secret]:
    pk, sk = ctx.keygen("ML-KEM-768", n)
    return pk, sk


def exchange(ctx: polykem.Context, pk: Bytes2D) -> polykem.Encapsulations:
    return ctx.encaps(polykem.Scheme("ML-KEM-768"), pk, errors="return")


def seal(ctx: polykem.Context, suite: hpke.Suite, pk: Bytes2D, messages: list[bytes]) -> tuple[Bytes2D, list[bytes]]:
    enc, ciphertexts = suite.seal(ctx, pk, messages, info=b"x")
    return enc, ciphertexts


def unseal(ctx: polykem.Context, suite: hpke.Suite, sk: polykem.Secret, enc: Bytes2D, ct: list[bytes]) -> list[bytes]:
    plaintexts, status = suite.open(ctx, sk, enc, ct, info=b"x")
    assert_type(status, npt.NDArray[np.int32])
    return plaintexts


def messages(ctx: polykem.Context) -> None:
    suite = hpke.Suite("ML-KEM-768", hpke.Kdf.HKDF_SHA256, "AES-128-GCM")
    assert_type(suite.kem, hpke.Kem)
    pk, sk = suite.generate(ctx, 2)
    enc, sealed = seal(ctx, suite, pk, [b"a", b"bc"])
    assert unseal(ctx, suite, sk, enc, sealed) == [b"a", b"bc"]
    arrays = suite.seal(ctx, pk, np.zeros((2, 5), np.uint8))
    assert_type(arrays.ciphertexts, Bytes2D)
    opened = suite.open(ctx, sk, *arrays)
    assert_type(opened.plaintexts, polykem.Secret)
    assert_type(suite.public_keys(ctx, sk), Bytes2D)
    together: hpke.Sealed[list[bytes]] = suite.seal(ctx, pk, (b"a", b"b"))
    assert_type(together.enc, Bytes2D)
    print(hpke.ItemStatus(int(together.status[0])).text)


def signatures(ctx: polykem.Context) -> None:
    scheme = polykem.SignatureScheme("ML-DSA-44")
    pk, sk = ctx.keygen(scheme, 2)
    sig, status = ctx.sign(scheme, sk, [b"a", b"bc"], context=b"x")
    assert_type(sig, Bytes2D)
    assert_type(status, npt.NDArray[np.int32])
    valid = ctx.verify(scheme, pk, polykem.Strings(b"abc", [0, 1, 3]), sig, context=b"x")
    assert_type(valid, npt.NDArray[np.bool_])
    assert valid.all()
    assert_type(ctx.submit("sign", scheme, sk, b"x"), polykem.Job[polykem.Signatures])
    later = ctx.submit("verify", "mldsa44", pk, [b"a", b"bc"], sig, context=b"x")
    assert_type(later.result(timeout=60), npt.NDArray[np.bool_])


async def jobs(ctx: polykem.Context) -> None:
    job = ctx.submit("keygen", "mlkem768", 10)
    assert_type(job, polykem.Job[polykem.KeyPairs])
    pk, sk = await job
    assert_type(pk, Bytes2D)
    assert_type(sk, polykem.Secret)
    sent = ctx.submit("encaps", "mlkem768", pk, errors="return")
    waiting: Sequence[Awaitable[polykem.Encapsulations]] = [sent]
    (ct, ss, _status), = await asyncio.gather(*waiting)
    back = ctx.submit("decaps", "mlkem768", sk, ct).result(timeout=60)
    assert_type(back.ss, polykem.Secret)
    assert back.ss == ss


def secrets(ss: polykem.Secret) -> None:
    key: bytes = ss[0].export()
    table: Bytes2D = ss.export()
    raw: bytes = bytes(ss[0])
    view = memoryview(ss)
    array = np.asarray(ss)
    Path("/dev/null").write_bytes(key + raw)
    assert view.nbytes == array.size == table.size == ss.nbytes
    for one in ss:
        assert_type(one, polykem.Secret)
    first, *others = ss
    assert_type(others, list[polykem.Secret])
    with first.copy() as copied, ss[1:] as view_of_others:
        assert copied == first and len(view_of_others) == len(others)
    assert first.wiped is False and others[0].wiped and ss.partly_wiped


def encrypted_numbers() -> None:
    context = ckks.Context(ckks.Parameters.choose(10, 2), threads=1, allow_insecure=True)
    secret = ckks.SecretKey.generate(context)
    public = ckks.PublicKey.generate(context, secret)
    evaluator = ckks.Evaluator(context, ckks.Keys.generate(context, secret, rotations=[1]))
    x = evaluator.bind(context.encrypt(public, [1.0, 2.0]))
    total: ckks.Ciphertexts = x + x
    numbers = context.decrypt(secret, evaluator.rotate(total, 1))
    assert round(numbers[0, 0].real) == 4


def main() -> None:
    with polykem.Context(threads=1) as ctx:
        pk, sk = make(ctx, 3)
        ct, ss, status = exchange(ctx, pk)
        assert_type(ct, Bytes2D)
        assert_type(status, npt.NDArray[np.int32])
        keyset = ctx.keyset("mlkem768", sk)
        back = ctx.decaps("mlkem768", keyset, ct, key_index=[0, 1, 2])
        assert back.ss == ss
        stored, public = polykem.KeySet.generate(ctx, "mlkem512", 2)
        assert_type(public, Bytes2D)
        print(stored, [record.step for record in ctx.profile("mlkem512", "encaps", 8, batch=8)])
        secrets(ss)
        messages(ctx)
        signatures(ctx)
        asyncio.run(jobs(ctx))
        try:
            ctx.encaps("mlkem768", np.full((2, 1184), 255, np.uint8))
        except polykem.ItemsError as error:
            assert_type(error.items, npt.NDArray[np.intp])
            result: Any = error.result
            print(result.status, error.status)
    encrypted_numbers()


def mistakes(ctx: polykem.Context, suite: hpke.Suite, pk: Bytes2D) -> None:
    """Mistakes that mypy must find: otherwise it says that the comment is not needed."""
    ctx.encaps("mlkem768", pk, errors="ignore")  # type: ignore[arg-type]
    ctx.keygen(768)  # type: ignore[arg-type]
    ctx.submit("keygen", "mlkem768", "ten")  # type: ignore[call-overload]
    ctx.submit("sign", "mldsa65")  # type: ignore[call-overload]
    ctx.sign(polykem.Scheme("mlkem768"), pk, b"x")  # type: ignore[arg-type]
    suite.seal(ctx, pk, [b"a"]).ciphertexts.shape  # type: ignore[attr-defined]
    polykem.no_such_name  # type: ignore[attr-defined]
    for name in pk, ctx.keygen("mlkem768").sk:
        name.wipe()  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
