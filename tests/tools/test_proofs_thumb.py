# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/proofs/machines/thumb: operands, calls, fields of differences, and that QEMU and the machine
agree on each form of the instructions that the machine knows: registers, flags and memory after one instruction, or a
block of IT, on drawn words. `tools/prove.sh --self-test` runs them."""
import pathlib
import random
import struct
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import faults  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.terms import concat, const, variable  # noqa: E402
from proofs.claims import Claim  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.emulated import Missing  # noqa: E402
from proofs.machines.memory import NotFollowed  # noqa: E402
from proofs.machines.thumb import general, native  # noqa: E402
from proofs.machines.thumb.machine import Thumb  # noqa: E402
from proofs.machines.thumb.text import CONDITIONS, Address, Float, Register, Shifted, decode  # noqa: E402
from proofs_code import Code  # noqa: E402
from proofs_instructions import differences, drawn_words, flags_meet  # noqa: E402

RETURN = 0x4770  # bx lr


class ThumbCode(Code):
    instruction_set = "Thumb"

    def __init__(self, code):
        super().__init__(code.hex())


def halves(*words):
    return struct.pack(f"<{len(words)}H", *words)


class Operands(unittest.TestCase):
    def of(self, *words):
        instruction = decode(halves(*words), 0)[-1]
        return (instruction.name + "s" * instruction.sets_flags + instruction.condition, *instruction.operands)

    def test_operands(self):
        r = Register
        self.assertEqual(self.of(0xEB00, 0x0181), ("add", r(1), r(0), Shifted(r(1), "lsl", 2)))
        self.assertEqual(self.of(0x3902), ("subs", r(1), 2))
        self.assertEqual(self.of(0xF85E, 0xAB04), ("ldr", r(10), Address(r(14)), 4))
        self.assertEqual(self.of(0xF852, 0x3D04), ("ldr", r(3), Address(r(2), -4, writes_back=True)))
        self.assertEqual(self.of(0xF852, 0x3021), ("ldr", r(3), Address(r(2), Shifted(r(1), "lsl", 2))))
        self.assertEqual(self.of(0xCA78), ("ldm", Address(r(2), writes_back=True), (r(3), r(4), r(5), r(6))))
        self.assertEqual(self.of(0xECBE, 0x3A01), ("vldmia", Address(r(14), writes_back=True), (Float(6, 32),)))
        self.assertEqual(self.of(0xD1FE), ("bne", 0))
        self.assertEqual(self.of(0xBF38, 0x3002), ("addlo", r(0), 2))

    def test_what_is_no_instruction(self):
        for words in ((0xDE00 | 0xFFFF,), (0xBF38,)):
            with self.assertRaises(NotFollowed):
                decode(halves(*words), 0)


class Calls(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def run_code(self, *words, arguments=(), **registers):
        m = Thumb(ThumbCode(halves(*words, RETURN)))
        for name, value in registers.items():
            m.general[int(name[1:])] = value
        m.call("f", *arguments)
        return m

    def test_structures_are_words_of_their_own(self):
        m = self.run_code(0x9801, arguments=(7, (8, 9), (10, 11, 12)))  # ldr r0, [sp, #4]
        self.assertEqual([m.general[n].value for n in range(4)], [12, 8, 9, 10])

    def test_what_a_function_need_not_preserve(self):
        m = Thumb(ThumbCode(halves(RETURN)))
        m.general = [const(n, 32) for n in range(15)]
        m.single = [const(n, 32) for n in range(32)]
        m.forget_registers_of_callee()
        self.assertEqual([n for n in range(15) if m.general[n].value == n], [*range(4, 12), 13])
        self.assertEqual([n for n in range(32) if m.single[n].value == n], [*range(16, 32)])
        with self.assertRaises(NotFollowed):
            m.condition("eq")

    def test_a_branch_or_a_store_on_an_input_is_refused(self):
        for code in ((0xB100,), (0x2800, 0xD000), (0x2800, 0xBF08, 0x6001), (0x2800, 0xBF08, 0x2A00)):
            with self.assertRaises(NotFollowed):  # cbz; cmp, beq; cmp, it, streq; cmp, it, cmpeq
                self.run_code(*code, 0xBF00, r0=variable("x", 32), r1=const(0x2000, 32), r2=variable("y", 32))

    def test_what_is_done_under_a_condition(self):
        x = variable("x", 32)
        m = self.run_code(0x2805, 0xBF34, 0x2107, 0x2109, r0=x)  # cmp r0, 5; ite lo; movlo r1, 7; movhs r1, 9
        values = evaluate(m.general[1], {x: np.array([0, 4, 5, 1 << 31], dtype=np.uint64)})
        self.assertEqual(values.tolist(), [7, 7, 9, 9])

    def test_the_stack_is_unknown(self):
        self.assertIsNone(self.run_code(0xF85D, 0x0C04).general[0].value)  # ldr r0, [sp, #-4]


class Fields(unittest.TestCase):
    """Differences that are taken apart."""

    def setUp(self):
        terms.forget()

    def test_differences_of_fields_with_a_bit_above(self):
        a, b, c, d = (variable(name, 2) for name in "abcd")
        x, y = concat(const(1, 2), a, const(1, 2), b), concat(const(0, 2), c, const(0, 2), d)
        self.assertEqual(terms.sub(x, y).op, "concat")

    def test_a_field_that_may_be_smaller_is_not_one_of_its_own(self):
        a, b, c, d = (variable(name, 2) for name in "abcd")
        for upper in (0, 1):
            x = concat(const(1, 2), a, const(upper, 1), const(0, 1), b)
            y = concat(const(0, 2), c, const(1, 2), d)
            self.assertEqual(terms.sub(x, y).op, "concat" if upper else "sub")

    def test_drawn_differences(self):
        draw = random.Random(1)
        for n in range(2000):
            terms.forget()
            known, parts = {}, []
            for side in "ab":
                row, width = [], 0
                while width < 24:
                    bits = draw.randint(1, min(6, 24 - width))
                    if draw.random() < 0.5:
                        row.append(const(draw.getrandbits(bits), bits))
                    else:
                        row.append(variable(f"{side}{width}", bits))
                        known[row[-1]] = np.array([draw.choice((0, (1 << bits) - 1, draw.getrandbits(bits)))
                                                   for _ in range(20)], dtype=np.uint64)
                    width += bits
                parts.append(concat(*row))
            a, b = (np.broadcast_to(evaluate(part, known), 20).astype(np.int64) for part in parts)
            found = np.broadcast_to(evaluate(terms.sub(*parts), known), 20).astype(np.int64)
            self.assertEqual(found.tolist(), ((a - b) % (1 << 24)).tolist(), n)

    def test_the_lower_half_of_a_product_of_two_halves(self):
        high, low = variable("high", 16), variable("low", 16)
        product = terms.mul(concat(high, low), const(0x12345, 32))
        self.assertIs(general.half(product, False), terms.mul(low, const(0x2345, 16)))


class Claims(unittest.TestCase):
    def test_instruction_sets_of_claims(self):
        for name, sets in (("mlkem ref add", ["x86-64", "AArch64"]), ("mlkem m4 add", ["Thumb"])):
            claim = Claim(name, "f", "", "", lambda library, function: None)
            self.assertEqual([s for s in ("x86-64", "AArch64", "Thumb") if claim.is_for(s)], sets)


class Faults(unittest.TestCase):
    def test_an_instruction_becomes_another(self):
        for code, expected in (((0xFA91, 0xF042), {"uadd8 r0, r1, r2"}), ((0x1853,), {"subs r3, r2, r1"}),
                               ((0x3001,), set()), ((0xBF38, 0x3002), set()),
                               ((0xFB31, 0xF002), {"smulwt r0, r1, r2"})):
            library = ThumbCode(halves(*code, RETURN))
            found = {faults.thumb.text_of(library, Code.START, changed)
                     for changed in faults.thumb.changes_of(library, Code.START)}
            self.assertTrue(expected <= found if expected else not found, (code, found))

    def test_a_fault_is_planted(self):
        library = ThumbCode(halves(0x1853, RETURN))
        changed, text = faults.plant(library, {Code.START, Code.START + 2}, set(), 1)
        self.assertEqual(text, "0x10000: adds r3, r2, r1 -> subs r3, r2, r1")
        self.assertEqual(changed.read(Code.START, 2), halves(0x1A53))


FLAGS, FLOATS, MEMORY, MEMORY_BYTES, STATE_BYTES, CODE_BYTES = 48, 64, 192, 256, 448, 12
STATE_ADDRESS = 0x20000000
POINTER, STATE, LINK, OFFSET = 9, 11, 14, 8  # registers
SAVED = (*range(11), 12)  # in the order of the state
BRANCHES = {"b", "bx", "bl", "blx", "cbz", "cbnz", "adr", "push", "pop", "vpush", "vpop", "nop"}
SAMPLES = 4  # of each form of an instruction
NOP = 0xBF00
UNPREDICTABLE = {STATE, 13, LINK, 15}


def signature(instruction):
    """Returns an instruction's form: its name, and the kinds of its operands."""
    def of(operand):
        match operand:
            case Float():
                return operand.width
            case Shifted():
                return operand.kind
            case Address():
                return of(operand.offset), operand.writes_back
            case tuple():
                return "list"
        return type(operand).__name__

    return instruction.name, instruction.sets_flags, instruction.size, *map(of, instruction.operands)


