// SPDX-License-Identifier: Apache-2.0
// Runs the commands of ML-KEM-768 with a known answer, a rejection, a key that the core must refuse, a bad command and
// ZEROIZE, and prints cycles and "passed" or what failed on the UART. A byte of 4 (EOT) ends the simulation.
#include <generated/csr.h>
#include <generated/known_answer.h>

#include "core.h"

enum { kK = 3, kEk = 384 * kK + 32, kDk = 768 * kK + 96, kCt = 32 * (10 * kK + 4), kSs = 32, kM = 32 };

/* Words, so that the DMA can reach them. */
static uint32_t in[(kCt + kDk) / 4], out[kDk / 4];

void* memcpy(void* to, const void* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((volatile uint8_t*)to)[i] = ((const uint8_t*)from)[i];
  return to;
}

static int equal(const void* a, const void* b, size_t bytes) {
  uint32_t difference = 0;
  for (size_t i = 0; i < bytes; ++i)
    difference |= (uint32_t)(((const uint8_t*)a)[i] ^ ((const uint8_t*)b)[i]);
  return difference == 0;
}

static void put(const char* text) {
  for (; *text != 0; ++text) {
    while (uart_txfull_read()) {
    }
    uart_rxtx_write((uint8_t)*text);
  }
}

/* Prints a value below ten million. The CPU has no division. */
static void put_number(uint32_t value) {
  static const uint32_t powers[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
  int started = 0;
  for (size_t i = 0; i < sizeof powers / sizeof powers[0]; ++i) {
    char digit[2] = "0";
    for (; value >= powers[i]; value -= powers[i])
      ++digit[0];
    started |= digit[0] != '0' || powers[i] == 1;
    if (started) put(digit);
  }
}

/* Runs a command on the first bytes of `in` and compares its output. */
static int answers(const char* name, uint32_t command, size_t in_bytes, const void* wanted, size_t out_bytes) {
  const uint32_t error = core_run(command, kK, in, in_bytes, out, out_bytes);
  put(name);
  put(": ");
  if (error != 0 || !equal(out, wanted, out_bytes)) {
    put(error != 0 ? "an error\n" : "a wrong answer\n");
    return 0;
  }
  put_number(core_cycles());
  put(" cycles\n");
  return 1;
}

static int exchange(void) {
  uint8_t* const bytes = (uint8_t*)in;
  static uint8_t ct_ss[kCt + kSs];
  memcpy(ct_ss, known_ct, kCt);
  memcpy(ct_ss + kCt, known_ss, kSs);

  memcpy(bytes, known_coins, sizeof known_coins);
  if (!answers("key generation", kKeygen, sizeof known_coins, known_dk, kDk)) return 0;
  memcpy(bytes, known_m, kM);
  memcpy(bytes + kM, known_dk + 384 * kK, kEk);
  if (!answers("encapsulation", kEncaps, kM + kEk, ct_ss, sizeof ct_ss)) return 0;
  memcpy(bytes, known_ct, kCt);
  memcpy(bytes + kCt, known_dk, kDk);
  if (!answers("decapsulation", kDecaps, kCt + kDk, known_ss, kSs)) return 0;
  bytes[kRejectByte] ^= kRejectXor;
  return answers("decapsulation of a wrong ciphertext", kDecaps, kCt + kDk, known_rejected_ss, kSs);
}

static int refusals(void) {
  uint8_t* const bytes = (uint8_t*)in;
  memcpy(bytes, known_m, kM);
  memcpy(bytes + kM, known_dk + 384 * kK, kEk);
  bytes[kM] = 0x01; /* a coefficient of q */
  bytes[kM + 1] = 0x0d;
  if (core_run(kEncaps, kK, in, kM + kEk, out, kCt + kSs) != kErrorModulus) return 0;
  if (core_run(9, kK, in, 8, out, 8) != kErrorCommand) return 0;
  core_start(kEncaps, kK, in, kM + kEk - 8, out, kCt + kSs); /* waits for the end of its input, which does not come */
  return core_zeroize() == kErrorAborted;
}

int main(void) {
  put("polykem on a VexRiscv\n");
  const char* failed = 0;
  if (!core_open()) failed = "no core";
  if (failed == 0 && !exchange()) failed = "exchange";
  if (failed == 0 && !refusals()) failed = "refusals";
  if (failed == 0 && !exchange()) failed = "exchange after ZEROIZE";
  if (failed != 0) {
    put("FAILED: ");
    put(failed);
    put("\n\4");
  } else {
    put("passed\n\4");
  }
  return 0;
}

void isr(void);
void isr(void) {}
