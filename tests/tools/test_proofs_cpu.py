# SPDX-License-Identifier: Apache-2.0
"""Tests that this CPU and tools/proofs/machines/x86 agree on each form of the instructions that machine.py knows:
registers, masks, flags and memory after one instruction on drawn words. A CPU without AVX-512 compares the other forms,
16 vector registers of 32 bytes and no masks. `tools/prove.sh --self-test` runs it."""
import ctypes
import mmap
import pathlib
import random
import re
import sys
import unittest

import iced_x86 as iced

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.terms import const  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86 import general, vector  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs_code import Code as Library  # noqa: E402
from proofs_instructions import differences, drawn_words  # noqa: E402

Code, Kind, Register = iced.Code, iced.OpKind, iced.Register
KINDS = {value: name for name, value in vars(iced.OpCodeOperandKind).items() if isinstance(value, int)}
FEATURES = {value: name for name, value in vars(iced.CpuidFeature).items() if isinstance(value, int)}
ASSUMED = {"INTEL8086", "INTEL186", "INTEL286", "INTEL386", "INTEL486", "X64", "CMOV", "SSE", "SSE2", "SSE3", "SSSE3",
           "SSE4_1", "SSE4_2", "POPCNT", "AVX", "AVX2", "BMI1", "BMI2", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL",
           "AVX512_VBMI", "AVX512_VBMI2", "AVX512_VNNI"}
NEEDED = {"avx2", "bmi2"}
AVX512 = {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512vbmi", "avx512_vbmi2", "avx512_vnni"}
# Those that use the stack, count with registers, or are not in machines/x86 under their own names.
LEFT_OUT = {"push", "pop", "call", "ret", "leave", "nop", "endbr64", "stosq", "stosd", "stosb", "movsq"}
COMPARED = {"vpcmpb", "vpcmpw", "vpcmpd", "vpcmpq", "vpcmpub", "vpcmpuw", "vpcmpud", "vpcmpuq"}
IMMEDIATES = {"IMM8": (Kind.IMMEDIATE8, 8), "IMM8_CONST_1": (Kind.IMMEDIATE8, 0), "IMM16": (Kind.IMMEDIATE16, 16),
              "IMM32": (Kind.IMMEDIATE32, 32), "IMM64": (Kind.IMMEDIATE64, 64),
              "IMM8SEX16": (Kind.IMMEDIATE8TO16, -8), "IMM8SEX32": (Kind.IMMEDIATE8TO32, -8),
              "IMM8SEX64": (Kind.IMMEDIATE8TO64, -8), "IMM32SEX64": (Kind.IMMEDIATE32TO64, -32)}
# The state before and after: 32 vectors, 8 masks, 16 general registers, flags, and memory that rsi points to.
MASKS, GENERAL, FLAGS, MEMORY, STATE_BYTES = 2048, 2112, 2240, 2304, 2432
# All general registers but rsp, rsi and r15, which points to the state.
FREE = [n for n in range(15) if n not in (4, 6)]
SAVED = (Register.RBX, Register.RBP, Register.R12, Register.R13, Register.R14, Register.R15)


def assembled(instructions, at):
    code = b""
    for instruction in instructions:
        encoder = iced.Encoder(64)
        encoder.encode(instruction, at + len(code))
        code += encoder.take_buffer()
    return code


def at_state(offset):
    return iced.MemoryOperand(Register.R15, displ=offset, displ_size=8)


def features():
    return set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text()))


HAS_AVX512 = AVX512 <= features()
VECTORS, VECTOR_BYTES, MASK_COUNT = (32, 64, 8) if HAS_AVX512 else (16, 32, 0)
FIRST_VECTOR = Register.ZMM0 if HAS_AVX512 else Register.YMM0
LOAD = Code.EVEX_VMOVDQU64_ZMM_K1Z_ZMMM512 if HAS_AVX512 else Code.VEX_VMOVDQU_YMM_YMMM256
STORE = Code.EVEX_VMOVDQU64_ZMMM512_K1Z_ZMM if HAS_AVX512 else Code.VEX_VMOVDQU_YMMM256_YMM


def before():
    make = iced.Instruction
    yield from (make.create_reg(Code.PUSH_R64, register) for register in SAVED)
    yield make.create_reg_reg(Code.MOV_R64_RM64, Register.R15, Register.RDI)
    for n in range(VECTORS):
        yield make.create_reg_mem(LOAD, FIRST_VECTOR + n, at_state(64 * n))
    for n in range(MASK_COUNT):
        yield make.create_reg_mem(Code.VEX_KMOVQ_KR_KM64, Register.K0 + n, at_state(MASKS + 8 * n))
    for n in FREE:
        yield make.create_reg_mem(Code.MOV_R64_RM64, Register.RAX + n, at_state(GENERAL + 8 * n))
    yield make.create_reg_mem(Code.LEA_R64_M, Register.RSI, at_state(MEMORY))