def registers(operand):
    match operand:
        case Register():
            yield operand.number
        case Shifted():
            yield operand.register.number
        case Address():
            yield from (*registers(operand.base), *registers(operand.offset))
        case tuple():
            for part in operand:
                yield from registers(part)


# Classes of instructions that are rare among all: what is fixed, and which bits are free.
RARE = ((0xFB000000, 0x007FFFFF), (0xFB800000, 0x006FFFFF), (0xFA80F000, 0x007F0FFF), (0xFA00F080, 0x007F0F3F),
        (0xEA000000, 0x01FF7FFF), (0xF0000000, 0x05FF7FFF), (0xF3000000, 0x00EF7FFF), (0xEA400000, 0x00BF7FFF),
        (0xEC100A00, 0x03E9FF0F), (0xEE000A10, 0x001FF080), (0xEEB00A40, 0x0040F1AF), (0xEC400A10, 0x001FF13F),
        (0xFA90F080, 0x000F0F3F), (0xFAA0F080, 0x000F0F0F), (0xE8800000, 0x013F17FF), (0xE8400000, 0x01BFFFFF),
        (0xF8000000, 0x017FFFFF),
        (0xF2000000, 0x04EF7FFF), (0xE9000000, 0x003F17FF), (0xFB10F000, 0x000F0F3F), (0xFB20F000, 0x000F0F1F),
        (0xFB30F000, 0x000F0F1F), (0xFB40F000, 0x000F0F1F), (0xFB50F000, 0x000F0F1F),
        (0xED000A00, 0x00C9F10F), (0xEC800A00, 0x0029F10F), (0xED200A00, 0x0049F10F))


