// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/saber/interleaved/backend.hpp"
#include "schemes/saber/vector_backends.hpp"

namespace polykem::saber {

namespace {

struct Neon {
  static constexpr const char* kName = cpu::kNeon;
  static const KeccakFunctions& keccak() { return kKeccakNeon; }
};

}  // namespace

template <SaberParams P>
const SchemeBackend& neon_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, Neon, tuning::Cpu::kNeon>();
  return kBackend;
}

template const SchemeBackend& neon_backend<kLightSaber>();
template const SchemeBackend& neon_backend<kSaber>();
template const SchemeBackend& neon_backend<kFireSaber>();

}  // namespace polykem::saber
