// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mldsa/backend.hpp"
#include "schemes/mldsa/lane_hashes.hpp"
#include "schemes/mldsa/vector_backends.hpp"

namespace polykem::mldsa {

namespace {

struct NeonSha3 : LaneHashes<kKeccakNeonSha3> {
  static constexpr const char* kName = cpu::kNeonSha3;
  static const SingleNttFunctions& small_ntt() { return kSingleNttNeon; }
};
static_assert(InstructionSet<NeonSha3>);

}  // namespace

template <MldsaParams P>
const SchemeBackend& neon_sha3_backend() {
  static constexpr SchemeBackend kBackend = backend<P, NeonSha3>();
  return kBackend;
}

template const SchemeBackend& neon_sha3_backend<kMldsa44>();
template const SchemeBackend& neon_sha3_backend<kMldsa65>();
template const SchemeBackend& neon_sha3_backend<kMldsa87>();

}  // namespace polykem::mldsa
