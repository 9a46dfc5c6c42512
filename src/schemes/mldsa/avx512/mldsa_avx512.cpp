// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mldsa/backend.hpp"
#include "schemes/mldsa/lane_hashes.hpp"
#include "schemes/mldsa/vector_backends.hpp"

namespace polykem::mldsa {

namespace {

struct Avx512 : LaneHashes<kKeccakAvx512> {
  static constexpr const char* kName = cpu::kAvx512;
  static const SingleNttFunctions& small_ntt() { return kSingleNttAvx512; }
};
static_assert(InstructionSet<Avx512>);

}  // namespace

template <MldsaParams P>
const SchemeBackend& avx512_backend() {
  static constexpr SchemeBackend kBackend = backend<P, Avx512>();
  return kBackend;
}

template const SchemeBackend& avx512_backend<kMldsa44>();
template const SchemeBackend& avx512_backend<kMldsa65>();
template const SchemeBackend& avx512_backend<kMldsa87>();

}  // namespace polykem::mldsa
