// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "core/cpu_features.hpp"
#include "core/scheme.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

/// Prefetches `count` records from record `first` on into the second-level cache, or nothing if `rows` is nullptr. It
/// takes part `part` of `parts` equal parts, so that calls can be spread over the hashing of A, during which memory is
/// idle. It is written in assembly, since GCC drops functions that do nothing but prefetch.
inline void fetch_records([[maybe_unused]] const uint8_t* rows, [[maybe_unused]] size_t first,
                          [[maybe_unused]] size_t count, [[maybe_unused]] size_t record_bytes,
                          [[maybe_unused]] size_t part, [[maybe_unused]] size_t parts) {
#ifndef POLYKEM_ISA_NEON
  if (rows == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(rows) + first * record_bytes;
  const size_t bytes = count * record_bytes;
  for (size_t at = bytes * part / parts; at < bytes * (part + 1) / parts; at += 64)
    asm volatile("prefetcht1 (%0)" : : "r"(begin + at));
#endif
}

/// Prefetches a part of the output records of items [first, end), but only on Intel's CPUs, which alone gain by it
/// (docs/adr/0016-mlkem-on-the-cpu.md).
template <MlkemParams P>
void fetch_output(const Batch& io, size_t first, size_t end, size_t part, size_t parts) {
  if (!kCpuByIntel) return;
  const size_t items = std::min(end, io.count) - std::min(first, io.count);
  fetch_records(io.sk_out, first, items, P.secret_key_bytes(), part, parts);
  fetch_records(io.pk_out, first, items, P.public_key_bytes(), part, parts);
  fetch_records(io.ct_out, first, items, P.ciphertext_bytes(), part, parts);
}

/// Prefetches a part of the input records behind those of `io`, which are the next to be read if there are more. If
/// there are not, prefetching has no effect. For the smallest sets it takes more time than it saves.
template <MlkemParams P>
void fetch_next_input(const Batch& io, size_t part, size_t parts) {
  if (P.k == 2) return;
  fetch_records(io.sk, io.count, io.count, P.secret_key_bytes(), part, parts);
  fetch_records(io.pk, io.count, io.count, P.public_key_bytes(), part, parts);
  fetch_records(io.ct, io.count, io.count, P.ciphertext_bytes(), part, parts);
}

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
