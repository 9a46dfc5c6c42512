# SPDX-License-Identifier: Apache-2.0
"""Tests that tools/proofs/machines/x86/tiles.py does what the manual says of instructions on tiles and, where the CPU
has them, what the CPU does; and that products by tiles are not proved where they are others.
`tools/prove.sh --self-test` runs it."""
import ctypes
import mmap
import pathlib
import random
import re
import sys
import unittest

import iced_x86 as iced
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import native  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import add, concat, const, extract, mul, sext, shift_left, variable, zext  # noqa: E402
from proofs.families import amx  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86.logic import ternary_of  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs_code import Code as Library  # noqa: E402
from test_proofs_cpu import assembled  # noqa: E402

Code, Register = iced.Code, iced.Register
TMM, STRIDE = Register.TMM0, 64
CONFIG, A, B, SUMS = (0x2000_0000 + 0x1000 * n for n in range(4))
DOTS = {"VEX_TDPBSSD_TMM_TMM_TMM": (1, 1), "VEX_TDPBSUD_TMM_TMM_TMM": (1, 0), "VEX_TDPBUSD_TMM_TMM_TMM": (0, 1),
        "VEX_TDPBUUD_TMM_TMM_TMM": (0, 0)}
SHAPES = ((16, 16, 16), (3, 5, 2), (1, 16, 16))  # rows, columns, inner columns of 32 bits
FLAGS = set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")))


def program(dot):
    """f(config, a, b, sums): loads three tiles, multiplies and stores the sums."""
    make = iced.Instruction
    place = [iced.MemoryOperand(base, Register.R8) for base in (Register.RCX, Register.RSI, Register.RDX)]
    yield make.create_reg_u32(Code.MOV_R32_IMM32, Register.R8D, STRIDE)
    yield make.create_mem(Code.VEX_LDTILECFG_M512, iced.MemoryOperand(Register.RDI))
    for n in range(3):
        yield make.create_reg_mem(Code.VEX_TILELOADD_TMM_SIBMEM, TMM + n, place[n])
    yield make.create_reg_reg_reg(getattr(Code, dot), TMM, TMM + 1, TMM + 2)
    yield make.create_mem_reg(Code.VEX_TILESTORED_SIBMEM_TMM, place[0], TMM)
    yield make.create(Code.VEX_TILERELEASE)
    yield make.create(Code.RETNQ)


def config(rows, columns, inner):
    data = bytearray(64)
    data[0] = 1
    for tile, (height, width) in enumerate(((rows, columns), (rows, inner), (inner, columns))):
        data[48 + tile], data[16 + 2 * tile] = height, 4 * width
    return bytes(data)


def by_machine(code, arrays):
    run = X86(Library(code.hex()))
    for at, data in arrays.items():
        run.memory.store(at, [(const(byte, 8), 0) for byte in data])
    run.call("f", *arrays)
    return bytes(terms.extract(term, 8 * n + 7, 8 * n).value for term, n in run.memory.load(SUMS, 1024))


def by_cpu(code, arrays):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    buffers = [ctypes.create_string_buffer(data, len(data)) for data in arrays.values()]
    function = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(function)(*buffers)
    return buffers[-1].raw


