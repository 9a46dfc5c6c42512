// SPDX-License-Identifier: Apache-2.0
// A parser that makes the mistake FAULT with some inputs, those for which CONDITION is true; exhaust.cpp must notice.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto* const bytes = const_cast<volatile uint8_t*>(data);
  if (CONDITION) FAULT;
  return 0;
}
