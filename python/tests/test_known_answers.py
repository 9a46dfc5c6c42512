# SPDX-License-Identifier: Apache-2.0
"""Tests the known answers of tests/data through Python, a batch for each set."""
import numpy as np
import polykem
import pytest

from known_answers import known_answers


def records(counts, field):
    values = [bytes.fromhex(c[field] if isinstance(c[field], str) else "".join(c[field])) for c in counts]
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(counts), -1)


@pytest.mark.parametrize("scheme", polykem.schemes(), ids=lambda s: s.name)
def test_known_answers(ctx, scheme):
    counts = known_answers(scheme.name)
    pk, sk = ctx.keygen(scheme, len(counts), coins=records(counts, "keypair_draws"))
    assert np.array_equal(pk, records(counts, "pk"))
    assert sk == records(counts, "sk")
    ct, ss, status = ctx.encaps(scheme, pk, coins=records(counts, "encaps_draws"))
    assert np.array_equal(ct, records(counts, "ct"))
    assert ss == records(counts, "ss")
    assert not status.any()
    assert ctx.decaps(scheme, sk, ct).ss == ss


@pytest.mark.parametrize("scheme", ["mlkem768", "frodokem640shake", "ntruhps2048509"])
def test_rejection(ctx, scheme):
    """A ciphertext with a wrong byte yields the rejection secret and no error."""
    for count in known_answers(scheme)[:2]:
        ct = np.tile(np.frombuffer(bytes.fromhex(count["ct"]), np.uint8), (len(count["reject"]), 1))
        for row, change in zip(ct, count["reject"]):
            row[change["byte"]] ^= change["xor"]
        result = ctx.decaps(scheme, bytes.fromhex(count["sk"]), ct)
        assert result.ss == bytes.fromhex("".join(change["ss"] for change in count["reject"]))
        assert not result.status.any()


@pytest.mark.parametrize("scheme", [s for s in polykem.schemes() if s.secret_seed_bytes], ids=lambda s: s.name)
def test_seeds_as_secret_keys(ctx, scheme):
    counts = known_answers(scheme.name)
    seeds = records(counts, "keypair_draws")
    assert seeds.shape[1] == scheme.secret_seed_bytes
    ct = records(counts, "ct")
    assert ctx.decaps(scheme, seeds, ct).ss == records(counts, "ss")
    one = ctx.decaps(scheme, seeds[0], ct[0])
    assert one.ss == records(counts[:1], "ss")
    keyset = ctx.keyset(scheme, seeds)
    assert keyset.kind == "secret"
    assert ctx.decaps(scheme, keyset, ct).ss == records(counts, "ss")
