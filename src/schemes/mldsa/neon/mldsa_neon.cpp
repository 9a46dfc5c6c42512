// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mldsa/backend.hpp"
#include "schemes/mldsa/lane_hashes.hpp"
#include "schemes/mldsa/vector_backends.hpp"

namespace polykem::mldsa {

namespace {

struct Neon : LaneHashes<kKeccakNeon> {
  static constexpr const char* kName = cpu::kNeon;
  static const SingleNttFunctions& small_ntt() { return kSingleNttNeon; }
};
static_assert(InstructionSet<Neon>);

}  // namespace

template <MldsaParams P>
const SchemeBackend& neon_backend() {
  static constexpr SchemeBackend kBackend = backend<P, Neon>();
  return kBackend;
}

template const SchemeBackend& neon_backend<kMldsa44>();
template const SchemeBackend& neon_backend<kMldsa65>();
template const SchemeBackend& neon_backend<kMldsa87>();

}  // namespace polykem::mldsa
