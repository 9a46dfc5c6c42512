# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/proofs/machines/arm64: operands, calls, and that QEMU, or a CPU, and the machine agree on each form of
the instructions that the machine knows: registers, flags and memory after one instruction on drawn words.
`tools/prove.sh --self-test` runs them."""
import pathlib
import random
import struct
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import faults  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.terms import const  # noqa: E402
from proofs.claims import Claim, Run  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.arm64 import general, native, neon  # noqa: E402
from proofs.machines.arm64.machine import Arm64  # noqa: E402
from proofs.machines.arm64.text import Address, General, Group, Shifted, Vector, decode  # noqa: E402
from proofs.machines.emulated import Missing  # noqa: E402
from proofs.machines.memory import NotFollowed  # noqa: E402
from proofs_code import Code  # noqa: E402
from proofs_instructions import differences, drawn_words, flags_meet  # noqa: E402


class ArmCode(Code):
    instruction_set = "AArch64"

    def __init__(self, *words, **options):
        super().__init__(struct.pack(f"<{len(words)}I", *words).hex(), **options)


RET = 0xD65F03C0


class Operands(unittest.TestCase):
    def of(self, code):
        instruction = decode(struct.pack("<I", code), 0)
        return instruction.name, *instruction.operands

    def test_operands(self):
        x, w = (lambda n: General(n, 64)), (lambda n: General(n, 32))
        self.assertEqual(self.of(0x8B22CC20), ("add", x(0), x(1), Shifted(w(2), "sxtw", 3)))
        self.assertEqual(self.of(0xF8627820), ("ldr", x(0), Address(x(1), Shifted(x(2), "lsl", 3))))
        self.assertEqual(self.of(0xF85F0C20), ("ldr", x(0), Address(x(1), -16, writes_back=True)))
        self.assertEqual(self.of(0xF8410420), ("ldr", x(0), Address(x(1)), 16))
        self.assertEqual(self.of(0x2A1F03E0), ("mov", w(0), w(32)))
        self.assertEqual(self.of(0x910003E0), ("mov", x(0), x(31)))
        self.assertEqual(self.of(0x4F728020), ("mul", Vector(0, 16, 8), Vector(1, 16, 8), Vector(2, 16, 1, 3)))
        self.assertEqual(self.of(0x6E150420), ("mov", Vector(0, 8, 1, 10), Vector(1, 8, 1, 0)))
        self.assertEqual(self.of(0x0F07A7E0), ("movi", Vector(0, 16, 4), Shifted(255, "lsl", 8)))
        self.assertEqual(self.of(0x4C40A020), ("ld1", Group((Vector(0, 8, 16), Vector(1, 8, 16))), Address(x(1))))

    def test_what_is_no_instruction(self):
        with self.assertRaises(NotFollowed):
            decode(bytes.fromhex("207c228b"), 0)


class Calls(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_structures_are_passed_by_address(self):
        m = Arm64(ArmCode(0xF9400420, RET))  # ldr x0, [x1, #8]
        m.call("f", 7, (11, 12, 13))
        self.assertEqual(m.general[0].value, 12)

    def test_arguments_beyond_eight_are_on_the_stack(self):
        m = Arm64(ArmCode(0xF94007E0, RET))  # ldr x0, [sp, #8]
        m.call("f", *range(10))
        self.assertEqual(m.general[0].value, 9)

    def test_what_a_function_need_not_preserve(self):
        m = Arm64(ArmCode(RET))
        m.general = [const(n, 64) for n in range(32)]
        m.vector = [memory.bytes_of(const(n << 64 | n, 128)) for n in range(32)]
        m.forget_registers_of_callee()
        self.assertEqual([n for n in range(32) if m.general[n].value == n], [*range(19, 30), 31])
        self.assertEqual([n for n in range(32) if memory.value_of(m.vector[n][:8]).value == n], [*range(8, 16)])
        self.assertFalse([n for n in range(32) if memory.value_of(m.vector[n][8:]).value is not None])
        with self.assertRaises(NotFollowed):
            m.condition("eq")

    def test_a_branch_on_an_input_is_refused(self):
        for code in (0xB4000040, 0x36000040):  # cbz x0, tbz w0
            m = Arm64(ArmCode(code, RET, RET))
            with self.assertRaises(NotFollowed):
                m.call("f")

    def test_a_branch_on_flags(self):
        code = (0xF100041F, 0x54000040, 0xAA0103E0, RET)  # cmp x0, 1; b.eq 2 instructions further; mov x0, x1; ret
        for first, result in ((1, 1), (2, 5)):
            m = Arm64(ArmCode(*code))
            m.call("f", first, 5)
            self.assertEqual(m.general[0].value, result)

    def test_unaligned_code_is_refused(self):
        with self.assertRaises(NotFollowed):
            Arm64(ArmCode(RET)).decode(Code.START + 2)

    def test_lanes_of_unknown_items_are_not_alike_when_they_move(self):
        """zip1 mixes the lanes of items, and multiplication does not."""
        for code, is_alike in ((0x4E823820, False), (0x4E629C20, True), (0x4E628420, True), (0x0E22C020, False)):
            m = Arm64(ArmCode(code, RET))
            m.alike = True
            lane = terms.variable("a", 16)
            for register in (1, 2):
                m.vector[register] = m.lanes_alike(lane, 16)
            m.call("f")
            self.assertEqual(m.lane_of(m.vector[0], 16) is not None, is_alike, hex(code))


class Rows(unittest.TestCase):
    """Rows of items in two registers."""

    CODE = 0xAD400400, 0x4E618400, 0x3D800000, RET  # ldp q0, q1, [x0]; add v0.8h, v0.8h, v1.8h; str q0, [x0]

    def setUp(self):
        terms.forget()

    def test_items_of_two_registers_have_their_own_variables(self):
        run = Run(ArmCode(*self.CODE), 1 << 16)
        a = run.unknown_lanes("a", 1, 16)
        run.machine.call("f", a.address)
        self.assertEqual((run.parts(16), run.parts(8), len(a.words)), (2, 1, 2))
        self.assertIs(run.lane(a.address, 0, 16, part=0), terms.add(*a.words))
        self.assertIs(run.lane(a.address, 0, 16, part=1), a.words[1])
        self.assertIsNot(a.words[0], a.words[1])


class Claims(unittest.TestCase):
    def test_instruction_sets_of_claims(self):
        for name, sets in (("mlkem ref add", ("x86-64", "AArch64")), ("mlkem avx512 x8 add noise", ("x86-64",)),
                           ("mlkem neon interleaved add", ("AArch64",)), ("frodo avx2 product 8x8", ("x86-64",))):
            claim = Claim(name, "f", "", "", lambda library, function: None)
            self.assertEqual([s for s in ("x86-64", "AArch64") if claim.is_for(s)], list(sets))


class Faults(unittest.TestCase):
    def test_an_instruction_becomes_another(self):
        for code, expected in ((0x4E628420, {"sub v0.8h, v1.8h, v2.8h"}),
                               (0x4F1F5420, {f"shl v0.8h, v1.8h, #{n}" for n in ("0xe", "0xd", "0xb", "7")}),
                               (0x8B020020, set()), (0x11000420, set())):
            library = ArmCode(code, RET)
            found = {faults.arm64.text_of(library, Code.START, changed)
                     for changed in faults.arm64.changes_of(library, Code.START)}
            self.assertEqual(found, expected)

    def test_a_fault_is_planted(self):
        library = ArmCode(0x4E628420, RET)
        changed, text = faults.plant(library, {Code.START, Code.START + 4}, set(), 1)
        self.assertEqual(text, "0x10000: add v0.8h, v1.8h, v2.8h -> sub v0.8h, v1.8h, v2.8h")
        self.assertEqual(changed.read(Code.START, 4), struct.pack("<I", 0x6E628420))


VECTORS, GENERALS, FLAGS, MEMORY, STATE_BYTES = 0, 512, 752, 768, 1280
STATE_ADDRESS, MEMORY_BYTES = 0x20000000, 512
POINTER, OFFSET, STATE, LINK = 27, 26, 28, 30  # registers
BRANCHES = {"b", "br", "bl", "blr", "ret", "cbz", "cbnz", "tbz", "tbnz", "adr", "adrp", "prfm", "bti", "hint", "nop",
            "paciasp", "autiasp"}
CONDITIONS = ("eq", "ne", "mi", "pl", "cs", "cc", "hi", "ls", "vs", "vc", "lt", "ge", "gt", "le")
SAMPLES = 3  # of each form of an instruction


def signature(instruction):
    """Returns an instruction's form: its name, and the kinds of its operands."""
    def of(operand):
        match operand:
            case General():
                return operand.width
            case Vector():
                return operand.width, operand.count, operand.index is not None, operand.is_scalar
            case Group():
                return len(operand.registers), of(operand.registers[0])
            case Shifted():
                return of(operand.operand), operand.kind
            case Address():
                return of(operand.offset), operand.writes_back
            case int():
                return "number"
        return operand

    return instruction.name, *map(of, instruction.operands)


