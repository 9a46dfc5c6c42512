// SPDX-License-Identifier: Apache-2.0
// Each operation of a set once, for tools/m4cycles: a key pair, an encapsulation, a decapsulation.
#include <string.h>

#include "set.h"

int main(void) {
  keygen();
  encaps();
  decaps();
  return memcmp(ss, partners_ss, sizeof ss) != 0;
}
