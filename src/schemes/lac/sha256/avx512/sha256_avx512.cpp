// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_features.hpp"
#include "schemes/lac/sha256/lanes/sha256_lanes.hpp"

namespace polykem {

namespace {

/// From this many messages on, the vector code takes less time than SHA-NI on a Zen 5.
constexpr size_t kMinForLanes = 8;

}  // namespace

void sha256_avx512(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  sha256::hash(out, in, length, count);
}

void sha256_dispatch_avx512(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  if (!cpu_features().has(CpuFeatures::kShaNi)) return sha256_avx512(out, in, length, count);
  size_t whole = count - count % sha256::kLanes;
  if (count - whole >= kMinForLanes) whole = count;
  sha256_avx512(out, in, length, whole);
  sha256_ni({out.data + whole * out.stride, out.stride}, {in.data + whole * in.stride, in.stride}, length,
            count - whole);
}

}  // namespace polykem
