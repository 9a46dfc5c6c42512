// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/saber/interleaved/backend.hpp"
#include "schemes/saber/vector_backends.hpp"

namespace polykem::saber {

namespace {

struct Avx2 {
  static constexpr const char* kName = cpu::kAvx2;
  static const KeccakFunctions& keccak() { return kKeccakAvx2; }
};

}  // namespace

template <SaberParams P>
const SchemeBackend& avx2_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, Avx2, tuning::Cpu::kAvx2>();
  return kBackend;
}

template const SchemeBackend& avx2_backend<kLightSaber>();
template const SchemeBackend& avx2_backend<kSaber>();
template const SchemeBackend& avx2_backend<kFireSaber>();

}  // namespace polykem::saber
