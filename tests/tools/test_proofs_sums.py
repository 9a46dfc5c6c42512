# SPDX-License-Identifier: Apache-2.0
"""Tests that what proofs of LAC and Saber rest on accepts nothing false: large sums mod q, sums of bits, and the
meaning of instructions. `tools/prove.sh --self-test` runs them."""
import itertools
import pathlib
import random
import sys
import unittest
from unittest import mock

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import gf2, sums, terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import Fact, NotProved  # noqa: E402
from proofs.algebra.ranges import Facts  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, concat, const, extract, ite, mul, sext, sub,  # noqa: E402
                                  variable, zext)
from proofs.families import lac, lac_code, saber_blocks, saber_steps  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86.arithmetic import byte_pair_products  # noqa: E402
from proofs.machines.x86.logic import ternary_of  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs_code import Code  # noqa: E402

Q = 251


def value(term, known):
    """Returns a term's bits where variables have the given bits."""
    if term.value is not None:
        return term.value
    arrays = {word: np.array([bits & (1 << word.width) - 1], dtype=np.uint64) for word, bits in known.items()}
    return int(evaluate(term, arrays)[0])


def folded(x):
    """x mod 251 with fewer bits, for x from -32630 on."""
    lifted = add(x, const(130 * Q, 16))
    high = terms.shift_right(lifted, 8)
    return add(bitwise("and", lifted, const(255, 16)), add(high, mul(high, const(4, 16))))


class Sums(unittest.TestCase):
    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()

    def of(self, *inputs):
        """Returns Sums mod 251, and a variable for each (width, low, high)."""
        facts, variables = Facts(Q), []
        for n, (width, low, high) in enumerate(inputs):
            variables.append(variable(f"x{n}", width))
            facts.assume(variables[-1], low, high)
        return sums.Sums(facts), *variables

    def refused(self, found, term):
        with self.assertRaises(NotProved):
            found.fact(term)

    def test_sums_fit_the_width(self):
        found, a, b = self.of((16, 0, 40000), (16, 0, 25535))
        self.assertEqual(found.fact(add(a, b)), Fact(0, 65535, {(0,): 1, (1,): 1}))
        found, a, b = self.of((16, 0, 40000), (16, 0, 25536))
        self.refused(found, add(a, b))
        self.refused(found, mul(a, b))

    def test_products(self):
        found, a, s = self.of((8, 0, 255), (2, -1, 1))
        product = mul(zext(a, 16), sext(s, 16))
        self.assertEqual(found.fact(product), Fact(-255, 255, {(0, 1): 1}))
        self.assertEqual(found.fact(sub(const(7, 16), product)), Fact(-248, 262, {(): 7, (0, 1): 250}))

    def test_reductions(self):
        found, a, b, c = self.of((16, -15000, 15000), (16, -15000, 15000), (16, 0, 100))
        total = add(a, b)
        self.assertEqual(found.fact(folded(total)).form, {(0,): 1, (1,): 1})
        self.assertEqual(found.fact(add(folded(total), c)).form, {(0,): 1, (1,): 1, (2,): 1})
        wrong = add(folded(total), bitwise("and", total, const(1, 16)))
        self.refused(found, wrong)
        found, a, b = self.of((16, -16384, 16383), (16, -16384, 16383))
        self.refused(found, folded(add(a, b)))  # below -32630

    def test_what_is_neither_a_sum_nor_a_product(self):
        found, a, b = self.of((8, 0, 3), (8, 0, 3))
        for term in (concat(a, b), bitwise("and", a, b), compare("ult", a, b), ite(extract(a, 0, 0), a, b),
                     terms.alike(a, 2), variable("other", 8)):
            self.refused(found, term)

    def test_no_table_is_too_large(self):
        found, a, b = self.of((32, 0, 1 << 20), (32, 0, 1 << 20))
        self.assertEqual(found.fact(add(a, b)).high, 1 << 21)
        self.refused(found, extract(add(a, b), 22, 0))

    def test_drawn_terms(self):
        accepted = 0
        for seed in range(150):
            draw = random.Random(seed)
            terms.forget()
            if seed % 2:
                terms.keep_sums_whole()
            inputs = [(8, 0, draw.choice((3, 250, 255))), (8, -draw.randrange(1, 128), draw.randrange(128)), (2, -1, 1)]
            found, *variables = self.of(*inputs)
            pool = [zext(variables[0], 16), *(sext(word, 16) for word in variables)]
            for _ in range(14):
                x, y = draw.choices(pool, k=2)
                pool.append(draw.choice((
                    add(x, y), sub(x, y), mul(x, y), folded(x), add(x, const(draw.choice((1, Q, 65000)), 16)),
                    sext(extract(x, 7, 0), 16), zext(extract(x, 8, 0), 16), terms.shift_right_signed(x, 15),
                    bitwise("and", x, const(255, 16)), extract(mul(sext(x, 32), sext(y, 32)), 15, 0))))
            for term in pool:
                try:
                    fact = found.fact(term)
                except NotProved:
                    continue
                accepted += 1
                self.holds(term, fact, variables, inputs, draw)
        self.assertGreater(accepted, 800)

    def holds(self, term, fact, variables, inputs, draw):
        for _ in range(12):
            drawn = [draw.choice((low, high, draw.randint(low, high))) for _, low, high in inputs]
            bits, integers = value(term, dict(zip(variables, drawn))), []
            for integer in range(fact.low + (bits - fact.low) % (1 << term.width), fact.high + 1, 1 << term.width):
                integers.append(integer)
            self.assertEqual(len(integers), 1, (term, fact, drawn))
            total = sum(factor * np.prod([drawn[n] for n in key], dtype=object) for key, factor in fact.form.items())
            self.assertEqual((integers[0] - total) % Q, 0, (term, fact, drawn))


