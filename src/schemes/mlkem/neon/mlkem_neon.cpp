// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "core/cpu.hpp"
#include "schemes/mlkem/lanes/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Neon {
  static constexpr const char* kName = cpu::kNeon;
  // By instructions counted, before the hashes of several items were computed together: there is no AArch64 machine
  // to measure on.
  static constexpr size_t kFewestForLanes = 6;
  static constexpr lanes::MostLone kMostLone = {{}, {{7, 11, 10}, {7, 11, 10}, {7, 11, 10}}};
  static constexpr size_t kFewestTogether = 4;  // as many states as are permuted at once
  static Aes256Ctr keystream() { return cpu_features().has(CpuFeatures::kAes) ? aes256_ctr_neon : nullptr; }
  static const NttLanes& ntt() { return kNttLanesNeon; }
  static const NttOne& ntt_one() { return kNttOneNeon; }
  static const KeccakLanes& keccak() { return kKeccakLanesNeon; }
};

}  // namespace

template <MlkemParams P>
const SchemeBackend& neon_backend() {
  static constexpr SchemeBackend kBackend = lanes::backend<P, Neon>(false);
  return kBackend;
}

template const SchemeBackend& neon_backend<kMlkem512>();
template const SchemeBackend& neon_backend<kMlkem768>();
template const SchemeBackend& neon_backend<kMlkem1024>();
template const SchemeBackend& neon_backend<kKyber512>();
template const SchemeBackend& neon_backend<kKyber768>();
template const SchemeBackend& neon_backend<kKyber1024>();

}  // namespace polykem::mlkem
