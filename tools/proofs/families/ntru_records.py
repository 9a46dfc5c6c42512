# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps that read and write records: keys, ciphertexts, trits and coins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proofs.algebra.facts import NotProved
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, compare, concat, const, extract, keep_sums_whole, shape, zext
from proofs.claims import Proof, Run, Values
from proofs.families.ntru import LOG_Q
from proofs.families.ntru_state import WORD, Backend, State, Words, rounded_up
from proofs.machines.memory import Library, bytes_of


def bits_at(record: Words, first: int, count: int) -> Term:
    """Returns bits of bytes, the lowest first in each."""
    return concat(*(extract(record[bit // 8], bit % 8, bit % 8) for bit in range(first + count - 1, first - 1, -1)))


def packed(backend: Backend, n: int) -> Proof:
    """store_c, store_h: the lowest bits of all coefficients but the last one. [NTRU20, pack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, 3), LOG_Q[n]
        state = State(run, backend, n)
        z, count = state.words("z"), rounded_up((n - 1) * bits, 8) // 8
        run.machine.call(function, state.address)
        whole = concat(const(0, 8 * count - (n - 1) * bits), *(extract(word, bits - 1, 0) for word in z[-2::-1])) \
            if 8 * count > (n - 1) * bits else concat(*(extract(word, bits - 1, 0) for word in z[-2::-1]))
        for at, byte in enumerate(state.get_record(state.records, count, count)):
            run.expect_same(byte, extract(whole, 8 * at + 7, 8 * at), f"byte {at}")

    return prove


def unpacked(backend: Backend, n: int) -> Proof:
    """load_h: coefficients from their bits; the last one makes the sum zero. [NTRU20, unpack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, count = Run(library, 3), rounded_up((n - 1) * LOG_Q[n], 8) // 8
        state = State(run, backend, n)
        record = state.put_record(state.records, count, "h", count)
        run.machine.call(function, state.address)
        expect_unpacked(run, state.get("x"), record, LOG_Q[n])

    return prove


def expect_unpacked(run: Run, words: Words, record: Words, bits: int) -> None:
    """Raises NotProved unless words are the bits of a record, and the last one is minus their sum."""
    sums, total = Facts(WORD), {}
    for i, word in enumerate(words[:-1]):
        run.expect_same(word, zext(bits_at(record, i * bits, bits), 16), f"coefficient {i}")
        sums.assume(word, 0, (1 << bits) - 1)
        total[i,] = WORD - 1
    if sums.fact(words[-1]).form != total:
        raise NotProved("the sum of the coefficients is not zero")


def loaded(backend: Backend, n: int) -> Proof:
    """load_c_sk: c, f, 1/f and 1/h from the records, and whether bits of c beyond its coefficients are set. [NTRU20,
    DPKE_Decrypt, unpack_S3, unpack_Sq]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits, trit_bytes = Run(library, 3), LOG_Q[n], -(-(n - 1) // 5)
        count = rounded_up((n - 1) * bits, 8) // 8
        state = State(run, backend, n)
        sk_bytes = 2 * trit_bytes + count + 32
        records = run.space()
        run.machine.memory.store(state.batch + 32, bytes_of(const(records, 64)))
        run.machine.memory.store(state.batch + 40, bytes_of(const(state.records, 64)))
        c = state.put_record(state.records, count, "c", count)
        sk = state.put_record(records, sk_bytes, "sk", sk_bytes)
        run.machine.call(function, state.address)
        expect_unpacked(run, state.get("x"), c, bits)
        for name, at in (("a", 0), ("inverse_f", trit_bytes)):
            expect_trits(run, state.get(name), sk[at:at + trit_bytes], name)
        u = state.get("u")
        for i, word in enumerate(u[:-1]):
            expected = zext(bits_at(sk[2 * trit_bytes:], i * bits, bits), 16)
            run.expect_same(word, expected, f"coefficient {i} of 1/h")
        if u[-1].value != 0:
            raise NotProved("the last coefficient of 1/h is not zero")
        size, used = 2 if backend.lanes > 1 else 4, (n - 1) * bits % 8
        fail = state.item_at(state.at("fail"), size)
        if used:
            run.expect_table(compare("eq", fail, const(0, fail.width)), c[-1], lambda x: x >> used == 0, "failure")
            if size == 4:
                run.expect_table(fail, c[-1], lambda x: np.where(x >> used == 0, 0, -1), "failure")
        elif fail.value != 0:
            raise NotProved("a failure is noted")

    return prove


def expect_trits(run: Run, words: Words, record: Words, what: str) -> None:
    """Raises NotProved unless words are the digits of bytes to base 3, the lowest five of each, and the last is 0."""
    for i, word in enumerate(words[:-1]):
        run.expect_table(word, record[i // 5], DIGITS[i % 5], f"coefficient {i} of {what}")
    if words[-1].value != 0:
        raise NotProved(f"the last coefficient of {what} is not zero")


DIGITS = [lambda x, power=3 ** j: x // power % 3 for j in range(5)]


def packed_trits(backend: Backend, n: int) -> Proof:
    """pack_rm: five trits a byte, of a and of b. [NTRU20, pack_S3]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        state, count = State(run, backend, n), -(-(n - 1) // 5)
        polys = [state.trits("a"), state.trits("b")]
        run.machine.call(function, state.address)
        record = state.get_record(state.at("rm"), 2 * count, 2 * count)
        for which, poly in enumerate(polys):
            for at in range(count):
                expect_byte_of_trits(run, record[which * count + at], poly, at, f"byte {at} of {which}")

    return prove


def expect_byte_of_trits(run: Run, byte: Term, poly: Words, at: int, what: str) -> None:
    """Raises NotProved unless a byte is the sum of 3^j times trit j of its five, or fewer at the end. Where pairs of
    bytes are words, it could depend on the byte before it."""
    own = poly[5 * at:min(5 * at + 5, len(poly) - 1)]
    before = poly[5 * at - 5:5 * at] if shape(byte, own) is None else []
    run.expect_table(byte, [*before, *own], SUM_OF_TRITS[len(before)], what)


def sum_of_trits(before: int) -> Callable[..., Values]:
    return lambda *x: sum((3 ** j * trit for j, trit in enumerate(x[before:])), np.zeros_like(x[0]))


SUM_OF_TRITS = {before: sum_of_trits(before) for before in (0, 5)}


def sampled(backend: Backend, n: int) -> Proof:
    """sample_rm of HRSS: each coefficient of r and m is a byte mod 3, the last one 0. [NTRU20, Ternary]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        coins = run.space() if backend.lanes > 1 or backend.has_bytes else 0
        count = 2 * (n - 1)
        if coins:
            run.machine.memory.store(state.batch + 16, bytes_of(const(coins, 64)))
            if backend.lanes > 1:
                run.machine.memory.store(state.address + 32, bytes_of(const(coins, 64)))
                run.machine.memory.store(state.address + 40, bytes_of(const(count, 64)))
        else:
            coins = state.at("coins")
        record = state.put_record(coins, count, "coins", count)
        run.machine.call(function, state.address)
        for name, at in (("a", 0), ("b", n - 1)):
            words = state.get(name)
            for i, word in enumerate(words[:-1]):
                run.expect_table(word, record[at + i], DIGITS[0], f"coefficient {i} of {name}")
            if words[-1].value != 0:
                raise NotProved(f"the last coefficient of {name} is not zero")

    return prove