class LinearBits(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.x = [variable(f"x{n}", 1) for n in range(8)]
        self.byte = concat(*reversed(self.x))
        self.linear = gf2.Linear(self.x)

    def test_sums(self):
        x, y = self.x[:2]
        self.assertEqual(self.linear.bits(bitwise("xor", bitwise("xor", x, y), const(1, 1))), (2 | 4 | 1,))
        self.assertEqual(self.linear.bits(sext(concat(x, y), 4)), (4, 2, 2, 2))
        self.assertEqual(self.linear.bits(sub(const(0, 3), zext(x, 3))), (2, 2, 2))
        self.assertEqual(self.linear.bits(ite(x, const(5, 3), const(3, 3))), (1, 1 ^ 2, 2))

    def test_what_is_not_linear(self):
        x, y = self.x[:2]
        wide = zext(self.byte, 16)
        for term in (bitwise("and", x, y), bitwise("or", x, y), ite(x, y, const(0, 1)), compare("ult", x, y),
                     terms._make("add", (wide, zext(x, 16)), 16), sub(wide, zext(x, 16)), mul(wide, const(3, 16)),
                     sub(const(0, 16), wide), compare("slt", wide, zext(x, 16)), variable("other", 8)):
            with self.assertRaises((NotProved, KeyError)):
                self.linear.bits(term)

    def test_drawn_terms(self):
        accepted = 0
        for seed in range(80):
            draw = random.Random(seed)
            self.setUp()
            pool = [self.byte, *(zext(bit, 8) for bit in self.x[:3])]
            for _ in range(14):
                a, b = draw.choices(pool, k=2)
                mask = const(draw.getrandbits(8), 8)
                pool.append(draw.choice((
                    bitwise("xor", a, b), bitwise("and", a, mask), bitwise("or", a, mask), bitwise("and", a, b),
                    bitwise("or", a, b), add(a, b), add(a, a), mul(a, const(1 << draw.randrange(8), 8)), sub(a, b),
                    sub(const(0, 8), a), terms.shift_right_signed(a, 7), terms.shift_right(a, 3),
                    ite(compare("slt", a, const(0, 8)), mask, const(0, 8)), ite(extract(a, 0, 0), a, b))))
            for term in pool:
                try:
                    bits = self.linear.bits(term)
                except NotProved:
                    continue
                accepted += 1
                for _ in range(6):
                    drawn = draw.getrandbits(8)
                    found = sum((2 * drawn + 1 & bit).bit_count() % 2 << n for n, bit in enumerate(bits))
                    known = {bit: drawn >> n & 1 for n, bit in enumerate(self.x)}
                    self.assertEqual(found, value(term, known), (term, drawn))
        self.assertGreater(accepted, 500)


class Instructions(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_products_of_bytes(self):
        """Sums of products of bytes with few bits saturate nowhere, and others may."""
        a, b = (variable(name, 8) for name in "ab")
        for bits in (2, 7, 8):
            s, t = (variable(f"{name}{bits}", bits) for name in "st")
            term = byte_pair_products(concat(b, a), concat(sext(t, 8), sext(s, 8)))
            if bits != 7:
                self.assertEqual(term.op, "add" if bits == 2 else "ite")
            half = 1 << bits - 1
            for x, y in itertools.product((0, 255, 77), (-half, half - 1, -1)):
                found = value(term, {a: x, b: x, s: y, t: y})
                self.assertEqual(terms.signed(found, 16), max(-0x8000, min(0x7FFF, 2 * x * y)))

    def test_sums_of_four_products(self):
        total, a = variable("total", 32), [variable(f"a{n}", 8) for n in range(4)]
        s = [variable(f"s{n}", 8) for n in range(4)]
        m = X86(Code("62f26d0850cb c3"))  # vpdpbusd xmm1,xmm2,xmm3
        for register, lane in ((1, total), (2, concat(*reversed(a))), (3, concat(*reversed(s)))):
            m.vector[register] = memory.bytes_of(lane) * 4 + m.vector[register][16:]
        m.call("f")
        drawn = {total: 0xFFFFFFFF, **dict(zip(a, (255, 255, 3, 0))), **dict(zip(s, (-128, 127, -1, 5)))}
        for lane in memory.lanes_of(m.vector[1][:16], 32):
            self.assertEqual(terms.signed(value(lane, drawn), 32), -1 - 255 - 3)

    def test_ternary_logic(self):
        """Each table is itself, and is a sum where each operand occurs once."""
        operands = [variable(name, 1) for name in "abc"]
        for table in range(256):
            term = ternary_of(table, *operands)
            for n in range(8):
                known = {word: n >> 2 - place & 1 for place, word in enumerate(operands)}
                self.assertEqual(value(term, known), table >> n & 1, table)
        a, b, c = operands
        self.assertIs(ternary_of(0x78, *operands), bitwise("xor", a, bitwise("and", b, c)))

    def test_bits_of_lanes_alike(self):
        x, y = variable("x", 16), variable("y", 16)
        for code, lane in (("62f16d48dbcb", bitwise("and", x, y)),  # vpandd zmm1,zmm2,zmm3
                           ("62f1ed48ebcb", bitwise("or", x, y)),  # vporq
                           ("62f36d4825cbca", ternary_of(0xCA, y, x, y))):  # vpternlogd zmm1,zmm2,zmm3,0xca
            m = X86(Code(code + " c3"))
            m.alike = True
            m.vector[1], m.vector[2], m.vector[3] = (m.lanes_alike(word, 64) for word in (y, x, y))
            m.call("f")
            self.assertIs(m.lane_of(m.vector[1], 16), lane)
            m = X86(Code(code + " c3"))
            m.alike = True
            m.vector[1], m.vector[3] = (m.lanes_alike(word, 64) for word in (y, y))
            m.vector[2] = m.lanes_alike(zext(x, 32), 64)
            m.call("f")
            self.assertIsNone(m.lane_of(m.vector[1], 16), code)


class Fields(unittest.TestCase):
    def test_products_of_fields(self):
        """Bits of fields times 2^s are those of the fields."""
        terms.forget()
        parts = [variable(f"x{n}", 5) for n in range(3)]
        whole = concat(*parts)
        for factor, low, high in itertools.product((1, 2, 3, 4, 6, 1 << 14), range(15), range(15)):
            if low <= high:
                term = extract(mul(whole, const(factor, 15)), high, low)
                for drawn in ((31, 0, 21), (1, 30, 31)):
                    number = (drawn[0] << 10 | drawn[1] << 5 | drawn[2]) * factor % (1 << 15)
                    self.assertEqual(value(term, dict(zip(parts, drawn))), number >> low & (1 << high - low + 1) - 1)
        self.assertEqual(extract(mul(whole, const(4, 15)), 6, 2), parts[2])


class Formulas(unittest.TestCase):
    def test_fields_and_codes(self):
        self.assertEqual(lac_code.power(9), 0b10001)
        self.assertEqual(len({lac_code.power(e) for e in range(511)}), 511)
        for a, b in ((3, 5), (500, 511), (77, 300)):
            self.assertEqual(lac_code.field_product(lac_code.power(a), lac_code.power(b)), lac_code.power(a + b))
        # LAC's own tables of its generators
        self.assertEqual(lac_code.generator(8), 0x1B8 << 64 | 0xBA069B8B1FFE26E5)
        self.assertEqual(lac_code.generator(16), 0x12B6B << 128 | 0xD0545DB34C1E01D5 << 64 | 0x296E58C8ED2701AD)

    def test_parities_are_code_words(self):
        of = lac_code.exponents(8)
        self.assertEqual((len(of), of[0], of[7], of[8], of[-1]), (328, 320, 327, 312, 7))

    def test_lac(self):
        self.assertEqual([int(lac.compressed(np.int64(x), np.int64(y))) for x, y in ((0, 0), (7, 8), (248, 0), (0, 248),
                                                                                    (250, 16))], [0, 16, 16, 0, 0])
        self.assertEqual([int(lac.ternary(np.int64(x))) for x in range(8)], [0, 1, 0, -1] * 2)

    def test_saber(self):
        self.assertEqual([saber_steps.rounded(x) for x in (3, 4, 8191, 8187, 8192 + 12)], [0, 1, 0, 1023, 2])
        encrypted, decrypted = saber_steps.FUNCTIONS[3]
        for m in (0, 1):
            for v in range(1024):
                self.assertEqual(decrypted(v, encrypted(v, m)), m)

    def test_records_have_to_be_packed(self):
        run = mock.Mock(drawn=None)
        block = mock.Mock(spec=saber_blocks.Block, run=run, packed={}, unpacked={})
        for call in (lambda: saber_blocks.Block.made(block, 1, 2, 3),
                     lambda: saber_blocks.Block.expect_packed(block, (1, 2, 3), [], None, "b")):
            with self.assertRaises(NotProved):
                call()


if __name__ == "__main__":
    unittest.main()