def registers(operand):
    match operand:
        case General():
            yield operand.number
        case Shifted():
            yield from registers(operand.operand)
        case Address():
            yield from (*registers(operand.base), *registers(operand.offset))


# Classes of instructions that are rare among all: what is fixed, and which bits are free.
RARE = ((0x0E200800, 0x60C1F3FF), (0x5E200800, 0x20C1F3FF), (0x0E300800, 0x60C1F3FF), (0x5AC00000, 0x80000FFF),
        (0x1AC00000, 0x801FFFFF), (0x1A800000, 0xC01FF7FF), (0x1A9F07E0, 0xC000F01F), (0x1A000000, 0xE01F03FF),
        (0x0E000400, 0x601F7BFF), (0x0F000400, 0x6007FBFF), (0x13000000, 0xE07FFFFF), (0x13001C00, 0xC04063FF),
        (0x12800000, 0xE07FFFFF), (0x1E260000, 0x800103FF), (0x9E660000, 0x000103FF), (0x9EAE0000, 0x000103FF),
        (0x9B200000, 0x00A0FFFF | 31 << 16), (0x0F008400, 0x607FFBFF), (0x0F08A400, 0x600003FF),
        (0x0F10A400, 0x600003FF), (0x0F20A400, 0x600003FF), (0x2E201C00, 0x40DF03FF), (0x0E200000, 0x60DFF3FF),
        (0x0E201C00, 0x60DF03FF), (0x0D40C000, 0x40203FFF), (0x0C400000, 0x4000FFFF), (0x1B007C00, 0x801F83FF),
        (0x5A9F03E0, 0x8000F01F), (0x0E000800, 0x60DF73FF))


