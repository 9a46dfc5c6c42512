// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct NeonSha3 {
  static constexpr const char* kName = cpu::kNeonSha3;
  static const NttFunctions& ntt() { return kNttNeon; }
  static const SingleNttFunctions& ntt_single() { return kSingleNttNeon; }
  static const KeccakFunctions& keccak() { return kKeccakNeonSha3; }
};
static_assert(InterleavedInstructionSet<NeonSha3>);

}  // namespace

template <MlkemParams P>
const SchemeBackend& neon_sha3_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, NeonSha3, tuning::Cpu::kNeonSha3>();
  return kBackend;
}

template const SchemeBackend& neon_sha3_backend<kMlkem512>();
template const SchemeBackend& neon_sha3_backend<kMlkem768>();
template const SchemeBackend& neon_sha3_backend<kMlkem1024>();
template const SchemeBackend& neon_sha3_backend<kKyber512>();
template const SchemeBackend& neon_sha3_backend<kKyber768>();
template const SchemeBackend& neon_sha3_backend<kKyber1024>();

}  // namespace polykem::mlkem
