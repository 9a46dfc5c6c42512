# SPDX-License-Identifier: Apache-2.0
"""Tests that instructions of x86-64 mean what Intel's manual says, and of lanes that are alike. `tools/prove.sh
--self-test` runs them."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import claims  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.ranges import Facts  # noqa: E402
from proofs.algebra.terms import add, const, extract, mul, sub, variable  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86.lanes import flatten  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs_code import Code  # noqa: E402

Q = 3329


class LanesAlike(unittest.TestCase):
    """Registers of which one lane is known, as a function of its own item."""

    def setUp(self):
        terms.forget()
        self.x, self.y = variable("x", 16), variable("y", 16)

    def ran(self, code):
        """Returns a machine that has run the code with x in all lanes of xmm2 and y in those of xmm3."""
        m = X86(Code(code + " c3"))
        m.alike = True
        m.vector[2], m.vector[3] = (m.lanes_alike(word, 64) for word in (self.x, self.y))
        m.call("f")
        return m

    def test_instructions(self):
        x, y = self.x, self.y
        for code, lane in (("62f16d48fdcb", add(x, y)),  # vpaddw zmm1,zmm2,zmm3
                           ("62f16d48f9cb", sub(x, y)),  # vpsubw
                           ("62f16d48d5cb", mul(x, y)),  # vpmullw
                           ("62f1754871d203", terms.shift_right(x, 3)),  # vpsrlw zmm1,zmm2,3
                           ("62f1754871f203", terms.shift_left(x, 3))):  # vpsllw
            m = self.ran(code)
            self.assertIs(m.lane_of(m.vector[1], 16), lane, code)
            self.assertIsNone(m.lane_of(m.vector[1][:32], 16), code)

    def test_other_lanes_are_not_alike(self):
        for code in ("62f16d48fecb",  # vpaddd zmm1,zmm2,zmm3
                     "62f36d480fcb02",  # vpalignr zmm1,zmm2,zmm3,2
                     "62f16d4961cb",  # vpunpcklwd zmm1{k1},zmm2,zmm3
                     "62f16d49fdcb"):  # vpaddw zmm1{k1},zmm2,zmm3
            m = self.ran(code)
            self.assertIsNone(m.lane_of(m.vector[1], 16), code)
            self.assertIsNone(m.lane_of(m.vector[1], 32), code)
        m = self.ran("90")
        self.assertIsNone(m.lane_of(m.vector[2], 32))
        self.assertIsNone(m.lane_of(m.vector[2][2:] + m.vector[2][:2], 16))
        self.assertIsNone(m.lane_of(m.vector[2][:62] + m.vector[3][:2], 16))

    def test_constants(self):
        m = X86(Code("c3"))
        lane = memory.bytes_of(const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 16), const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 16), const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 32), const(0x12341234, 32))
        self.assertIsNone(m.lane_of(lane * 8, 8))
        self.assertIsNone(m.lane_of(lane * 7 + lane[::-1], 16))

    def test_nothing_is_known_of_all_lanes(self):
        facts = Facts(Q)
        facts.assume(self.x, 0, 3)
        for term in (terms.alike(self.x, 2), extract(terms.alike(self.x, 2), 15, 0)):
            with self.assertRaises(NotProved):
                facts.fact(term)

    def test_rows_of_an_array(self):
        run = claims.Run(Code("c5fd6f06 c5fd7f07 c5fd6f4620 c4e37d0fc902 c5fd7f4f20 c3"), Q)  # the second is rotated
        a, c = run.unknown_lanes("a", 2, 16), run.space()
        run.machine.call("f", c, a.address)
        self.assertIs(run.lane(c, 0, 16), a.words[0])
        with self.assertRaises(NotProved):
            run.lane(c, 1, 16)


def lanes_of(register, width, count):
    value = memory.value_of(register).value
    return [value >> n * width & (1 << width) - 1 for n in range(count)]


class Instructions(unittest.TestCase):
    """Instructions on known words, against values from Intel's manual."""

    def setUp(self):
        terms.forget()

    def ran(self, code, vectors=(), general=(), masks=()):
        """Returns a machine that has run the code. `vectors` are (number, width, lanes), `general` and `masks` (number,
        value); lanes that are not given are known to be 0x55..."""
        m = X86(Code(code + " c3"))
        m.general = [const(0x5555555555555555, 64)] * 16
        m.mask = [const(0, 64)] * 8
        m.vector = [memory.bytes_of(const(int("55" * 64, 16), 512)) for _ in range(32)]
        for number, width, lanes in vectors:
            low = flatten(const(lane, width) for lane in lanes)
            m.vector[number] = low + m.vector[number][len(low):]
        for number, value in general:
            m.general[number] = const(value, 64)
        for number, value in masks:
            m.mask[number] = const(value, 64)
        m.call("f")
        return m

    def lanes(self, code, width, expected, *vectors, masks=(), rest=0):
        """The code leaves the expected lanes in xmm1, and `rest` in all bytes above."""
        register = self.ran(code, vectors, masks=masks).vector[1]
        self.assertEqual(lanes_of(register, width, len(expected)), [x & (1 << width) - 1 for x in expected])
        above = len(expected) * width // 8
        self.assertEqual(lanes_of(register[above:], 8, 64 - above), [rest] * (64 - above))

    def test_saturation(self):
        a = (2, 16, (-1, 0, 255, 256, 0x7FFF, -0x8000, 5, 128))
        self.lanes("c5e967ca", 8, (0, 0, 255, 255, 255, 0, 5, 128) * 2, a, (2, 16, a[2]))  # vpackuswb xmm1,xmm2,xmm2
        b = (3, 32, (0x10000, -1, 0xFFFF, 0x8000, 9, 10, 11, 12))
        # vpackusdw ymm1,ymm3,ymm3: in each 128 bits
        self.lanes("c4e2652bcb", 16, (0xFFFF, 0, 0xFFFF, 0x8000) * 2 + (9, 10, 11, 12) * 2, b)

    def test_products(self):
        a = (2, 16, (0x4000, -0x8000, -1, 1, -3, 0x7FFF, 0, 2))
        b = (3, 16, (3, -0x8000, 0x4000, 0x2000, 0x4000, 0x7FFF, 5, 0x3FFF))
        self.lanes("c4e2690bcb", 16, (2, -0x8000, 0, 0, -1, 0x7FFE, 0, 1), a, b)  # vpmulhrsw
        # vpmaddwd: -0x8000 * -0x8000 twice is -2^31
        self.lanes("c5e9f5cb", 32, (-(1 << 31), 7, 0, 0), (2, 16, (-0x8000, -0x8000, 1, 2, 0, 0, 0, 0)),
                   (3, 16, (-0x8000, -0x8000, 3, 2, 9, 9, 0, 0)))
        # vpmaddubsw: bytes of xmm2 are unsigned, sums saturate
        self.lanes("c4e26904cb", 16, (0x7FFF, -0x8000, -1, 10, 0, 0, 0, 0),
                   (2, 8, (255, 255, 255, 255, 1, 0, 1, 2) + (0,) * 8),
                   (3, 8, (127, 127, -128, -128, -1, 77, 4, 3) + (9,) * 8))

    def test_choices(self):
        a, b, c = (1, 32, (0xF0F0F0F0, 1, -1, 2)), (2, 32, (0x11111111,) * 4), (3, 32, (0x22222222,) * 4)
        # vpternlogd xmm1{k1},xmm2,xmm3,0xca: bits of xmm2 where xmm1 has ones, else of xmm3
        self.lanes("62f36d0925cbca", 32, (0x12121212, 1, 0x11111111, 2), a, b, c, masks=[(1, 5)])
        # vpternlogd xmm1,xmm1,xmm1,0xff is ones, whatever was there
        m = X86(Code("62f3750825c9ff c3"))
        m.call("f")
        self.assertEqual(memory.value_of(m.vector[1]).value, (1 << 128) - 1)
        table, other = (16, tuple(range(8))), (16, tuple(range(8, 16)))
        index = (16, (15, 8, 7, 0, 16, 1, 9, 31))
        self.lanes("62f2ed087dcb", 16, (15, 8, 7, 0, 0, 1, 9, 15), (1, *table), (2, *index), (3, *other))  # vpermt2w
        self.lanes("62f2ed0875cb", 16, (15, 8, 7, 0, 0, 1, 9, 15), (1, *index), (2, *table), (3, *other))  # vpermi2w
        # vpblendmw xmm1{k1}{z}
        self.lanes("62f2ed8966cb", 16, (0, 9, 0, 11, 0, 0, 0, 15), (2, *table), (3, *other), masks=[(1, 0x8A)])
        # vpshufb ymm1,ymm2,ymm3: within 128 bits, and zero where the highest bit is set
        self.lanes("c4e26d00cb", 8, (15, 0, 0, 5) * 4 + (31, 0, 16, 21) * 4, (2, 8, tuple(range(32))),
                   (3, 8, (15, 0x81, 0x70, 5) * 8))

    def test_inserted_lanes(self):
        a, b = (2, 32, (1, 2, 3, 4)), (3, 32, (5, 6, 7, 8))
        self.lanes("c4e36921cbe2", 32, (1, 0, 8, 4), a, b)  # vinsertps xmm1,xmm2,xmm3,0xe2
        self.lanes("c4e3694ccb40", 8, (16, 1, 2, 19) + (0,) * 12, (2, 8, (0, 1, 2, 3) + (0,) * 12),
                   (3, 8, (16, 17, 18, 19) + (9,) * 12), (4, 8, (0x80, 0x7F, 0, 0xFF) + (0,) * 12))  # vpblendvb

    def test_masks(self):
        a, b, old = (2, 32, tuple(range(8))), (3, 32, (10,) * 8), (1, 32, tuple(range(100, 108)))
        self.lanes("62f16da9fecb", 32, (10, 0, 12, 0, 0, 0, 0, 17), a, b, old, masks=[(1, 0x85)])  # vpaddd ymm1{k1}{z}
        self.lanes("62f16d29fecb", 32, (10, 101, 12, 103, 104, 105, 106, 17), a, b, old, masks=[(1, 0x85)])
        # vshufi32x4 ymm1{k1},ymm2,ymm3,1: lanes of 32 bits
        self.lanes("62f36d2943cb01", 32, (4, 101, 6, 103, 10, 10, 106, 107), a, b, old, masks=[(1, 0x35)])
        # vpmovdw xmm1{k1},xmm2 clears what is above four words
        self.lanes("62f27e0933d1", 16, (0, 0x5555, 2, 0x5555), a, masks=[(1, 0xF5)])
        self.lanes("660ffdca", 16, (3,) * 8, (1, 16, (1,) * 8), (2, 16, (2,) * 8), rest=0x55)  # paddw keeps the rest
        m = self.ran("62f16d0a65cb", [(2, 16, (1, 2, 3, -4, 0, 0, 0, 0)), (3, 16, (0, 0, 5, -5, 0, 0, 0, 0))],
                     masks=[(2, 0xFD)])  # vpcmpgtw k1{k2},xmm2,xmm3
        self.assertEqual(m.mask[1].value, 9)
        self.assertEqual(self.ran("c5f893c1", masks=[(1, 0x123456)]).general[0].value, 0x3456)  # kmovw eax,k1
        self.assertEqual(self.ran("c5f992c8", general=[(0, 0x123456)]).mask[1].value, 0x56)  # kmovb k1,eax

    def test_stores_by_masks(self):
        for code, step in (("62f27e493117", 1),  # vpmovdb [rdi]{k1},zmm2
                           ("62f37d49391701", 4),  # vextracti32x4 [rdi]{k1},zmm2,1
                           ("62f17f097f17", 1)):  # vmovdqu8 [rdi]{k1},xmm2
            m = self.ran(code, [(2, 32, range(16))], [(7, 0x2000)], [(1, 5)])
            at = [0x2000 + step * lane + byte for lane in (0, 2) for byte in range(step)]
            self.assertEqual(sorted(m.memory.unread), at, code)
            m = X86(Code(code + " c3"))
            m.general[7] = const(0x2000, 64)
            with self.assertRaisesRegex(memory.NotFollowed, "a mask of memory depends on an input", msg=code):
                m.call("f")

    def test_order_of_lanes(self):
        a, b = (2, 8, tuple(range(16))), (3, 8, tuple(range(16, 32)))
        self.lanes("c4e3690fcb04", 8, tuple(range(20, 32)) + (0, 1, 2, 3), a, b)  # vpalignr xmm1,xmm2,xmm3,4
        a, b = (2, 16, tuple(range(16))), (3, 16, tuple(range(100, 116)))
        self.lanes("c5ed61cb", 16, (0, 100, 1, 101, 2, 102, 3, 103, 8, 108, 9, 109, 10, 110, 11, 111),
                   a, b)  # vpunpcklwd

        a, b = (2, 16, tuple(range(16))), (3, 16, tuple(range(100, 116)))
        self.lanes("c5ff70ca1b", 16, (3, 2, 1, 0, 4, 5, 6, 7, 11, 10, 9, 8, 12, 13, 14, 15), a)  # vpshuflw ymm1,ymm2,27
        self.lanes("c5fe70ca1b", 16, (0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12), a)  # vpshufhw
        signs = (4, 8, (0x80, 0, 0x7F, 0xFF) * 4)
        self.lanes("c4e3694ccb40", 8, (16, 1, 2, 19, 20, 5, 6, 23, 24, 9, 10, 27, 28, 13, 14, 31),
                   (2, 8, tuple(range(16))), (3, 8, tuple(range(16, 32))), signs)  # vpblendvb xmm1,xmm2,xmm3,xmm4

    def test_double_shifts(self):
        a, b = (2, 16, (0x1234,) * 8), (3, 16, (0xABCD,) * 8)
        self.lanes("62f3ed0870cb04", 16, (0x234A,) * 8, a, b)  # vpshldw xmm1,xmm2,xmm3,4
        self.lanes("62f3ed0872cb04", 16, (0xD123,) * 8, a, b)  # vpshrdw

    def test_long_shifts(self):
        a = (2, 16, (1, -1, 0x7FFF, -0x8000) * 2)
        for count in (16, 17, 1 << 40):
            self.lanes("c5e9f1cb", 16, (0,) * 8, a, (3, 64, (count, 1)))  # vpsllw
            self.lanes("c5e9e1cb", 16, (0, -1, 0, -1) * 2, a, (3, 64, (count, 1)))  # vpsraw

    def test_general_registers(self):
        a, b = 0x1122334455667788, 0xFFFFFFFFFFFFFF99
        for code, expected in (("88dc", 0x1122334455669988),  # mov ah,bl
                               ("6601d8", 0x1122334455667721),  # add ax,bx
                               ("01d8", 0x55667721),  # add eax,ebx
                               ("c0f809", 0x11223344556677FF),  # sar al,9
                               ("f7d8", 0xAA998878)):  # neg eax
            self.assertEqual(self.ran(code, general=[(0, a), (3, b)]).general[0].value, expected, code)
        # shl eax,cl; sbb eax,ebx after cmp rax,rbx
        self.assertEqual(self.ran("d3e0", general=[(0, a), (1, 33)]).general[0].value, 0x55667788 * 2 & 0xFFFFFFFF)
        self.assertEqual(self.ran("4839d8 19d8", general=[(0, a), (3, b)]).general[0].value,
                         (0x55667788 - 0xFFFFFF99 - 1) % (1 << 32))

    def test_flags(self):
        def flags(code, a, b, count=0):
            return self.ran(code, general=[(0, a), (3, b), (1, count)])

        m = flags("4839d8", 1, -1)  # cmp rax,rbx
        self.assertEqual([m.condition(code).value for code in ("b", "ae", "l", "ge", "e", "a", "g")],
                         [1, 0, 0, 1, 0, 0, 1])
        m = flags("4839d8", 1 << 63, 1)
        self.assertEqual([m.condition(code).value for code in ("b", "l", "s", "be", "le")], [0, 1, 0, 0, 1])
        self.assertEqual(flags("4839d8 d3e0", 5, 5, 32).condition("e").value, 1)  # shl by 0 keeps them
        with self.assertRaises(memory.NotFollowed):
            flags("01d8", 1, 2).condition("l")

    def test_what_is_not_followed(self):
        for code in ("0ffdca",  # paddw mm1,mm2
                     "6a05",  # push 5
                     "66 0f 6f 0c 25 08 00 01 00",  # movdqa xmm1,[0x10008]
                     "8b042508000000",  # mov eax,[8]
                     "65488b042528000000",  # mov rax,gs:[0x28]
                     "678b06"):  # mov eax,[esi]
            with self.assertRaises(memory.NotFollowed):
                self.ran(code, general=[(6, Code.START)])
        m = X86(Code("8b0500100000c3", variable=[range(Code.START + 0x1000, Code.START + 0x2000)]))
        with self.assertRaises(memory.NotFollowed):
            m.call("f")

    def test_code_may_end_where_its_segment_does(self):
        library = Code("")
        library.bytes[Code.START] = bytes.fromhex("89d8c3")  # mov eax,ebx
        m = X86(library)
        m.general[3] = const(7, 64)
        m.call("f")
        self.assertEqual(m.general[0].value, 7)

    def test_thread_data_is_unknown(self):
        # mov rax,fs:[0x28]; sub rax,fs:[0x28]
        self.assertIsNone(self.ran("64488b042528000000").general[0].value)
        self.assertEqual(self.ran("64488b042528000000 64482b042528000000").general[0].value, 0)

    def test_functions_that_are_replaced(self):
        m = X86(Code("e8 0b 00 00 00 c3" + "90" * 10 + "b8 01 00 00 00 c3"))  # f calls g, which returns 1
        m.call("f")
        self.assertEqual(m.general[0].value, 1)
        m = X86(m.library)
        m.instead[Code.START + 16] = lambda m: m.memory.store(0x20000, memory.bytes_of(const(5, 64)))
        m.call("f")
        self.assertEqual(memory.value_of(m.memory.load(0x20000, 8)).value, 5)
        self.assertIsNone(m.general[0].value)


if __name__ == "__main__":
    unittest.main()
