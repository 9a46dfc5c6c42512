// SPDX-License-Identifier: Apache-2.0
// How many cycles a Thumb instruction takes on a Cortex-M4 whose memory answers at once. [CM4TRM, 3.3]
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How control leaves an instruction. */
enum flow { kFlowNext, kFlowDirect, kFlowIndirect };

/* Cycles that a taken branch adds: P of the manual, which says 1 to 3. These two and the next one were fitted. */
enum { kTakenDirect = 2, kTakenIndirect = 3 };
/* What a word or half word costs that is not aligned. */
enum { kUnaligned = 1 };
/* The manual says 2 to 12, by the operands, which a plugin does not see. */
enum { kDivision = 12 };

struct timing {
  unsigned cycles;  ///< without what a taken branch adds
  enum flow flow;
  bool call;       ///< BL, BLX
  bool pipelines;  ///< a single load or store: a single load that follows takes one cycle less
};

/* The instruction's first and second half word; `after` is true if the instruction before pipelines. */
struct timing timing_of(uint16_t first, uint16_t second, bool wide, bool after);
