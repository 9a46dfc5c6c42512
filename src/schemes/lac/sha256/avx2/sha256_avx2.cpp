// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_features.hpp"
#include "schemes/lac/sha256/lanes/sha256_lanes.hpp"

namespace polykem {

void sha256_avx2(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  sha256::hash(out, in, length, count);
}

void sha256_dispatch_avx2(ByteRows out, ConstByteRows in, size_t length, size_t count) {
  (cpu_features().has(CpuFeatures::kShaNi) ? sha256_ni : sha256_avx2)(out, in, length, count);
}

}  // namespace polykem
