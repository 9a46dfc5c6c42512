// SPDX-License-Identifier: Apache-2.0
// Reading a text that may be gzipped: damaged and truncated streams are refused, the limit holds.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "common.hpp"
#include "common/exit_codes.hpp"
#include "common/input.hpp"

using namespace polykem;
using namespace polykem::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLimit = 1 << 20;
  const int file = memfd_create("input", 0);
  fuzz::require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "a file in memory");
  try {
    const std::string text = read_text_maybe_gzip("/proc/self/fd/" + std::to_string(file), kLimit);
    fuzz::require(text.size() <= kLimit, "not more than the limit");
  } catch (const CliError&) {
  }
  close(file);
  return 0;
}
