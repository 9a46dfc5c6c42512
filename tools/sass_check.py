#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of CUDA kernels: no branch and no address may depend on a secret.

    tools/sass_check.py [--cuobjdump PATH] [--verbose] OBJECT...

OBJECT: a file that nvcc made. Every value that a kernel loads from global, shared or local memory counts as secret,
except for the loads of PUBLIC; parameters, thread and block indices are public. Secrets are followed through registers
and predicates along every path of the control flow. Reported are: a branch, an exit, a barrier or a memory access under
a secret predicate; an address, a shuffle's source lane or a target that depends on a secret. An instruction that the
check does not know is reported as well, so that nothing passes unseen. Exit code 1: something was found; 2: the check
cannot run.

It reads code for compute capability 9.0. Not seen: what the driver compiles from PTX, and how long an instruction takes
(none of those known here depends on its operands' values).
"""

import argparse
import functools
import heapq
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Kernel -> (reason, its arguments by name): what is loaded through addresses of these alone is public. A field of Work
# has the offset that a static_assert beside it states.
PUBLIC = {
    "gather_kernel": ("the keys' indices are public; the record they choose is not", "index record_bytes count"),
    "mul_a_s_aes_kernel": ("seedA in the public key", "pk sizes"),
    "mul_s_a_aes_kernel": ("seedA in the public key", "seeds"),
    "gen_a_aes_kernel": ("seedA in the public key", "seed_a"),
    "mlkem4cuda17sample_ntt_kernel": ("rho in the public key; how many entries of A to retry", "rho retries entries"),
    "mlkem4cuda19sample_noise_kernel": ("rho in the public key; which entries of A to retry",
                                        "rho retries retry_blocks"),
    "stream_a_kernel": ("the seed of a in the public key", "a keys count"),
    "reject_a_kernel": ("a and its seed, which are in the public key", "a keys count"),
    "5mldsa4cuda15expand_a_kernel": ("rho in the public key", "rho entries"),
    "5mldsa4cuda": ("which items have no signature yet, a challenge, where strings begin",
                    "work.count work.challenge_poly work.unsigned_items work.unsigned_counts "
                    "work.messages.strings.offsets work.messages.contexts.offsets round"),
    "5mlkem4cuda": ("the keys' indices", "work.keys.index work.count"),
    "5saber4cuda": ("the keys' indices and the blocks of a launch",
                    "work.keys.index work.count a_blocks other_blocks"),
}

# Kernel -> (reason, opcodes): loads from shared memory whose results are public.
PUBLIC_SHARED = {
    "_aes_kernel": ("A is public: 32-bit words are AES tables, 128-bit words the parts of the AES states that depend "
                    "on rows and columns; secrets are read as bytes or 64-bit words, sums only where A is finished",
                    {"LDS", "LDS.128"}),
    "stream_a_kernel": ("AES tables, and the states that they make of a's seed", {"LDS"}),
    "reject_a_kernel": ("bytes of hashes of a's seed", {"LDS.U8"}),
}

# Kernels all of whose data is public.
ALL_PUBLIC = re.compile(r"5mldsa4cuda\d+(prepare_verify|verify|compare)_kernel")

# (kernel, instruction, exactly so many, reason): findings that were read and are none.
READ = [
    (r"sample_fixed_kernel", r"BRA 0x[0-9a-f]+: a secret decides", 1,
     "more hashes of the chain than are always computed; the probability is below 2^-69"),
    (r"5mldsa4cuda15expand_s_kernel", r"STS\.U8 \[R\d+\], R\d+: an address|BRA 0x[0-9a-f]+: a secret decides", 273,
     "which half bytes are rejected is public: it says nothing about the others"),
    (r"5mldsa4cuda\d+(challenge|finish)_kernel",
     r"(LDS R\d+, \[R\d+\+0x[0-9a-f]+\]|STS \[R\d+\+0x[0-9a-f]+\], R\d+): an address", 3,
     "sample_in_ball(): c~ is public, of failed attempts too"),
    (r"5mldsa4cuda16challenge_kernel", r"BRA 0x[0-9a-f]+: a secret decides", 1, "sample_in_ball(): as above"),
    (r"5mldsa4cuda\d+(response|finish)_kernel", r"STS\.U8 \[R\d+(\+UR\d+)?\+0x[0-9a-f]+\], R\d+: an address", 8,
     "pack_hint(): where the ones of a signature's hint lie"),
    (r"5mldsa4cuda15response_kernel", r"BRA (P\d, )?0x[0-9a-f]+: (a secret decides|control flow)", 19,
     "that an attempt fails, and at which check, is public; pack_hint(): as above"),
    (r"5mldsa4cuda13finish_kernel", r"BRA (P\d, )?0x[0-9a-f]+: (a secret decides|control flow)", 24, "as above"),
]

Instruction = namedtuple("Instruction", "pc guard negated opcode operands text")
# The origin of a register's value: where its secret was loaded (None: it is public), and the parameters it came from.
Value = namedtuple("Value", "secret origins")
CLEAN = Value(None, frozenset())

NOTHING = {"NOP", "BAR", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CGAERRBAR", "ENDCOLLECTIVE", "YIELD", "CCTL"}
CONTROL = {"BRA", "EXIT", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "BPT"}
STORES = {"STG", "STS", "STL", "ST", "RED", "REDG", "LDGSTS"}
LOADS = {"LDG", "LDS", "LDL", "LD", "LDSM", "ATOMG", "ATOMS", "ATOM"}
PREDICATE_ONLY = {"ISETP", "UISETP", "PLOP3", "UPLOP3"}
PLAIN = {"LOP3", "ULOP3", "VIMNMX", "VIMNMX3", "IMMA", "PRMT", "UPRMT", "IMAD", "UIMAD", "SHF", "USHF", "VIADD",
         "IADD3", "UIADD3", "SEL", "USEL", "LEA", "ULEA", "MOV", "UMOV", "CS2R", "S2R", "S2UR", "ULDC", "LDC",
         "VIADDMNMX", "POPC", "UPOPC", "IDP", "BREV", "UBREV", "SHFL", "VOTE", "VOTEU", "R2UR", "IMNMX", "IABS", "FLO",
         "UFLO", "SGXT", "REDUX", "HFMA2", "FADD", "FFMA", "I2F", "F2I", "MUFU"}
CONVERSION_OF_64_BITS = re.compile(r"(F2I|I2F)\b.*\.[FSU]64")
# Between predicates and a register, which the mask in the last operand pairs.
PACKED_PREDICATES = {"P2R", "UP2UR", "R2P", "UR2UP"}

LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?)(U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?)\s*;")
REGISTER = re.compile(r"(?<![A-Za-z0-9_.])(UR|R|UP|P)(\d+|Z|T)(?![A-Za-z0-9_])(\.64)?")
CONSTANT = re.compile(r"c\[0x0\]\[(?:(U?R\d+|RZ|URZ)\+?)?(0x[0-9a-f]+)?\]")


def split_operands(text):
    """Splits operands at commas outside brackets."""
    out, depth, word = [], 0, ""
    for c in text:
        depth += c in "[{"
        depth -= c in "]}"
        if c == "," and depth == 0:
            out.append(word.strip())
            word = ""
        else:
            word += c
    return out + [word.strip()] if word.strip() else out


def parse(listing):
    """Returns {(kernel, architecture): [Instruction]} of cuobjdump's text."""
    kernels, name, arch = {}, None, "sm_90"
    for line in listing.splitlines():
        if match := re.search(r"Function : (\S+)", line):
            name = match[1], arch
            kernels[name] = []
        elif match := re.search(r"code for (sm_\d+)", line):
            arch = match[1]
        elif name and (match := LINE.match(line)):
            pc, negated, guard, opcode, rest = match.groups()
            if guard in ("PT", "UPT") and not negated:
                guard = None
            text = f"{opcode} {rest}".strip()
            kernels[name].append(
                Instruction(int(pc, 16), guard, bool(negated), opcode, tuple(split_operands(rest)), text))
    return kernels


@functools.lru_cache(maxsize=None)
def registers(operand, width=1):
    """Returns the registers an operand names, e.g. R4 and R5 for R4.64. width: of a plain register."""
    out = []
    for kind, number, wide in REGISTER.findall(operand):
        if not number.isdigit():
            continue
        for i in range(max(2 if wide else 1, width if kind in ("R", "UR") else 1)):
            out.append(f"{kind}{int(number) + i}")
    return out


@functools.lru_cache(maxsize=None)
def root_of(opcode):
    return opcode.split(".")[0]


@functools.lru_cache(maxsize=None)
def result_width(opcode):
    """Returns the number of registers that the result takes."""
    parts = opcode.split(".")
    if parts[0] == "IMMA":
        return 4 if parts[1] == "16832" else 2
    if parts[0] == "LDSM":
        return int(parts[-1])
    if parts[0] == "CS2R":
        return 1 if "32" in parts else 2
    if "128" in parts:
        return 4
    return 2 if "64" in parts and parts[0] not in ("SHF", "USHF") or "WIDE" in parts else 1


@functools.lru_cache(maxsize=None)
def source_width(opcode, index):
    """Returns the number of registers that source operand `index` takes, counted from the first after the results."""
    parts = opcode.split(".")
    if parts[0] == "IMMA":
        return (4, 2, 4)[min(index, 2)] if parts[1] == "16832" else (1, 1, 2)[min(index, 2)]
    if parts[0] in STORES:
        return 4 if "128" in parts else 2 if "64" in parts else 1
    return 2 if index == 2 and ("WIDE" in parts or "HI" in parts and parts[0] == "IMAD") else 1


def is_predicate(operand):
    return re.fullmatch(r"!?U?P[0-9T]", operand) is not None


@functools.lru_cache(maxsize=None)
def split_results(opcode, operands):
    """Returns (results, sources). Results are leading predicates, then a register and the carries that follow it."""
    root, count = root_of(opcode), 0
    if root in PREDICATE_ONLY:
        return operands[:2], operands[2:]
    if root in ("VOTE", "VOTEU"):  # a register and a predicate, or a predicate alone; the last operand is the source
        return operands[:-1], operands[-1:]
    while is_predicate(operands[count]):
        count += 1
    count += 1
    while count < len(operands) and re.fullmatch(r"U?P[0-9T]", operands[count]):
        count += 1
    return operands[:count], operands[count:]


class State:
    """The origins of registers' values. Those written under a guard are kept apart, for reads under the same guard.

    A guard is known by its definition, since predicates are also kept as bits of registers: the latest run of the
    instruction that computed it, or the place where paths with several definitions met. bits[register][n] is the
    definition and the value of the predicate that bit n is a copy of, or CLEARED.

    A loop brings back nothing of a definition's earlier run: merge() keeps only what the first path to a place knew,
    and that path had not run the instructions of this place's block."""

    CLEARED = "cleared"

    def __init__(self, values=None, guarded=None, definitions=None, bits=None):
        self.values, self.guarded = dict(values or {}), dict(guarded or {})
        self.definitions, self.bits = dict(definitions or {}), dict(bits or {})

    def copy(self):
        return State(self.values, self.guarded, self.definitions, self.bits)

    def key(self, guard):
        predicate, negated = guard
        return self.definitions.get(predicate, predicate), negated

    def get(self, register, guard=None):
        value = self.guarded.get((register, self.key(guard))) if guard else None
        return self.values.get(register, CLEAN) if value is None else value

    def set(self, register, value, guard):
        """Sets a register; under a guard, the old value may stay."""
        new = joined(value, self.get(register)) if guard else value
        self.guarded = {k: v for k, v in self.guarded.items() if k[0] != register}
        self.bits.pop(register, None)
        self.values[register] = new
        if guard:
            self.guarded[register, self.key(guard)] = value

    def bits_in(self, operand):
        return self.bits.get(next(iter(registers(operand)), None), {})

    def bit_of(self, predicate):
        """Returns the bit that is a copy of a predicate, as a dictionary's value; None if no instruction defines it."""
        definition = self.definitions.get(predicate)
        return definition and (definition, self.get(predicate))

    def merge(self, other, place):
        """Joins the state of another path, at a place in the list. Returns whether this state has changed."""
        changed = False
        for key, old in self.guarded.items():
            if (new := joined(old, other.guarded.get(key) or other.get(key[0]))) != old:
                self.guarded[key] = new
                changed = True
        for register, value in other.values.items():
            old = self.values.get(register, CLEAN)
            if (new := joined(old, value)) != old:
                self.values[register] = new
                changed = True
        for predicate in self.definitions.keys() | other.definitions.keys():
            here, meeting = self.definitions.get(predicate), (predicate, place)
            if here not in (meeting, other.definitions.get(predicate)):
                self.definitions[predicate] = meeting
                changed = True
        same = {k: v for k, v in self.bits.items() if other.bits.get(k) == v}
        if same != self.bits:
            self.bits = same
            changed = True
        return changed


class Kernel:
    def __init__(self, name, arch, instructions, public=frozenset()):
        """public: byte offsets of its public parameters, from public_offsets()."""
        self.code = instructions
        self.index = {i.pc: n for n, i in enumerate(instructions)}
        self.parameters = 0x210 if int(arch[3:]) >= 90 else 0x160  # their offset in constant bank 0
        self.public = public
        self.public_shared = next((p for k, (_, p) in PUBLIC_SHARED.items() if k in name), frozenset())
        self.findings = {}
        self.starts = {0}  # of basic blocks
        for n, i in enumerate(instructions):
            if root_of(i.opcode) in CONTROL:
                self.starts |= {n + 1, self.target(i)}

    def target(self, instruction):
        """Returns the place in the list of the instruction a branch leads to; None if the text does not name one."""
        found = re.search(r"(?<!\[)\b0x([0-9a-f]+)$", instruction.operands[-1] if instruction.operands else "")
        return self.index.get(int(found[1], 16)) if found else None

    def report(self, instruction, what, secret=None):
        since = "" if secret is None else f", loaded at {secret:04x}"
        self.findings[instruction.pc] = f"{instruction.pc:04x} {instruction.text}: {what}{since}"

    def run(self):
        """Follows values from block to block until nothing changes."""
        states, work = {0: State()}, [0]
        while work:
            n = heapq.heappop(work)
            state = states[n].copy()
            following = self.step(n, state)
            while n + 1 not in self.starts and n + 1 < len(self.code):
                n += 1
                following = self.step(n, state)
            for successor in set(following) - {len(self.code)}:
                if successor not in states:
                    states[successor] = state.copy()
                elif not states[successor].merge(state, successor):
                    continue
                if successor not in work:
                    heapq.heappush(work, successor)
        return self.findings

    def step(self, n, state):
        """Changes the state by instruction n. Returns the instructions that may run next."""
        i = self.code[n]
        root = root_of(i.opcode)
        guard = state.get(i.guard) if i.guard else CLEAN
        if root in CONTROL:
            return self.control(n, i, root, state, guard)
        if root in STORES or root in LOADS:
            self.memory(i, root, state, guard)
        elif (root in PLAIN or root in PREDICATE_ONLY) and not CONVERSION_OF_64_BITS.match(i.opcode):
            self.compute(i, root, state, guard)
        elif root in PACKED_PREDICATES:
            self.pack_predicates(i, root, state, guard)
        elif root not in NOTHING:
            self.report(i, "this check does not know the instruction")
        return [n + 1]

    def control(self, n, i, root, state, guard):
        if guard.secret is not None:
            self.report(i, "a secret decides whether this runs", guard.secret)
        operands = self.value(i, i.operands, i.opcode, state)
        if operands.secret is not None:
            self.report(i, "control flow depends on a secret", operands.secret)
        following, target = [n + 1], self.target(i)
        if root == "EXIT":
            return following if i.guard else []
        if root == "BRA":
            if target is None:
                self.report(i, "a branch to an unknown place")
                return following
            always = i.guard is None and len(i.operands) == 1
            return [target] if always else following + [target]
        if root == "BSSY":
            state.values[i.operands[0]] = Value(None, frozenset({target}))
        if root == "BSYNC":  # the threads meet where the BSSY said
            return following + list(state.get(i.operands[0]).origins)
        return following + [target] if root == "WARPSYNC" and target is not None else following

    def value(self, i, operands, opcode, state):
        """Returns the joined origin of the operands' values."""
        guard = (i.guard, i.negated) if i.guard else None
        secret, origins = None, set()
        for k, operand in enumerate(operands):
            for r in registers(operand, source_width(opcode, k)):
                v = state.get(r, guard)
                secret = first(secret, v.secret)
                origins |= v.origins
            for _, offset in CONSTANT.findall(operand):
                if offset and int(offset, 16) >= self.parameters:
                    origins.add(int(offset, 16) - self.parameters)
        return Value(secret, frozenset(origins))

    def compute(self, i, root, state, guard):
        results, sources = split_results(i.opcode, i.operands)
        value = self.value(i, sources, i.opcode, state)
        if root == "SHFL" and len(sources) > 1:
            lanes = self.value(i, sources[1:], i.opcode, state)
            if lanes.secret is not None:
                self.report(i, "a shuffle's source lane depends on a secret", lanes.secret)
        table = self.value(i, [o for o in sources if o.startswith("c[")], i.opcode, state)
        if table.secret is not None:
            self.report(i, "the address of a constant depends on a secret", table.secret)
        self.assign(i, results, Value(first(value.secret, guard.secret), value.origins), state)

    def pack_predicates(self, i, root, state, guard):
        """Follows P2R and R2P: P2R R1, PR, R2, 0x8 puts P3 into bit 3; R2P PR, R1, 0x1e sets P1 to P4."""
        prefix, mask = ("UP" if root.startswith("U") else "P"), int(i.operands[-1], 16)
        predicates = tuple(f"{prefix}{k}" for k in range(7) if mask >> k & 1)
        results, sources = (predicates, i.operands[1:]) if root in ("R2P", "UR2UP") else (
            i.operands[:1], predicates + i.operands[2:])
        value = self.value(i, sources, i.opcode, state)
        self.assign(i, results, Value(first(value.secret, guard.secret), value.origins), state)

    def memory(self, i, root, state, guard):
        if guard.secret is not None:
            self.report(i, "a secret decides whether memory is accessed", guard.secret)
        address = self.value(i, [o for o in i.operands if "[" in o and not o.startswith("c[")], "", state)
        if address.secret is not None:
            self.report(i, "an address depends on a secret", address.secret)
        if root in STORES:
            return
        public = root in ("LDG", "ATOMG") and address.origins and address.origins <= self.public
        public = public or i.opcode in self.public_shared
        loaded = CLEAN if public else Value(i.pc, frozenset())
        self.assign(i, [o for o in i.operands[:2] if "[" not in o], loaded, state)

    @staticmethod
    def assign(i, results, value, state):
        written = [r for result in results for r in registers(result, result_width(i.opcode))]
        guard = (i.guard, i.negated) if i.guard else None
        copied, bits = copied_predicate(i, state), bits_of_result(i, state)
        if copied:
            definition, value = copied
        for r in written:
            if i.guard in written:  # afterwards the guard means something else
                state.set(r, joined(value, state.get(r)), None)
            else:
                state.set(r, value, guard)
            if copied:
                state.definitions[r] = definition
            elif is_predicate(r):
                state.definitions[r] = i.pc, r
        if bits and written:
            state.bits[written[0]] = bits


def copied_predicate(i, state):
    """Returns definition and value of the predicate that an instruction takes from a bit; None if it does not."""
    if i.guard or len(i.operands) < 5 or not is_predicate(i.operands[0]):
        return None
    bits = state.bits_in(i.operands[2])
    if i.opcode == "LOP3.LUT" and i.operands[1] == "RZ" and i.operands[4:] == ("RZ", "0xc0", "!PT"):
        chosen = number_of(i.operands[3])
    elif re.fullmatch(r"ISETP\.NE(\.U32)?\.AND", i.opcode) and (i.operands[1], *i.operands[3:]) == ("PT", "RZ", "PT"):
        chosen = (1 << 32) - 1
    else:
        return None
    found = [bits.get(n) for n in range(32) if chosen >> n & 1]
    found = [bit for bit in found if bit != State.CLEARED]
    return found[0] if len(found) == 1 else None


def bits_of_result(i, state):
    """Returns which bits of a register an instruction clears or copies from predicates: P2R R1, PR, RZ, 0x8;
    LOP3.LUT R1, R1, 0xfffffff7, RZ, 0xc0, !PT, then @P3 LOP3.LUT R1, R1, 0x8, RZ, 0xfc, !PT."""
    if i.opcode == "P2R" and not i.guard:
        bits = dict.fromkeys(range(32), State.CLEARED) if i.operands[2] == "RZ" else {}
        mask = number_of(i.operands[3])
        return known(bits | {n: state.bit_of(f"P{n}") for n in range(7) if mask >> n & 1})
    if i.opcode != "LOP3.LUT" or len(i.operands) != 6 or i.operands[3] != "RZ" or not number_of(i.operands[2]):
        return {}
    bits, mask = state.bits_in(i.operands[1]), number_of(i.operands[2])
    if i.operands[4] == "0xc0" and not i.guard:
        return bits | {n: State.CLEARED for n in range(32) if not mask >> n & 1}
    if i.operands[4] == "0xfc" and i.guard and registers(i.operands[0]) == registers(i.operands[1]):
        copies = {n: bits.get(n) == State.CLEARED and not i.negated and state.bit_of(i.guard)
                  for n in range(32) if mask >> n & 1}
        return known(bits | copies)
    return {}


def known(bits):
    return {n: bit for n, bit in bits.items() if bit}


def number_of(operand):
    """Returns the value of an immediate operand; 0 if it is none."""
    return int(operand, 16) if re.fullmatch(r"0x[0-9a-f]+", operand) else 0


def first(a, b):
    return b if a is None else a if b is None else min(a, b)


def joined(a, b):
    return a if a == b else Value(first(a.secret, b.secret), a.origins | b.origins)


def without_known(name, findings):
    """Returns the findings that READ does not explain, and the number of those that it does."""
    left = dict(findings)
    for kernel, instruction, count, _ in READ:
        if re.search(kernel, name):
            explained = [pc for pc, text in left.items() if re.search(instruction, text)]
            if len(explained) == count:
                for pc in explained:
                    del left[pc]
    return left, len(findings) - len(left)


def parameters(listing):
    """Returns {kernel: [(byte offset, size)]} of the parameters in order, from cuobjdump's description of an object."""
    found, name = {}, None
    for line in listing.splitlines():
        if match := re.match(r"\.nv\.info\.(\S+)", line):
            name = match[1]
        elif match := re.search(r"Ordinal : 0x(\w+)\s+Offset  : 0x(\w+)\s+Size    : 0x(\w+)", line):
            ordinal, offset, size = (int(number, 16) for number in match.groups())
            found.setdefault(name, {})[ordinal] = offset, size
    return {name: [places[n] for n in sorted(places)] for name, places in found.items()}


@functools.lru_cache(maxsize=None)
def signatures():
    """Returns [(kernel, its source, the names of its arguments)] of all kernels in src."""
    kernel = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s*)?"
                        r"(\w+)\(([^{}]*?)\)\s*\{")
    return [(match[1], path, re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"<[^<>]*>", "", match[2])))
            for path in sorted((ROOT / "src").rglob("*.cu*")) for match in kernel.finditer(path.read_text())]


