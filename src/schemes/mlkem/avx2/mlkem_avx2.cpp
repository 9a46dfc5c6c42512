// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/mlkem/instruction_set.hpp"
#include "schemes/mlkem/interleaved/backend.hpp"
#include "schemes/mlkem/vector_backends.hpp"

namespace polykem::mlkem {

namespace {

struct Avx2 {
  static constexpr const char* kName = cpu::kAvx2;
  static const NttFunctions& ntt() { return kNttAvx2; }
  static const SingleNttFunctions& ntt_single() { return kSingleNttAvx2; }
  static const KeccakFunctions& keccak() { return kKeccakAvx2; }
};
static_assert(InterleavedInstructionSet<Avx2>);

}  // namespace

template <MlkemParams P, tuning::Cpu kCpu>
const SchemeBackend& avx2_backend() {
  static constexpr SchemeBackend kBackend = interleaved::backend<P, Avx2, kCpu>();
  return kBackend;
}

template const SchemeBackend& avx2_backend<kMlkem512, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kMlkem512, tuning::Cpu::kAvx2Intel>();
template const SchemeBackend& avx2_backend<kMlkem768, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kMlkem768, tuning::Cpu::kAvx2Intel>();
template const SchemeBackend& avx2_backend<kMlkem1024, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kMlkem1024, tuning::Cpu::kAvx2Intel>();
template const SchemeBackend& avx2_backend<kKyber512, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kKyber512, tuning::Cpu::kAvx2Intel>();
template const SchemeBackend& avx2_backend<kKyber768, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kKyber768, tuning::Cpu::kAvx2Intel>();
template const SchemeBackend& avx2_backend<kKyber1024, tuning::Cpu::kAvx2>();
template const SchemeBackend& avx2_backend<kKyber1024, tuning::Cpu::kAvx2Intel>();

}  // namespace polykem::mlkem