def drawn_code(draw):
    """Returns a drawn instruction of 16 or 32 bits, whose address, if it has one, is often near the memory."""
    if draw.random() < 0.3:
        return halves(draw.getrandbits(16) % 0xE000)
    fixed, free = draw.choice(RARE)
    code = fixed | draw.getrandbits(32) & free
    if fixed >> 25 in (0x7C, 0x74, 0x76):  # loads and stores
        code = code & ~(15 << 16) | POINTER << 16
        if draw.random() < 0.4:
            code = code & ~0xFC0 & ~15 | OFFSET
    return halves(code >> 16, code & 0xFFFF)


def is_defined(code):
    """Returns whether no bit is set that has to be zero, a register that is given twice is the same, fields begin below
    their end, and lists of registers end with the last register."""
    if len(code) == 2:
        return True
    first, second = struct.unpack("<2H", code)
    if first & 0xFB00 == 0xF300:
        low, last = second >> 10 & 28 | second >> 6 & 3, second & 31
        return not second & 0x20 and not first & 0x400 and (first & 0x40 == 0 or first & 0x80 or low <= last)
    if first & 0xFFF0 == 0xFA90 and second & 0xF0C0 == 0xF080:
        return (first ^ second) & 15 == 0
    if first & 0xFE40 == 0xE800:
        return second.bit_count() > 1
    if first & 0xFE00 == 0xEC00 and first & 0x120 != 0x100 and first & 0x1A0:
        is_double, count = second >> 8 & 1, second & 255
        number, more = second >> 12 & 15, first >> 6 & 1
        start = 2 * (more << 4 | number) if is_double else number << 1 | more
        return count > 0 and start + count <= 32 and not count & is_double
    return True


def is_compared(instruction):
    """Returns whether an instruction is known, and keeps away from registers that the frame needs."""
    name, operands = instruction.name, instruction.operands
    if name in BRANCHES or name.startswith("it") or name not in general.GENERAL:
        return False
    if any(isinstance(operand, str) for operand in operands):
        return False
    used = [set(registers(operand)) for operand in operands]
    addressed = [operand for operand in operands if isinstance(operand, Address)]
    lists = [operand for operand in operands if isinstance(operand, tuple)]
    data = {number for operand in (*lists, *operands) if not isinstance(operand, Address)
            for number in registers(operand)}
    if addressed and addressed[0].writes_back and set(registers(addressed[0].base)) & data:
        return False
    if name in ("ldrd", "smull", "umull", "smlal", "umlal", "vmov") and operands[0] == operands[1]:
        return False
    return not set().union(*used) & UNPREDICTABLE and not (addressed or lists) or (
        not set().union(*used) & UNPREDICTABLE and not data & {POINTER} and (name[0] in "lsv"))


