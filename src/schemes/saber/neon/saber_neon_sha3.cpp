// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/saber/interleaved/backend.hpp"
#include "schemes/saber/vector_backends.hpp"

namespace polykem::saber {

namespace {

struct NeonSha3 {
  static constexpr const char* kName = cpu::kNeonSha3;
  static const KeccakFunctions& keccak() { return kKeccakNeonSha3; }
};

}  // namespace

template <SaberParams P>
const SchemeBackend& neon_sha3_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, NeonSha3, tuning::Cpu::kNeonSha3>();
  return kBackend;
}

template const SchemeBackend& neon_sha3_backend<kLightSaber>();
template const SchemeBackend& neon_sha3_backend<kSaber>();
template const SchemeBackend& neon_sha3_backend<kFireSaber>();

}  // namespace polykem::saber
