// SPDX-License-Identifier: Apache-2.0
// Compares every form of the transform with the reference. Also compiled for a CPU, with ckks/tests/host_shim.
#pragma once

#include <initializer_list>
#include <string>

#include "ckks/src/cuda/kernels.hpp"
#include "device_data.hpp"

namespace polykem::ckks::test {

/// Counts comparisons and errors, and prints the first error of each check.
class Verdict {
 public:
  void compare(const std::string& what, uint64_t got, uint64_t want, size_t index) {
    ++compared_;
    if (got == want || what == last_fault_) {
      faults_ += got != want;
      return;
    }
    ++faults_;
    last_fault_ = what;
    std::fprintf(stderr, "%s: word %zu is %llu, not %llu\n", what.c_str(), index, static_cast<unsigned long long>(got),
                 static_cast<unsigned long long>(want));
  }
  size_t faults() const { return faults_; }
  size_t compared() const { return compared_; }

 private:
  size_t faults_ = 0, compared_ = 0;
  std::string last_fault_;
};

template <class Word>
std::vector<Word> narrow(const Residues& values) {
  return std::vector<Word>(values.begin(), values.end());
}

template <class Word>
std::string describe(const char* what, int log_n) {
  return std::string(what) + ", " + std::to_string(8 * sizeof(Word)) + " bits, 2^" + std::to_string(log_n);
}

/// Transforms a row of each fill and back, with one more row that the map skips.
template <class Word>
void check_ntt(cuda::Form form, const DeviceTables<Word>& device, std::initializer_list<Fill> fills, Verdict& verdict) {
  const int log_n = device.tables.log_n;
  const size_t n = size_t{1} << log_n, primes = device.roots.size(), rows = fills.size() + 1;
  std::mt19937_64 random(log_n);
  cuda::RowMap map;
  map.count = static_cast<uint32_t>(rows);
  Residues input, want;
  for (size_t row = 0; row < rows; ++row) {
    const PrimeRoot& prime = device.roots[row % primes];
    map.prime[row] = row + 1 == rows ? cuda::RowMap::kSkip : static_cast<uint8_t>(row % primes);
    Residues values = make_residues(n, prime.q, fills.begin()[row % fills.size()], random);
    input.insert(input.end(), values.begin(), values.end());
    if (row + 1 < rows) reference_ntt(values, prime);
    want.insert(want.end(), values.begin(), values.end());
  }
  DeviceArray<Word> data(narrow<Word>(input));
  const std::string name = describe<Word>(cuda::name_of(form), log_n);
  check(cuda::ntt(form, cuda::Direction::kForward, data.get(), rows, map, device.tables, nullptr), name.c_str());
  const std::vector<Word> transformed = data.download();
  for (size_t i = 0; i < want.size(); ++i)
    verdict.compare("ntt, " + name, transformed[i], want[i], i);
  data.upload(narrow<Word>(want));
  check(cuda::ntt(form, cuda::Direction::kInverse, data.get(), rows, map, device.tables, nullptr), name.c_str());
  const std::vector<Word> back = data.download();
  for (size_t i = 0; i < input.size(); ++i)
    verdict.compare("intt, " + name, back[i], input[i], i);
}

}  // namespace polykem::ckks::test
