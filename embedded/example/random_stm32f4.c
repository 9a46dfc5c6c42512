// SPDX-License-Identifier: Apache-2.0
// The random generator of an STM32F405 or STM32F407, which needs the board's 48 MHz clock (PLL48CLK) to run. It is a
// source of entropy: a product should put a DRBG behind it.
#include "example/random.h"

#include <string.h>

enum { kEnable = 1 << 2, kReady = 1 << 0, kErrors = 0x66, kClockOfGenerator = 1 << 6 };
enum { kMaxTries = 100000 };

static volatile uint32_t* const clock_enable = (volatile uint32_t*)0x40023834;
static volatile uint32_t* const control = (volatile uint32_t*)0x50060800;
static volatile uint32_t* const status = (volatile uint32_t*)0x50060804;
static volatile uint32_t* const data = (volatile uint32_t*)0x50060808;

/* Waits for the word after *word and stores it there. Returns 0, or 1 if it did not come in time or equals the word
 * before, as FIPS 140-2 demands. */
static int next_word(uint32_t* word) {
  for (int i = 0; i < kMaxTries; ++i) {
    const uint32_t now = *status;
    if (now & kErrors) { /* an error of clock or seed, now or before: the next call starts the generator again */
      *control &= ~(uint32_t)kEnable;
      *status = 0;
      return 1;
    }
    if (now & kReady) {
      const uint32_t before = *word;
      *word = *data;
      return *word == before;
    }
  }
  return 1;
}

int random_bytes(void* context, uint8_t* out, size_t bytes) {
  (void)context;
  *clock_enable |= kClockOfGenerator;
  *control |= kEnable;
  uint32_t word = 0;
  if (next_word(&word) != 0) return 1;  // the first word only serves for the comparison
  for (size_t i = 0; i < bytes; i += sizeof word) {
    if (next_word(&word) != 0) return 1;
    memcpy(out + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
  }
  return 0;
}
