// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/lanes/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Avx2 {
  static constexpr const char* kName = cpu::kAvx2;
  static constexpr size_t kFewestForLanes = 6;
  static constexpr lanes::MostLone kMostLone = {{{10, 8, 10}, {9, 8, 10}, {10, 8, 10}},
                                                {{15, 7, 10}, {14, 14, 13}, {15, 15, 14}}};
  static constexpr size_t kFewestTogether = 2;
  static Aes256Ctr keystream() { return aes256_ctr_avx2; }
  static const NttLanes& ntt() { return kNttLanesAvx2; }
  static const NttOne& ntt_one() { return kNttOneAvx2; }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx2; }
};

}  // namespace

template <MlkemParams P, bool by_intel>
const SchemeBackend& avx2_backend() {
  static constexpr SchemeBackend kBackend = lanes::backend<P, Avx2>(by_intel);
  return kBackend;
}

template const SchemeBackend& avx2_backend<kMlkem512, false>();
template const SchemeBackend& avx2_backend<kMlkem512, true>();
template const SchemeBackend& avx2_backend<kMlkem768, false>();
template const SchemeBackend& avx2_backend<kMlkem768, true>();
template const SchemeBackend& avx2_backend<kMlkem1024, false>();
template const SchemeBackend& avx2_backend<kMlkem1024, true>();
template const SchemeBackend& avx2_backend<kKyber512, false>();
template const SchemeBackend& avx2_backend<kKyber512, true>();
template const SchemeBackend& avx2_backend<kKyber768, false>();
template const SchemeBackend& avx2_backend<kKyber768, true>();
template const SchemeBackend& avx2_backend<kKyber1024, false>();
template const SchemeBackend& avx2_backend<kKyber1024, true>();

}  // namespace polykem::mlkem