def public_offsets(name, places):
    """Returns the byte offsets of a kernel's arguments that PUBLIC names. places: from parameters()."""
    words = next((words for k, (_, words) in PUBLIC.items() if k in name), "").split()
    offsets = set()
    if not words:
        return offsets
    found = [s for s in signatures() if f"{len(s[0])}{s[0]}" in name]
    if len(found) > 1:
        found = [s for s in found if s[1].parent.parent.name in name]
    if len(found) != 1 or len(found[0][2]) != len(places):
        sys.exit(f"sass_check: PUBLIC needs exactly one kernel in src with the arguments of {name}")
    _, path, names = found[0]
    arguments = dict(zip(names, places))
    for argument, _, field in (word.partition(".") for word in words):
        begin, size = arguments.get(argument, (0, 0))
        if not size:
            continue  # an argument of other kernels
        if field:
            stated = re.search(rf"offsetof\(Work, {field}\) == (\d+)", (path.parent / "work.cuh").read_text())
            offsets.add(begin + int(stated[1]))
        else:
            offsets |= set(range(begin, begin + size, 4))
    return offsets


def disassembler(given):
    for candidate in [given] if given else [
            *map(str, ROOT.glob(".venv-cuda/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump")),
            shutil.which("cuobjdump"), "/usr/local/cuda/bin/cuobjdump"]:
        if candidate and Path(candidate).exists():
            return candidate
    print("sass_check: there is no cuobjdump; tools/cuda_toolchain.sh installs one", file=sys.stderr)
    sys.exit(2)


