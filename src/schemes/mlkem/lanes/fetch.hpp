// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "core/cpu.hpp"
#include "core/scheme.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::lanes {
inline namespace POLYKEM_ISA {

/// Prefetches part `part` of `parts` of the output records of the items [first, end) into the second-level cache: while
/// A is hashed, memory is idle. On Intel's CPUs; a Zen 4 gains nothing. In assembly, since GCC drops functions that do
/// nothing but prefetch.
template <MlkemParams P>
void fetch_output([[maybe_unused]] const Batch& io, [[maybe_unused]] size_t first, [[maybe_unused]] size_t end,
                  [[maybe_unused]] size_t part, [[maybe_unused]] size_t parts) {
#ifndef POLYKEM_ISA_NEON
  if (!kCpuByIntel) return;
  const size_t items = std::min(end, io.count) - std::min(first, io.count);
  const auto fetch = [&](const uint8_t* rows, size_t bytes) {
    if (rows == nullptr) return;
    const uint8_t* const records = rows + first * bytes;
    for (size_t at = items * bytes * part / parts; at < items * bytes * (part + 1) / parts; at += 64)
      asm volatile("prefetcht1 %0" : : "m"(records[at]));
  };
  fetch(io.sk_out, P.secret_key_bytes());
  fetch(io.pk_out, P.public_key_bytes());
  fetch(io.ct_out, P.ciphertext_bytes());
#endif
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::lanes
