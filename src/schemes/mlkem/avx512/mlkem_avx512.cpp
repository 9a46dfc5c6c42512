// SPDX-License-Identifier: Apache-2.0
#include "schemes/mlkem/lanes/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Avx512 {
  static constexpr BackendId kBackend = BackendId::avx512;
  static constexpr size_t kFewestForLanes = 5;
  static constexpr Aes256Ctr kKeystream = aes256_ctr_avx512;
  static const NttLanes& ntt() { return kNttLanesAvx512; }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
};

}  // namespace

std::span<const SchemeBackend> avx512_backends() {
  return lanes::kBackends<Avx512>;
}

}  // namespace polykem::mlkem
