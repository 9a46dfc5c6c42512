// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "schemes/saber/interleaved/backend.hpp"
#include "schemes/saber/vector_backends.hpp"

namespace polykem::saber {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static const KeccakFunctions& keccak() { return kKeccakAvx512; }
};

}  // namespace

template <SaberParams P>
const SchemeBackend& avx512_backend() {
  static constexpr SchemeBackend kOnZen5 = interleaved::backend<P, Avx512, tuning::Cpu::kAvx512Zen5>();
  static constexpr SchemeBackend kOnOthers = interleaved::backend<P, Avx512, tuning::Cpu::kAvx512>();
  return kCpuIsZen5 ? kOnZen5 : kOnOthers;
}

template const SchemeBackend& avx512_backend<kLightSaber>();
template const SchemeBackend& avx512_backend<kSaber>();
template const SchemeBackend& avx512_backend<kFireSaber>();

}  // namespace polykem::saber
