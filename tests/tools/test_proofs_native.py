# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison with a CPU: it has memory for all arrays of a claim, and compares what is in each.
`tools/prove.sh --self-test` runs them."""
import ctypes
import mmap
import pathlib
import platform
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import native  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.terms import const  # noqa: E402
from proofs.claims import DISTANCE, FIRST_ADDRESS, Claim, Run  # noqa: E402
from proofs.machines.memory import NotFollowed, bytes_of  # noqa: E402
from proofs_code import Code  # noqa: E402

COPY = "8a078806c3"  # mov al, [rdi]; mov [rsi], al; ret
CHANGE = "8a0734018806c3"  # the same, but for xor al, 1 in between
ARRAYS = 30


def copies_a_byte(library, function):
    run = Run(library, 3)
    spaces = [run.space() for _ in range(ARRAYS - 2)]
    a, out = run.unknown("a", 1, 0, 255, 8), run.space()
    run.machine.call(function, a.address, out)
    assert out == spaces[0] + (ARRAYS - 1) * DISTANCE
    run.expect_same(run.result(out, 0, 8), a.words[0], "the byte")


def reads_beyond_arrays(library, function):
    run = Run(library, 3)
    out = run.space()
    run.machine.memory.store(out + DISTANCE, bytes_of(const(7, 8)))
    run.machine.call(function, out + DISTANCE, out)


@unittest.skipUnless(platform.machine() in ("x86_64", "AMD64"), "the code is for x86-64")
class OnThisCpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.area = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        cls.at = ctypes.addressof(ctypes.c_char.from_buffer(cls.area))
        cls.cpu = native.Cpu()
        cls.cpu._base = lambda path: cls.at - Code.START

    def setUp(self):
        terms.forget()

    def compare(self, prove, code):
        """Compares the code on this CPU with COPY by the machine."""
        code = bytes.fromhex(code)
        self.area[:len(code)] = code
        self.cpu.compare(Claim("copy", "f", "", "", prove), Code(COPY), seed=1)

    def test_arrays_as_many_as_a_claim_has(self):
        copies_a_byte(Code(COPY), "f")
        self.compare(copies_a_byte, COPY)

    def test_the_last_array_is_compared(self):
        with self.assertRaisesRegex(native.Differs, f"byte {FIRST_ADDRESS + ARRAYS * DISTANCE:#x} is"):
            self.compare(copies_a_byte, CHANGE)

    def test_inputs_outside_of_the_arrays_are_refused(self):
        with self.assertRaisesRegex(native.Differs, "in no array"):
            self.compare(reads_beyond_arrays, COPY)


class Arrays(unittest.TestCase):
    def test_no_array_is_where_the_program_is(self):
        code = Code("c3")
        code.bytes[FIRST_ADDRESS + 3 * DISTANCE - 16] = bytes(32)
        run = Run(code, 3)
        self.assertEqual(run.space(), FIRST_ADDRESS + DISTANCE)
        for _ in range(2):
            with self.assertRaises(NotFollowed):
                run.space()
        self.assertEqual(run.space(), FIRST_ADDRESS + 4 * DISTANCE)


if __name__ == "__main__":
    unittest.main()