def drawn_code(draw):
    """Returns a drawn instruction: of data processing, or a load or store near the memory that POINTER points to."""
    code = draw.getrandbits(32)
    if draw.random() < 0.3:
        return code
    if draw.random() < 0.5:
        fixed, free = draw.choice(RARE)
        code = fixed | code & free
        if not fixed >> 24 in (0x0D, 0x0C):
            return code
        return code & ~(31 << 5) | POINTER << 5
    code = code & ~(15 << 25) | draw.choice((4, 6, 12, 14)) << 25  # loads and stores
    code = code & ~(31 << 5) | POINTER << 5
    if draw.random() < 0.6:
        code &= ~(0x3C0 << 12)
    if draw.random() < 0.5:
        code = code & ~(31 << 16) | draw.choice((OFFSET, 31)) << 16
    return code


def is_compared(instruction):
    """Returns whether an instruction is known, and keeps away from registers that the frame needs."""
    of_vectors = any(isinstance(operand, (Vector, Group)) for operand in instruction.operands)
    if instruction.name in BRANCHES or instruction.name not in (neon.NEON if of_vectors else general.GENERAL):
        return False
    loads = any(isinstance(operand, Address) for operand in instruction.operands)
    if not loads and (instruction.name.startswith(("ld", "st")) or instruction.name == "ldr"):
        return False
    used = {number for operand in instruction.operands for number in registers(operand)}
    first = {number for operand in instruction.operands[:2] if loads for number in registers(operand)
             if isinstance(operand, General)}
    return not used & {STATE, LINK, 31} and not first & {POINTER}


