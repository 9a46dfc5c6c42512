// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/lanes/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Avx2 {
  static constexpr BackendId kBackend = BackendId::avx2;
  static constexpr size_t kFewestForLanes = 6;
  static constexpr Aes256Ctr kKeystream = aes256_ctr_avx2;
  static const NttLanes& ntt() { return kNttLanesAvx2; }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx2; }
};

}  // namespace

std::span<const SchemeBackend> avx2_backends() {
  return lanes::kBackends<Avx2>;
}

}  // namespace polykem::mlkem
