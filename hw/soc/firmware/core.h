// SPDX-License-Identifier: Apache-2.0
// The core's driver for a CPU without an operating system, with the DMA of soc.py. hw/doc/registers.md has the
// registers.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { kKeygen = 1, kEncaps = 2, kDecaps = 3 };
enum { kErrorModulus = 2, kErrorCommand = 8, kErrorAborted = 16, kErrorTime = 1u << 31, kErrorLength = 1u << 30 };

/* Whether there is a core, and it has overwritten its memories. */
int core_open(void);
/* Runs a command. Input and output lie at addresses that are multiples of four, and their lengths are multiples of
 * eight. Returns 0, or ERR or one of the upper two errors above, with zeros as output and the core cleared. */
uint32_t core_run(uint32_t command, uint32_t params, const void* in, size_t in_bytes, void* out, size_t out_bytes);
/* Ends a running command and waits until every memory is overwritten. Returns ERR. */
uint32_t core_zeroize(void);
/* Starts a command without waiting for its end. */
void core_start(uint32_t command, uint32_t params, const void* in, size_t in_bytes, void* out, size_t out_bytes);
/* Clock cycles of the last command, until its last word left. */
uint32_t core_cycles(void);
