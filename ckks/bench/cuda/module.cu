// SPDX-License-Identifier: Apache-2.0
// The GPU's part of `polykem-lab ckks`, and the module's entry.
#include "ckks/tests/all_checks.hpp"
#include "rates.cuh"
#include "timing.cuh"

namespace polykem::ckks::lab {

namespace {

/// The first form's transform, with one word changed.
void check_planted(int log_n, test::Verdict& verdict) {
  const DeviceTables<uint32_t> device(log_n, test::make_primes(1, 31, log_n));
  std::mt19937_64 random(1);
  test::Residues want = test::make_residues(size_t{1} << log_n, device.roots[0].q, test::Fill::kRandom, random);
  DeviceArray<uint32_t> data(test::narrow<uint32_t>(want));
  test::reference_ntt(want, device.roots[0]);
  check(cuda::ntt(cuda::production_form(log_n, 4), cuda::Direction::kForward, data.get(), 1, test::first_primes(1),
                  device.tables, nullptr),
        "ntt");
  std::vector<uint32_t> got = data.download();
  got.back() ^= 1;
  for (size_t i = 0; i < want.size(); ++i)
    verdict.compare("ntt, planted_error on cuda", got[i], want[i], i);
}

template <class Word>
void time_operations(const std::vector<cuda::PrimeRoot>& primes, Shape shape, int log_n, const Report& report) {
  const DeviceTables<Word> tables(log_n, primes);
  for (uint32_t batch : {1, 4, 16, 32, 64}) {
    shape.ciphertexts = batch;
    size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    if (OperationTimes<Word>::bytes(shape, log_n) > available / 10 * 9) {
      std::fprintf(stderr, "\na batch of %u does not fit the GPU's memory; left out\n", batch);
      return;
    }
    OperationTimes<Word>(tables, shape, report).run();
  }
}

class Gpu : public Device {
 public:
  std::string name() const override {
    cudaDeviceProp properties;
    lab::check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    return properties.name;
  }
  Checked check(const Request& request) override {
    const test::Counts counts = test::check_all(false);
    test::Verdict verdict;
    if (request.planted_error) check_planted(request.log_ns.front(), verdict);
    return {counts.compared + verdict.compared(), counts.wrong + verdict.faults()};
  }
  Rates rates() override { return measure_rates(); }
  void time(const Request& request, const std::function<void(const Row&)>& add) override {
    const Stream stream;
    const Report report{request, add, stream.get()};
    for (int log_n : request.log_ns)
      time_ntt<uint32_t>(log_n, 16, report);
    const int largest = request.log_ns.back();
    if (largest == 16) time_ntt<uint32_t>(largest, 48, report);
    for (int log_n : request.log_ns)
      time_ntt<uint64_t>(log_n, 16, report);
    const bool only_transforms = std::none_of(kOperations.begin() + 2, kOperations.end(),
                                              [&](const std::string& name) { return request.wants(name); });
    if (only_transforms) return;
    time_operations<uint32_t>(test::make_primes(60, 31, largest), {48, 12, 12, 1, 0}, largest, report);
    time_operations<uint64_t>(test::make_primes(30, 60, largest), {24, 6, 6, 1, 0}, largest, report);
  }
};

}  // namespace

}  // namespace polykem::ckks::lab

extern "C" __attribute__((visibility("default"))) polykem::ckks::lab::Device* polykem_lab_ckks_open_device(
    std::string* problem) {
  static polykem::ckks::lab::Gpu gpu;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return &gpu;
  *problem = error == cudaSuccess ? "there is no GPU" : cudaGetErrorString(error);
  return nullptr;
}