def forms(draw, count):
    """Yields drawn instructions, some of each form."""
    seen = {}
    for _ in range(count):
        code = drawn_code(draw)
        try:
            instruction = decode(struct.pack("<I", code), Code.START)
        except (NotFollowed, KeyError):
            continue
        form = signature(instruction)
        if seen.get(form, 0) < SAMPLES and is_compared(instruction):
            seen[form] = seen.get(form, 0) + 1
            yield code


def drawn_state(draw):
    state = bytearray(drawn_words(draw, (1, 2, 4, 8), STATE_BYTES, small=80))
    for n, value in ((POINTER, STATE_ADDRESS + MEMORY + MEMORY_BYTES // 2), (OFFSET, draw.randrange(16))):
        state[GENERALS + 8 * n:GENERALS + 8 * n + 8] = value.to_bytes(8, "little")
    if draw.random() < 0.3:
        state[GENERALS:GENERALS + 8 * 20] = state[GENERALS:GENERALS + 8] * 20  # equal words are compared
    state[FLAGS:FLAGS + 8] = (draw.getrandbits(4) << 28).to_bytes(8, "little")
    return bytes(state)


def part(state, offset, size=8):
    return int.from_bytes(state[offset:offset + size], "little")


def followed(code, state):
    """Returns a machine that has run an instruction, or None where it refuses it or leaves the memory."""
    terms.forget()
    m = Arm64(ArmCode(code))
    m.vector = [memory.bytes_of(const(part(state, 16 * n, 16), 128)) for n in range(32)]
    for n in range(30):
        m.general[n] = const(part(state, GENERALS + 8 * n), 64)
    m.flags = ("bits", part(state, FLAGS) >> 28)
    words = memory.bytes_of(const(part(state, MEMORY, MEMORY_BYTES), 8 * MEMORY_BYTES))
    m.memory.store(STATE_ADDRESS + MEMORY, words)
    try:
        m.execute(m.decode(Code.START))
    except NotFollowed:
        return None
    return m if len(m.memory.written) == MEMORY_BYTES else None


def compared(m, state):
    """Yields what a state has, with the terms and the values of it."""
    for n in range(32):
        yield f"v{n}", memory.value_of(m.vector[n]), part(state, 16 * n, 16)
    for n in range(30):
        if n != STATE:
            yield f"x{n}", m.general[n], part(state, GENERALS + 8 * n)
    yield ("memory", memory.value_of(m.memory.load(STATE_ADDRESS + MEMORY, MEMORY_BYTES)),
           part(state, MEMORY, MEMORY_BYTES))
    for condition in CONDITIONS:
        yield condition, m.condition(condition), int(flags_meet(condition, part(state, FLAGS) >> 28))


class ByQemu(unittest.TestCase):
    def test_each_instruction(self):
        source = pathlib.Path(__file__).with_name("arm64_instructions.c")
        try:
            native.compiled(source)
        except Missing as error:
            self.skipTest(str(error))
        draw, cases = random.Random(1), []
        for code in forms(draw, 500000):
            state = drawn_state(draw)
            if followed(code, state) is not None:
                cases.append((code, state))
        states = native.run(source, b"".join(struct.pack("<I", code) + state for code, state in cases))
        self.assertEqual(len(states), len(cases) * STATE_BYTES)
        names, wrong = set(), []
        for at, (code, state) in enumerate(cases):
            m = followed(code, state)
            instruction = m.decode(Code.START)
            names.add((any(isinstance(o, (Vector, Group)) for o in instruction.operands), instruction.name))
            found = differences(compared(m, states[at * STATE_BYTES:(at + 1) * STATE_BYTES]), "QEMU")
            if found:
                wrong.append(f"{code:#x} {instruction.text}: {found}")
        self.assertFalse(wrong, "\n".join(wrong[:20]))
        known = {(False, name) for name in general.GENERAL} | {(True, name) for name in neon.NEON}
        missing = [name for name in known - names if name[1] not in BRANCHES]
        self.assertFalse(missing)
        self.assertGreater(len(cases), 3500)


if __name__ == "__main__":
    unittest.main()