class Tiles(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def drawn(self, shape):
        generator = random.Random(str(shape))
        return {CONFIG: config(*shape), **{at: generator.randbytes(1024) for at in (A, B, SUMS)}}

    def test_sums_of_products(self):
        for dot, kinds in DOTS.items():
            for rows, columns, inner in SHAPES:
                arrays = self.drawn((rows, columns, inner))
                a, b = (np.frombuffer(arrays[at], dtype=np.int8 if is_signed else np.uint8).reshape(16, 64)
                        for at, is_signed in zip((A, B), kinds))
                expected = np.frombuffer(arrays[SUMS], dtype=np.int32).reshape(16, 16).astype(np.int64).copy()
                for m in range(rows):
                    for n in range(columns):
                        for k in range(4 * inner):
                            expected[m, n] += int(a[m, k]) * int(b[k // 4, 4 * n + k % 4])
                code = assembled(program(dot), Library.START)
                self.assertEqual(by_machine(code, arrays), expected.astype(np.int32).tobytes(), (dot, rows))

    @unittest.skipUnless({"amx_tile", "amx_int8"} <= FLAGS, "the CPU has no tiles")
    def test_cpu_agrees(self):
        self.assertTrue(native.may_use_tiles())
        for dot in DOTS:
            for shape in SHAPES:
                code, arrays = assembled(program(dot), Library.START), self.drawn(shape)
                self.assertEqual(by_machine(code, arrays), by_cpu(code, arrays), (dot, shape))

    def refused(self, changed):
        code = assembled(program("VEX_TDPBSSD_TMM_TMM_TMM"), Library.START)
        with self.assertRaises(memory.NotFollowed):
            by_machine(code, {**self.drawn(SHAPES[0]), CONFIG: changed})

    def test_configurations_that_do_not_go_together_are_refused(self):
        self.refused(config(16, 16, 16)[:50] + bytes([15]) + config(16, 16, 16)[51:])  # 15 rows of b
        self.refused(bytes(64))
        self.refused(bytes([2]) + config(16, 16, 16)[1:])
        self.refused(bytes([1, 3]) + config(16, 16, 16)[2:])  # start_row
        self.refused(config(17, 16, 16))


class Limbs(unittest.TestCase):
    """Products of words by their bytes."""

    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()
        self.a, self.b, self.s = variable("a", 16), variable("b", 16), variable("s", 8)

    def limb(self, word, n):
        return zext(extract(word, 8 * n + 7, 8 * n), 32)

    def holds(self, first, second, result):
        try:
            amx.LimbForms([first], [second]).expect_sums([extract(result, 15, 0)], np.array([[0]]))
        except NotProved:
            return False
        return True

    def test_words(self):
        low = mul(self.limb(self.a, 0), self.limb(self.b, 0))
        middle = add(mul(self.limb(self.a, 1), self.limb(self.b, 0)), mul(self.limb(self.a, 0), self.limb(self.b, 1)))
        high = mul(self.limb(self.a, 1), self.limb(self.b, 1))
        self.assertTrue(self.holds(self.a, self.b, add(low, shift_left(middle, 8))))
        self.assertTrue(self.holds(self.a, self.b, add(add(low, shift_left(middle, 8)), shift_left(high, 16))))
        self.assertFalse(self.holds(self.a, self.b, add(low, shift_left(middle, 7))))
        self.assertFalse(self.holds(self.a, self.b, add(add(low, shift_left(middle, 8)), shift_left(high, 8))))
        self.assertFalse(self.holds(self.a, self.b, low))

    def test_signed_bytes(self):
        def product(signed_a, signed_s):
            parts = [(sext if signed_a else zext)(extract(self.a, 8 * n + 7, 8 * n), 32) for n in range(2)]
            s = (sext if signed_s else zext)(self.s, 32)
            return add(mul(parts[0], s), shift_left(mul(parts[1], s), 8))

        self.assertTrue(self.holds(self.a, self.s, product(False, True)))
        self.assertFalse(self.holds(self.a, self.s, product(False, False)))
        self.assertFalse(self.holds(self.a, self.s, product(True, True)))

    def test_bytes_beside_others_are_no_limbs(self):
        other = concat(const(1, 24), extract(self.a, 7, 0))
        self.assertFalse(self.holds(self.a, self.s, mul(other, sext(self.s, 32))))

    def test_sums_with_a_word(self):
        word, other = variable("b0", 16), variable("x", 16)
        self.assertIs(amx.without(add(word, other), word), other)
        for term in (word, add(word, word), add(add(other, other), self.a)):
            with self.assertRaises(NotProved):
                amx.without(term, word)


class Ternary(unittest.TestCase):
    """vpternlog with a mask that is known."""

    def test_every_table(self):
        terms.forget()
        x, y = variable("x", 8), variable("y", 8)
        values = np.arange(1 << 16, dtype=np.uint64)
        known = {x: values & np.uint64(255), y: values >> np.uint64(8)}
        for table in range(256):
            for at in range(3):
                operands = [x, y]
                operands.insert(at, const(0b01101100, 8))
                found = evaluate(ternary_of(table, *operands), known)
                bits = [known.get(term, np.full_like(values, 0b01101100)) for term in operands]
                expected = np.zeros_like(values)
                for n in range(8):
                    if table >> n & 1:
                        parts = [bit if n >> 2 - k & 1 else ~bit for k, bit in enumerate(bits)]
                        expected |= parts[0] & parts[1] & parts[2] & np.uint64(255)
                self.assertTrue(np.all(found == expected), (table, at))


if __name__ == "__main__":
    unittest.main()
