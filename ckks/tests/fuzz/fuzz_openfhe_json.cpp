// SPDX-License-Identifier: Apache-2.0
#include "openfhe_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] != '{') return -1;
  return polykem::fuzz::check_openfhe_files({data, size});
}
