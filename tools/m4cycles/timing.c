// SPDX-License-Identifier: Apache-2.0
// The encodings are those of the Armv7-M architecture [ARMV7M, A5], the cycles those of [CM4TRM, 3.3.1 and 3.3.2]:
//
//   data processing, MUL, MLA, UMULL, SMLAL, SMLAD, ...   1
//   LDR, LDRB, LDRH, VLDR                                 2, or 1 after another single load or store
//   STR, STRB, STRH, VSTR                                 1: the write buffer takes it
//   LDM, STM, PUSH, POP, LDRD, STRD, VLDM, VSTM           1 + registers
//   branches, POP and LDR of the program counter          1 + P, 1 + N + P, 2 + P, if taken; TBB and TBH 2 + P
//   SDIV, UDIV                                            kDivision; VDIV, VSQRT 14
#include "timing.h"

enum { kProgramCounter = 15 };

static unsigned bits(unsigned word, unsigned high, unsigned low) {
  return word >> low & ((1u << (high - low + 1)) - 1);
}

static struct timing plain(unsigned cycles) {
  return (struct timing){cycles, kFlowNext, false, false};
}

static struct timing branch(unsigned cycles, enum flow flow, bool call) {
  return (struct timing){cycles, flow, call, false};
}

static struct timing single(bool load, bool after) {
  return (struct timing){load && !after ? 2 : 1, kFlowNext, false, true};
}

static struct timing multiple(unsigned registers, bool loads_program_counter) {
  return (struct timing){1 + registers, loads_program_counter ? kFlowIndirect : kFlowNext, false, false};
}

/* 0100 01xx: ADD, CMP, MOV with high registers, BX, BLX. */
static struct timing special(unsigned word) {
  if (bits(word, 9, 8) == 3) return branch(1, kFlowIndirect, bits(word, 7, 7));
  const unsigned to = bits(word, 7, 7) << 3 | bits(word, 2, 0);
  if (to == kProgramCounter && bits(word, 9, 8) != 1) return branch(1, kFlowIndirect, false);
  return plain(1);
}

static struct timing miscellaneous(unsigned word) {
  if ((word & 0xf500) == 0xb100) return branch(1, kFlowDirect, false);  // CBZ, CBNZ
  const unsigned registers = (unsigned)__builtin_popcount(word & 0x1ff);
  if (bits(word, 11, 9) == 2) return multiple(registers, false);             // PUSH
  if (bits(word, 11, 9) == 6) return multiple(registers, bits(word, 8, 8));  // POP
  return plain(1);
}

static struct timing narrow(unsigned word, bool after) {
  switch (bits(word, 15, 12)) {
    case 4:
      if (bits(word, 11, 11)) return single(true, after);  // LDR of a literal
      return bits(word, 11, 10) == 1 ? special(word) : plain(1);
    case 5:
      return single(bits(word, 11, 9) >= 3, after);
    case 6:
    case 7:
    case 8:
    case 9:
      return single(bits(word, 11, 11), after);
    case 11:
      return miscellaneous(word);
    case 12:
      return multiple((unsigned)__builtin_popcount(word & 0xff), false);
    case 13:
      return bits(word, 11, 8) < 14 ? branch(1, kFlowDirect, false) : plain(1);
    case 14:
      return branch(1, kFlowDirect, false);
    default:
      return plain(1);
  }
}

/* 1110 100x x1xx: LDRD, STRD, exclusive accesses, TBB and TBH. */
static struct timing dual(unsigned first, unsigned second) {
  if ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000) return branch(2, kFlowIndirect, false);
  return plain(bits(first, 8, 8) || bits(first, 5, 5) ? 3 : 2);
}

/* 1111 0xxx xxxx xxxx 1xxx: branches and system instructions. */
static struct timing far_branch(unsigned first, unsigned second) {
  switch (bits(second, 15, 12) & 0xd) {
    case 0x8:
      return bits(first, 9, 6) < 14 ? branch(1, kFlowDirect, false) : plain(1);
    case 0x9:
      return branch(1, kFlowDirect, false);
    default:
      return branch(1, kFlowDirect, true);
  }
}

static struct timing wide_single(unsigned first, unsigned second, bool after) {
  const bool load = bits(first, 4, 4);
  if (load && bits(first, 6, 5) == 2 && bits(second, 15, 12) == kProgramCounter) return branch(2, kFlowIndirect, false);
  return single(load, after);
}

/* Floating point. */
static struct timing coprocessor(unsigned first, unsigned second, bool after) {
  if ((first & 0xffe0) == 0xec40) return plain(2);  // VMOV of two registers
  if ((first & 0xff20) == 0xed00) {                 // VLDR, VSTR
    return bits(second, 8, 8) ? plain(3) : single(bits(first, 4, 4), after);
  }
  if ((first & 0xfe00) == 0xec00) return multiple(bits(second, 7, 0), false);
  const bool divides = (first & 0xffb0) == 0xee80 && !bits(second, 4, 4);
  const bool takes_root = (first & 0xffbf) == 0xeeb1 && bits(second, 7, 6) == 3 && !bits(second, 4, 4);
  return plain(divides || takes_root ? 14 : 1);
}

struct timing timing_of(uint16_t first, uint16_t second, bool wide, bool after) {
  if (!wide) return narrow(first, after);
  if ((first & 0xfe40) == 0xe800) {
    const bool loads_program_counter = bits(first, 4, 4) && bits(second, 15, 15);
    return multiple((unsigned)__builtin_popcount(second), loads_program_counter);
  }
  if ((first & 0xfe40) == 0xe840) return dual(first, second);
  if ((first & 0xec00) == 0xec00) return coprocessor(first, second, after);
  if ((first & 0xf800) == 0xf000 && bits(second, 15, 15)) return far_branch(first, second);
  if ((first & 0xfe00) == 0xf800) return wide_single(first, second, after);
  if ((first & 0xffd0) == 0xfb90 && bits(second, 7, 4) == 15) return plain(kDivision);
  return plain(1);
}