def after():
    make = iced.Instruction
    for n in FREE:
        yield make.create_mem_reg(Code.MOV_RM64_R64, at_state(GENERAL + 8 * n), Register.RAX + n)
    yield make.create(Code.PUSHFQ)
    yield make.create_reg(Code.POP_R64, Register.RAX)
    yield make.create_mem_reg(Code.MOV_RM64_R64, at_state(FLAGS), Register.RAX)
    for n in range(VECTORS):
        yield make.create_mem_reg(STORE, at_state(64 * n), FIRST_VECTOR + n)
    for n in range(MASK_COUNT):
        yield make.create_mem_reg(Code.VEX_KMOVQ_M64_KR, at_state(MASKS + 8 * n), Register.K0 + n)
    yield make.create(Code.VEX_VZEROUPPER)
    yield from (make.create_reg(Code.POP_R64, register) for register in reversed(SAVED))
    yield make.create(Code.RETNQ)


def codes():
    """Yields the codes of instructions that machines/x86 knows, and whether this CPU has them."""
    for name, code in vars(iced.Code).items():
        mnemonic = name.removeprefix("VEX_").removeprefix("EVEX_").split("_")[0].lower()
        known = (mnemonic in general.GENERAL or mnemonic in vector.VECTOR or mnemonic in COMPARED or
                 mnemonic[:1] == "v" and mnemonic[1:] in vector.VECTOR or mnemonic.startswith(("set", "cmov")))
        if not isinstance(code, int) or not known or mnemonic in LEFT_OUT:
            continue
        information, instruction = iced.OpCodeInfo(code), iced.Instruction()
        instruction.code = code
        if information.encoding in (iced.EncodingKind.LEGACY, iced.EncodingKind.VEX, iced.EncodingKind.EVEX):
            needed = {FEATURES[f] for f in instruction.cpuid_features()}
            if information.mode64 and needed <= ASSUMED:
                yield code, information, HAS_AVX512 or not any(feature.startswith("AVX512") for feature in needed)


def instructions(draw, code, information, repeats):
    """Yields instructions of a code, with drawn operands, of all its forms."""
    evex = information.encoding == iced.EncodingKind.EVEX
    for in_memory in (False, True):
        for mask in ("", "merging", "zeroing") if information.can_use_op_mask_register else ("",):
            for broadcast in (False, True) if in_memory and information.can_broadcast else (False,):
                for _ in range(repeats):
                    i = iced.Instruction()
                    i.code = code
                    if not all([operand(draw, i, n, KINDS[information.op_kind(n)], in_memory, evex)
                                for n in range(information.op_count)]):
                        break
                    has_memory = Kind.MEMORY in [i.op_kind(n) for n in range(i.op_count)]
                    if has_memory != in_memory:
                        break
                    if mask == "zeroing" and (not information.can_use_zeroing_masking or i.op_kind(0) == Kind.MEMORY):
                        break
                    if mask:
                        i.op_mask, i.zeroing_masking = Register.K1 + draw.randrange(7), mask == "zeroing"
                    i.is_broadcast = broadcast
                    yield i


def operand(draw, i, n, kind, in_memory, evex):
    """Sets operand n; returns whether it is of a kind that is compared here."""
    first = kind.split("_")[0]
    if in_memory and kind.endswith("_OR_MEM") or kind == "MEM":
        i.set_op_kind(n, Kind.MEMORY)
        i.memory_base = Register.RSI
        return in_memory
    if kind in IMMEDIATES:
        op_kind, bits = IMMEDIATES[kind]
        value = draw.randrange(-(1 << -bits - 1), 1 << -bits - 1) if bits < 0 else draw.getrandbits(bits) if bits else 1
        i.set_op_kind(n, op_kind)
        i.set_immediate_u64(n, value & draw.choice((15, -1)) if kind == "IMM8" else value % (1 << 64))
        return True
    if first in ("XMM", "YMM", "ZMM") and not kind.startswith("XMMP3"):
        register = getattr(Register, first + "0") + draw.randrange(32 if evex else 16)
    elif first in ("R16", "R32", "R64"):
        register = getattr(Register, {"R16": "AX", "R32": "EAX", "R64": "RAX"}[first]) + draw.choice(FREE)
    elif first == "R8":
        register = getattr(Register, draw.choice(("AL", "CL", "BL", "AH", "CH", "DH", "BH", "R8L", "BPL", "DIL")))
    elif kind in ("AL", "AX", "EAX", "RAX", "CL"):
        register = getattr(Register, kind)
    elif first == "K":
        register = Register.K0 + draw.randrange(8)
    else:
        return False
    i.set_op_kind(n, Kind.REGISTER)
    i.set_op_register(n, register)
    return True