def dump(tool, what, path):
    done = subprocess.run([tool, what, "-arch", "sm_90", path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"sass_check: {tool} cannot read {path}: {done.stderr.strip()}")
    return done.stdout


def demangled(name):
    result = subprocess.run(["c++filt", "-p", name], capture_output=True, text=True, check=True).stdout.strip()
    return re.sub(r"polykem::|ntru::|cuda::|\(anonymous namespace\)::", "", result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuobjdump")
    parser.add_argument("--verbose", action="store_true", help="name every kernel that was checked")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    tool = disassembler(options.cuobjdump)
    kernels = instructions = found = read = 0
    for path in options.objects:
        code_text, places = dump(tool, "-sass", path), parameters(dump(tool, "-elf", path))
        for (name, arch), code in parse(code_text).items():
            public = public_offsets(name, places.get(name, []))
            findings, known = {}, 0
            if not ALL_PUBLIC.search(name):
                findings, known = without_known(name, Kernel(name, arch, code, public).run())
            kernels, instructions, found = kernels + 1, instructions + len(code), found + len(findings)
            read += known
            if options.verbose or findings:
                print(f"{demangled(name)} ({arch}, {len(code)} instructions): {len(findings)} findings")
            for pc in sorted(findings):
                print(f"  {findings[pc]}")
    if kernels == 0:
        sys.exit("sass_check: these objects contain no kernels")
    print(f"{kernels} kernels, {instructions} instructions, {found} findings, {read} more that READ explains")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
