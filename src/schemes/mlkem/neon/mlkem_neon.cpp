// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Neon {
  static constexpr const char* kName = cpu::kNeon;
  static const NttFunctions& ntt() { return kNttNeon; }
  static const SingleNttFunctions& ntt_single() { return kSingleNttNeon; }
  static const KeccakFunctions& keccak() { return kKeccakNeon; }
};
static_assert(InterleavedInstructionSet<Neon>);

}  // namespace

template <MlkemParams P>
const SchemeBackend& neon_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, Neon, tuning::Cpu::kNeon>();
  return kBackend;
}

template const SchemeBackend& neon_backend<kMlkem512>();
template const SchemeBackend& neon_backend<kMlkem768>();
template const SchemeBackend& neon_backend<kMlkem1024>();
template const SchemeBackend& neon_backend<kKyber512>();
template const SchemeBackend& neon_backend<kKyber768>();
template const SchemeBackend& neon_backend<kKyber1024>();

}  // namespace polykem::mlkem
