// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>

enum { kId = 0, kParams = 2, kCommand = 3, kStatus = 4, kError = 5, kIrqEnable = 6, kZeroize = 7, kCycles = 8 };
enum { kEnded = 2, kCoreId = 0x504b454d, kMaxTries = 1000000 };

static volatile uint32_t* const registers = (volatile uint32_t*)POLYKEM_BASE;

/* Waits for the interrupt. Returns whether it came. */
static int ends(void) {
  for (int i = 0; i < kMaxTries; ++i)
    if (irq_pending() & 1u << POLYKEM_INTERRUPT) return 1;
  return 0;
}

int core_open(void) {
  polykem_ev_enable_write(1);
  irq_setmask(1u << POLYKEM_INTERRUPT);
  registers[kIrqEnable] = 1;
  if (registers[kId] != kCoreId) return 0;
  return (core_zeroize() & kErrorTime) == 0;
}

uint32_t core_zeroize(void) {
  registers[kStatus] = kEnded;
  registers[kZeroize] = 1;
  polykem_dma_enable_write(0);
  const uint32_t error = ends() ? registers[kError] : kErrorTime;
  registers[kStatus] = kEnded;
  return error;
}

void core_start(uint32_t command, uint32_t params, const void* in, size_t in_bytes, void* out, size_t out_bytes) {
  registers[kStatus] = kEnded;
  registers[kParams] = params;
  polykem_dma_in_base_write((uint32_t)in);
  polykem_dma_in_bytes_write(in_bytes);
  polykem_dma_out_base_write((uint32_t)out);
  polykem_dma_out_bytes_write(out_bytes);
  polykem_dma_enable_write(1);
  registers[kCommand] = command;
}

uint32_t core_run(uint32_t command, uint32_t params, const void* in, size_t in_bytes, void* out, size_t out_bytes) {
  core_start(command, params, in, in_bytes, out, out_bytes);
  uint32_t error = registers[kError] & kErrorCommand;
  if (error == 0) error = ends() ? registers[kError] : kErrorTime;
  /* The core has ended when its last word has left; the DMA may still write it. */
  for (int i = 0; error == 0 && polykem_dma_out_words_read() != out_bytes / 4; ++i)
    if (i == kMaxTries) error = kErrorLength;
  registers[kStatus] = kEnded;
  polykem_dma_enable_write(0);
  if (error == 0) return 0;
  core_zeroize();
  for (size_t i = 0; i < out_bytes; ++i)
    ((volatile uint8_t*)out)[i] = 0;
  return error;
}

uint32_t core_cycles(void) {
  return registers[kCycles];
}
