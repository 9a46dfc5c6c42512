// SPDX-License-Identifier: Apache-2.0
// A parser that reads beyond some inputs, those for which PLANTED is true; exhaust.cpp must notice.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  [[maybe_unused]] const volatile uint8_t seen = PLANTED ? data[size] : uint8_t{0};
  return 0;
}