def drawn_state(draw):
    state = drawn_words(draw, (2, 4, 8), STATE_BYTES, small=80)
    if draw.random() < 0.3:  # rax and rcx, which are compared first, are equal
        state = state[:GENERAL] + state[GENERAL + 8:GENERAL + 16] + state[GENERAL + 8:]
    return state


def part(state, offset, size=8):
    return int.from_bytes(state[offset:offset + size], "little")


def has_flags(condition, flags):
    carry, zero, sign, overflow = (bool(flags >> bit & 1) for bit in (0, 6, 7, 11))
    less = sign != overflow
    return {"b": carry, "ae": not carry, "e": zero, "ne": not zero, "s": sign, "ns": not sign, "l": less,
            "ge": not less, "be": carry or zero, "a": not carry and not zero, "le": less or zero,
            "g": not less and not zero}[condition]


@unittest.skipUnless(NEEDED <= features(), "the CPU lacks AVX2")
class OnThisCpu(unittest.TestCase):
    def setUp(self):
        self.code = mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.state = mmap.mmap(-1, 8192)
        self.at, self.at_state = (ctypes.addressof(ctypes.c_char.from_buffer(area)) for area in (self.code, self.state))
        self.formatter = iced.Formatter(iced.FormatterSyntax.INTEL)
        self.frame = assembled(before(), self.at), assembled(after(), self.at)
        # The flags that an instruction takes are those of this comparison.
        compare = iced.Instruction.create_reg_reg(Code.CMP_R64_RM64, Register.RAX, Register.RCX)
        self.first = assembled([compare], self.at)

    def test_each_instruction(self):
        draw, compared, followed, skipped = random.Random(1), 0, set(), 0
        for code, information, is_here in codes():
            if not is_here:
                skipped += 1
                continue
            for instruction in instructions(draw, code, information, 2):
                state = drawn_state(draw)
                try:
                    body = self.first + assembled([instruction], self.at)
                except ValueError:  # AH with a register that is named by a prefix
                    continue
                m = self.followed(body, state)
                if m is None:
                    continue
                compared += 1
                followed.add(code)
                found = differences(self.compared(m, self.run_here(body, state)), "the CPU")
                self.assertFalse(found, f"{self.formatter.format(instruction)}: {found}")
        print(f"compared with this CPU: {compared} instructions of {len(followed)} forms; "
              f"{skipped} forms of AVX-512 skipped")
        self.assertGreater(compared, 9000 if HAS_AVX512 else 2000)
        self.assertGreater(len(followed), 900 if HAS_AVX512 else 700)
        self.assertEqual(skipped > 0, not HAS_AVX512)

    def run_here(self, body, state):
        code = self.frame[0] + body + self.frame[1]
        self.code[:len(code)], self.state[:STATE_BYTES] = code, state
        ctypes.CFUNCTYPE(None, ctypes.c_uint64)(self.at)(self.at_state)
        return bytes(self.state[:STATE_BYTES])

    def followed(self, body, state):
        """Returns a machine that has run the two instructions, or None where it refuses one."""
        terms.forget()
        m = X86(Library(body.hex()))
        m.vector = [memory.bytes_of(const(part(state, 64 * n, 64), 512)) for n in range(32)]
        m.mask = [const(part(state, MASKS + 8 * n), 64) for n in range(8)]
        for n in FREE:
            m.general[n] = const(part(state, GENERAL + 8 * n), 64)
        m.general[6] = const(self.at_state + MEMORY, 64)
        m.memory.store(self.at_state + MEMORY, memory.bytes_of(const(part(state, MEMORY, 128), 1024)))
        at = Library.START
        try:
            for _ in range(2):
                at = m.step(at)
        except memory.NotFollowed:
            return None
        return m

    def compared(self, m, state):
        """Yields what a state has, with the terms and the values of it."""
        for n in range(VECTORS):
            yield f"vector register {n}", memory.value_of(m.vector[n][:VECTOR_BYTES]), part(state, 64 * n, VECTOR_BYTES)
        for n in range(MASK_COUNT):
            yield f"k{n}", m.mask[n], part(state, MASKS + 8 * n)
        for n in FREE:
            yield f"general register {n}", m.general[n], part(state, GENERAL + 8 * n)
        yield "memory", memory.value_of(m.memory.load(self.at_state + MEMORY, 128)), part(state, MEMORY, 128)
        for condition in ("b", "ae", "e", "ne", "s", "ns", "l", "ge", "be", "a", "le", "g"):
            try:
                yield condition, m.condition(condition), has_flags(condition, part(state, FLAGS))
            except memory.NotFollowed:
                pass


if __name__ == "__main__":
    unittest.main()
