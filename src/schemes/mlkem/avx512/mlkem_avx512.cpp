// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/groups/backend.hpp"
#include "schemes/mlkem/lanes/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static constexpr size_t kFewestForLanes = 5;
  static constexpr lanes::MostLone kMostLone = {{{6, 4, 4}, {5, 5, 5}, {6, 5, 5}},
                                                {{29, 12, 19}, {28, 21, 21}, {31, 22, 22}}};
  static constexpr size_t kFewestTogether = 2;
  static Aes256Ctr keystream() { return aes256_ctr_avx512; }
  static const NttLanes& ntt() { return kNttLanesAvx512; }
  static const NttOne& ntt_one() { return kNttOneAvx2; }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
};

}  // namespace

/// Intel's CPUs have one unit for shuffles of 512 bits: there, arithmetic item by item, for which nothing is transposed
/// to lanes, takes less time than across them.
template <MlkemParams P, bool by_intel>
const SchemeBackend& avx512_backend() {
  static constexpr SchemeBackend kBackend = [] {
    SchemeBackend backend = lanes::backend<P, Avx512>(by_intel);
    if (by_intel) groups::use_groups<P, Avx512>(backend);
    return backend;
  }();
  return kBackend;
}

template const SchemeBackend& avx512_backend<kMlkem512, false>();
template const SchemeBackend& avx512_backend<kMlkem512, true>();
template const SchemeBackend& avx512_backend<kMlkem768, false>();
template const SchemeBackend& avx512_backend<kMlkem768, true>();
template const SchemeBackend& avx512_backend<kMlkem1024, false>();
template const SchemeBackend& avx512_backend<kMlkem1024, true>();
template const SchemeBackend& avx512_backend<kKyber512, false>();
template const SchemeBackend& avx512_backend<kKyber512, true>();
template const SchemeBackend& avx512_backend<kKyber768, false>();
template const SchemeBackend& avx512_backend<kKyber768, true>();
template const SchemeBackend& avx512_backend<kKyber1024, false>();
template const SchemeBackend& avx512_backend<kKyber1024, true>();

}  // namespace polykem::mlkem
