// SPDX-License-Identifier: Apache-2.0
// Checks and times variants of the transform: ntt_lab [primes of 2^16 ..]
#include "ntt_lab.cuh"

#ifdef __CUDACC__
#include "gpu_timing.cuh"
#else
#include "ntt_checks.hpp"
#endif

using namespace polykem::ckks;
using namespace polykem::ckks::testing;
using lab::W;

namespace {

struct DeviceLab {
  DeviceLab(const DeviceTables<W>& device, const lab::HostLab& host)
      : twist{DeviceArray<W>(host.twist[0]), DeviceArray<W>(host.twist[1])},
        cyclic{DeviceArray<cuda::Factor<W>>(host.cyclic[0]), DeviceArray<cuda::Factor<W>>(host.cyclic[1])},
        tables{device.tables, {twist[0].get(), twist[1].get()}, {cyclic[0].get(), cyclic[1].get()}} {}
  DeviceArray<W> twist[2];
  DeviceArray<cuda::Factor<W>> cyclic[2];
  lab::LabTables tables;
};

size_t faults(const lab::Variant& variant, const DeviceTables<W>& device, const DeviceLab& lab, unsigned per) {
  const size_t n = size_t{1} << variant.log_n, count = 2, rows = 4;
  std::mt19937_64 random(1);
  Residues input, want;
  for (size_t row = 0; row < rows; ++row) {
    Residues values = make_residues(n, device.roots[row % count].q, row < 2 ? Fill::random : Fill::most, random);
    input.insert(input.end(), values.begin(), values.end());
    reference_ntt(values, device.roots[row % count]);
    want.insert(want.end(), values.begin(), values.end());
  }
  DeviceArray<W> data(narrow<W>(input));
  const lab::LabRows job{data.get(), count, per};
  check(variant.run[0](job, rows, lab.tables), variant.name);
  const auto there = data.download();
  data.upload(narrow<W>(want));
  check(variant.run[1](job, rows, lab.tables), variant.name);
  const auto back = data.download();
  size_t wrong = 0;
  for (size_t i = 0; i < want.size(); ++i)
    wrong += (there[i] != want[i]) + (back[i] != input[i]);
  return wrong;
}

}  // namespace

int main() {
  for (int log_n = 12; log_n <= 16; ++log_n) {
#ifdef __CUDACC__
    for (unsigned count : {16u, 48u}) {
      if (count == 48 && log_n < 16) continue;
#else
    for (unsigned count : {2u}) {
#endif
      const DeviceTables<W> device(log_n, make_primes(static_cast<int>(count), 31, log_n));
      const DeviceLab lab(device, lab::make_lab(log_n, device.roots));
      const size_t n = size_t{1} << log_n;
      for (const lab::Variant& variant : lab::kVariants) {
        if (variant.log_n != log_n) continue;
        if (variant.right)
          std::printf("2^%d %-52s wrong words: %zu %zu\n", log_n, variant.name, faults(variant, device, lab, 0),
                      faults(variant, device, lab, 2));
      }
#ifdef __CUDACC__
      const size_t rows = (size_t{1} << 26) / n / count * count;
      DeviceArray<W> data(some_words<W>(rows * n));
      for (const lab::Variant& variant : lab::kVariants) {
        if (variant.log_n != log_n) continue;
        for (unsigned per : {0u, static_cast<unsigned>(rows / count)}) {
          double rate[2];
          for (int inverse = 0; inverse < 2; ++inverse)
            rate[inverse] = rows / 1e6 / median_seconds(4, [&](int) {
                              check(variant.run[inverse]({data.get(), count, per}, rows, lab.tables), variant.name);
                            });
          std::printf("2^%d %2u primes%s %-52s %8.3f %8.3f M/s\n", log_n, count, per ? " together" : "         ",
                      variant.name, rate[0], rate[1]);
          std::fflush(stdout);
        }
      }
#else
      (void)n;
#endif
    }
  }
}
