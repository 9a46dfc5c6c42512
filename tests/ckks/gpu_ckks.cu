// SPDX-License-Identifier: Apache-2.0
// CKKS's kernels on a GPU: every kernel and form against the CPU's reference, then their times.
//   polykem_gpu_ckks [check|time|all] [FILE.json]
// Exits with 1 if a word is wrong or a call fails, with 77 where there is no GPU.
#include "gpu_timing.cuh"

namespace {

using namespace polykem::ckks;
using namespace polykem::ckks::testing;

template <class Word>
void check_word(int bits, Verdict& verdict) {
  for (int log_n = 12; log_n <= 16; ++log_n) {
    DeviceTables<Word> device(log_n, make_primes(3, bits, log_n));
    device.add_imma();
    for (cuda::Form form : cuda::kForms) {
      if (!cuda::supports(form, log_n, sizeof(Word))) continue;
      check_ntt(form, device, {Fill::random, Fill::zero, Fill::most, Fill::single}, verdict);
    }
    check_operations<Word>(log_n, bits, {4, 2, 2, 2}, {Fill::random, Fill::most, Fill::zero}, verdict);
    std::printf("2^%d, %d bits: %zu words compared, %zu wrong\n", log_n, bits, verdict.compared(), verdict.faults());
    std::fflush(stdout);
  }
  check_operations<Word>(12, bits, {5, 1, 1, 9}, {Fill::random},
                         verdict);  // more digits and ciphertexts than one launch takes
  check_operations<Word>(12, bits, {11, 9, 10, 2}, {Fill::most, Fill::random},
                         verdict);  // more sources than a step of a tensor core
  check_operations<Word>(13, bits - 4, {20, 17, 17, 1}, {Fill::random, Fill::single}, verdict);
}

void time_operations(Report& report) {
  const int log_n = 16;
  const Shape full{48, 12, 12, 1, 0};
  const DeviceTables<uint32_t> narrow_tables(log_n, make_primes(60, 31, log_n));
  for (uint32_t batch : {1, 4, 16}) {
    Shape shape = full;
    shape.ciphertexts = batch;
    OperationTimes<uint32_t>(narrow_tables, shape, report).run();
  }
  const DeviceTables<uint64_t> wide_tables(log_n, make_primes(30, 60, log_n));
  OperationTimes<uint64_t>(wide_tables, {24, 6, 6, 4, 0}, report).run();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "all";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  Verdict verdict;
  if (what != "time") {
    check_word<uint32_t>(31, verdict);
    check_word<uint64_t>(61, verdict);
    std::printf("%zu words compared, %zu wrong\n", verdict.compared(), verdict.faults());
    if (verdict.faults() != 0) return 1;
  }
  if (what != "check") {
    Report report(measure_rates());
    for (int log_n = 12; log_n <= 16; ++log_n)
      time_ntt<uint32_t>(log_n, 16, report);
    time_ntt<uint32_t>(16, 48, report);
    for (int log_n = 12; log_n <= 16; ++log_n)
      time_ntt<uint64_t>(log_n, 16, report);
    time_operations(report);
    if (count > 2) report.write(arguments[2]);
  }
  return 0;
}
