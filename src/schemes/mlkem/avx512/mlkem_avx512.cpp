// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/single/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"
#include "schemes/mlkem/x8/backend.hpp"

namespace polykem::mlkem {

namespace {

struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static const SingleNttFunctions& ntt_single() { return kSingleNttAvx2; }
  static const KeccakFunctions& keccak() { return kKeccakAvx512; }
};
static_assert(InstructionSet<Avx512>);

}  // namespace

/// Many items are computed x8: arithmetic item by item, for which nothing is transposed to lanes, takes less time than
/// arithmetic across lanes; see docs/adr/0016-mlkem-on-the-cpu.md.
template <MlkemParams P, tuning::Cpu kCpu>
const SchemeBackend& avx512_backend() {
  static constexpr SchemeBackend kBackend = single::backend<P, Avx512, kCpu, x8::X8Operations<P, Avx512>>();
  return kBackend;
}

template const SchemeBackend& avx512_backend<kMlkem512, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kMlkem512, tuning::Cpu::kAvx512Zen5>();
template const SchemeBackend& avx512_backend<kMlkem768, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kMlkem768, tuning::Cpu::kAvx512Zen5>();
template const SchemeBackend& avx512_backend<kMlkem1024, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kMlkem1024, tuning::Cpu::kAvx512Zen5>();
template const SchemeBackend& avx512_backend<kKyber512, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kKyber512, tuning::Cpu::kAvx512Zen5>();
template const SchemeBackend& avx512_backend<kKyber768, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kKyber768, tuning::Cpu::kAvx512Zen5>();
template const SchemeBackend& avx512_backend<kKyber1024, tuning::Cpu::kAvx512>();
template const SchemeBackend& avx512_backend<kKyber1024, tuning::Cpu::kAvx512Zen5>();

}  // namespace polykem::mlkem