def forms(draw, count):
    """Yields the code of drawn instructions, some of each form; some within blocks of IT."""
    seen = {}
    for _ in range(count):
        code = drawn_code(draw)
        try:
            instruction, = decode(code, Code.START)
        except (NotFollowed, KeyError, ValueError):
            continue
        form = signature(instruction)
        if seen.get(form, 0) < SAMPLES and instruction.size == len(code) and is_defined(code) and (
                is_compared(instruction)):
            seen[form] = seen.get(form, 0) + 1
            padding = halves(NOP) * 6
            yield (code + padding)[:CODE_BYTES]
            if instruction.name not in ("cmp", "cmn", "tst", "teq") or len(code) == 4:
                block = halves(0xBF08 | draw.randrange(14) << 4)
                yield (block + code + padding)[:CODE_BYTES]


def drawn_state(draw):
    state = bytearray(drawn_words(draw, (1, 2, 4), STATE_BYTES, small=40))
    for n, value in ((POINTER, STATE_ADDRESS + MEMORY + MEMORY_BYTES // 2), (OFFSET, 4 * draw.randrange(10))):
        state[4 * n:4 * n + 4] = value.to_bytes(4, "little")
    state[FLAGS:FLAGS + 4] = (draw.getrandbits(4) << 28 | draw.getrandbits(4) << 16).to_bytes(4, "little")
    return bytes(state)


def part(state, offset, size=4):
    return int.from_bytes(state[offset:offset + size], "little")


def place(register):
    return 4 * SAVED.index(register)


def followed(code, state):
    """Returns a machine that has run an instruction or a block, or None where it refuses it or leaves the memory."""
    terms.forget()
    m = Thumb(ThumbCode(code))
    for n in SAVED:
        m.general[n] = const(part(state, place(n)), 32)
    m.single = [const(part(state, FLOATS + 4 * n), 32) for n in range(32)]
    n, z, c, v = (part(state, FLAGS) >> bit & 1 for bit in (31, 30, 29, 28))
    if n and z:  # no result has both
        return None
    m.set_flags(const(0 if z else n << 31 | 1, 32), ("bit", const(c, 1)), ("bit", const(v, 1)))
    m.greater_or_equal = tuple(const(part(state, FLAGS) >> 16 + n, 1) for n in range(4))
    words = memory.bytes_of(const(part(state, MEMORY, MEMORY_BYTES), 8 * MEMORY_BYTES))
    m.memory.store(STATE_ADDRESS + MEMORY, words)
    at = Code.START
    try:
        for _ in range(2 if decode(code, at)[0].name.startswith("it") else 1):
            at = m.step(at)
    except NotFollowed:
        return None
    return m if len(m.memory.written) == MEMORY_BYTES else None


def compared(m, state):
    """Yields what a state has, with the terms and the values of it."""
    for n in SAVED:
        yield f"r{n}", m.general[n], part(state, place(n))
    for n in range(32):
        yield f"s{n}", m.single[n], part(state, FLOATS + 4 * n)
    yield ("memory", memory.value_of(m.memory.load(STATE_ADDRESS + MEMORY, MEMORY_BYTES)),
           part(state, MEMORY, MEMORY_BYTES))
    for condition in CONDITIONS:
        yield condition, m.condition(condition), int(flags_meet(condition, part(state, FLAGS) >> 28))
    found = concat(*reversed([terms.sext(flag, 4 // len(m.greater_or_equal)) for flag in m.greater_or_equal]))
    yield "GE", found, part(state, FLAGS) >> 16 & 15


class ByQemu(unittest.TestCase):
    def test_each_instruction(self):
        source = pathlib.Path(__file__).resolve().parents[2] / "tools/proofs/machines/thumb/instructions.c"
        try:
            native.compiled(source)
        except Missing as error:
            self.skipTest(str(error))
        draw, cases = random.Random(1), []
        for code in forms(draw, 200000):
            for state in (drawn_state(draw), drawn_state(draw)):
                if followed(code, state) is not None:
                    cases.append((code, state))
        states = native.run(source, b"".join(code + state for code, state in cases))
        self.assertEqual(len(states), len(cases) * STATE_BYTES)
        names, wrong = set(), []
        for at, (code, state) in enumerate(cases):
            m = followed(code, state)
            instruction = decode(code, Code.START)[-1]
            names.add(instruction.name)
            found = differences(compared(m, states[at * STATE_BYTES:(at + 1) * STATE_BYTES]), "QEMU")
            if found:
                wrong.append(f"{code.hex()} {instruction.text}: {found}")
        self.assertFalse(wrong, "\n".join(wrong[:20]))
        self.assertFalse([name for name in general.GENERAL.keys() - names - BRANCHES if not name.startswith("it")])
        self.assertGreater(len(cases), 1500)


if __name__ == "__main__":
    unittest.main()
