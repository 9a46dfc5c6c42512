// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mldsa/backend.hpp"
#include "schemes/mldsa/lane_hashes.hpp"
#include "schemes/mldsa/vector_backends.hpp"

namespace polykem::mldsa {

namespace {

struct Avx2 : LaneHashes<kKeccakAvx2> {
  static constexpr const char* kName = cpu::kAvx2;
  static const SingleNttFunctions& small_ntt() { return kSingleNttAvx2; }
};
static_assert(InstructionSet<Avx2>);

}  // namespace

template <MldsaParams P>
const SchemeBackend& avx2_backend() {
  static constexpr SchemeBackend kBackend = backend<P, Avx2>();
  return kBackend;
}

template const SchemeBackend& avx2_backend<kMldsa44>();
template const SchemeBackend& avx2_backend<kMldsa65>();
template const SchemeBackend& avx2_backend<kMldsa87>();

}  // namespace polykem::mldsa
