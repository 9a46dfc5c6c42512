# SPDX-License-Identifier: Apache-2.0
"""Tests pinned memory of results, with a stand-in for CuPy that hands out ordinary memory."""

import sys
from types import SimpleNamespace

import numpy as np
import polykem
import pytest
from polykem.bulk.kem import Computer
from polykem.bulk.memory import Pinned

ROWS = 5


@pytest.fixture
def allocated(monkeypatch):
    """All memory that was allocated; sizes above `allocated.limit` are refused."""
    class Blocks(list):
        limit = 1 << 20

        def allocate(self, size):
            if size > self.limit:
                raise OSError("cudaErrorMemoryAllocation")
            self.append(bytearray(b"?" * size))
            return self[-1]

    blocks = Blocks()
    cuda = SimpleNamespace(alloc_pinned_memory=blocks.allocate, runtime=SimpleNamespace(CUDARuntimeError=OSError))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    return blocks


@pytest.fixture
def computer(allocated):
    def of(operation, scheme="mlkem512"):
        job = SimpleNamespace(operation=operation, scheme=scheme, writes=[])
        return Computer(job, 1, "ref", memory)

    memory = Pinned()
    return of


def test_partitions_use_memory_in_turn(computer, allocated):
    keygen, encaps, decaps = (computer(operation) for operation in ("keygen", "encaps", "decaps"))
    sizes = set()
    for _ in range(20):
        pairs = keygen.run(ROWS, {}, None)
        sent = encaps.run(ROWS, {"pk": pairs["pk"]}, None)
        got = decaps.run(ROWS, {"sk": pairs["sk"], "ct": sent["ct"]}, None)
        assert np.array_equal(sent["ss"], got["ss"]) and not got["status"].any()
        for results in (pairs, sent, got):
            keygen.memory.give_back(results)
        sizes.add(len(allocated))
    assert len(sizes) == 1


def test_secrets_are_overwritten_when_nobody_has_memory(computer):
    keygen = computer("keygen")
    first, second = keygen.run(ROWS, {}, None), keygen.run(ROWS, {}, None)
    secret = first["sk"]
    keygen.memory.give_back(first)
    assert secret.any()
    keygen.memory.give_back(second)
    assert not secret.any() and not second["sk"].any()
    assert first["pk"].any()


def test_memory_of_secrets_holds_nothing_else(allocated):
    memory = Pinned()
    secret = memory.take("ss", (ROWS, 32))
    memory.give_back({"ss": secret})
    assert not np.shares_memory(secret, memory.take("pk", (ROWS, 32)))
    assert np.shares_memory(secret, memory.take("ss", (ROWS, 32)))


def test_a_batch_that_fails_gives_its_memory_back(computer):
    keygen = computer("keygen")
    with pytest.raises(polykem.ArgumentError):
        keygen.run(ROWS, {}, np.zeros((ROWS - 1, keygen.scheme.keygen_coin_bytes), np.uint8))
    assert keygen.memory.taken == 0


def test_without_memory_what_was_taken_is_given_back(computer, allocated):
    keygen = computer("keygen")
    allocated.limit = ROWS * polykem.Scheme("mlkem512").public_key_bytes
    with pytest.raises(MemoryError):
        keygen.run(ROWS, {}, None)
    assert keygen.memory.taken == 0
    allocated.limit = 1 << 20
    keygen.memory.give_back(keygen.run(ROWS, {}, None))
    assert not any(free.any() for (role, _), arrays in keygen.memory.free.items() if role == "sk" for free in arrays)
