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
  static constexpr lanes::MostLone kMostLone = {{{30, 13, 14}, {22, 14, 18}, {31, 18, 20}},
                                                {{29, 12, 19}, {28, 21, 21}, {31, 22, 22}}};
  static constexpr size_t kFewestTogether = 2;
  static Aes256Ctr keystream() { return aes256_ctr_avx512; }
  static const NttLanes& ntt() { return kNttLanesAvx512; }
  static const NttOne& ntt_one() { return kNttOneAvx2; }
  static const KeccakLanes& keccak() { return kKeccakLanesAvx512; }
};

/// Intel's CPUs have one unit for shuffles of 512 bits: there, arithmetic item by item, for which nothing needs to be
/// transposed, takes less time than across the lanes.
template <MlkemParams P>
SchemeBackend groups_backend() {
  using Groups = groups::GroupOperations<P, Avx512>;
  SchemeBackend backend = lanes::backend<P, Avx512>();
  const auto use = [&](const Operation& operation, size_t op) {
    const Operation* const few = backend.ops[op].few;
    backend.ops[op] = operation;
    backend.ops[op].few = few;
    backend.ops[op].few_most = 6;
  };
  use(Groups::template operation<Op::keygen>(), 0);
  use(Groups::template operation<Op::encaps>(), 1);
  use(Groups::template operation<Op::decaps>(), 2);
  return backend;
}

}  // namespace

template <MlkemParams P>
SchemeBackend avx512_backend() {
  return kCpuByIntel ? groups_backend<P>() : lanes::backend<P, Avx512>();
}

template SchemeBackend avx512_backend<kMlkem512>();
template SchemeBackend avx512_backend<kMlkem768>();
template SchemeBackend avx512_backend<kMlkem1024>();
template SchemeBackend avx512_backend<kKyber512>();
template SchemeBackend avx512_backend<kKyber768>();
template SchemeBackend avx512_backend<kKyber1024>();

}  // namespace polykem::mlkem
