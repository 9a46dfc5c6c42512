# SPDX-License-Identifier: Apache-2.0
"""Tests of a run's memory, and of the functions of a library. `tools/prove.sh --self-test` runs them."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.terms import const, extract, variable  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs_code import Code  # noqa: E402


class Memory(unittest.TestCase):
    """A library's functions, and bytes that are stored and loaded."""

    def setUp(self):
        terms.forget()

    def test_names_of_functions(self):
        code = Code("c3")
        code.functions |= {"one_f": 1, "two_f": 2}
        self.assertEqual(code.function("one*"), 1)
        for name in ("*_f", "three*"):
            with self.assertRaises(memory.NotFollowed):
                code.function(name)

    def test_memory_that_may_hold_anything(self):
        m = memory.Memory(Code("c3"))
        m.unknown.append(range(0x20000, 0x20010))
        self.assertIsNone(memory.value_of(m.load(0x20000, 4)).value)
        with self.assertRaises(memory.NotFollowed):
            m.load(0x2000F, 2)

    def test_memory_overlaps(self):
        m = memory.Memory(Code("c3"))
        m.store(0x20000, memory.bytes_of(const(0x1122334455667788, 64)))
        m.store(0x20003, memory.bytes_of(const(0xAABB, 16)))
        self.assertEqual(memory.value_of(m.load(0x20000, 8)).value, 0x112233AABB667788)
        x = variable("x", 32)
        m.store(0x20002, memory.bytes_of(x))
        self.assertIs(memory.value_of(m.load(0x20002, 4)), x)
        self.assertIs(memory.value_of(m.load(0x20003, 2)), extract(x, 23, 8))


if __name__ == "__main__":
    unittest.main()
