// SPDX-License-Identifier: Apache-2.0
// Compares every kernel and form with the CPU's reference, on all CPUs. polykem_gpu_ckks and polykem-lab run it.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "operation_checks.hpp"

namespace polykem::ckks::test {

struct Counts {
  size_t compared = 0, wrong = 0;
};

/// The checks of one type of words, each a task.
template <class Word>
std::vector<std::function<void(Verdict&)>> checks_of(int bits, bool all_fills) {
  std::vector<std::function<void(Verdict&)>> checks;
  for (int log_n = 16; log_n >= 12; --log_n) {
    checks.push_back([=](Verdict& verdict) {
      DeviceTables<Word> device(log_n, make_primes(3, bits, log_n));
      device.add_imma();
      for (cuda::Form form : cuda::kForms) {
        if (!cuda::supports(form, log_n, sizeof(Word))) continue;
        check_ntt(form, device, {Fill::kRandom, Fill::kZero, Fill::kMax, Fill::kSingle}, verdict);
      }
    });
    checks.push_back([=](Verdict& verdict) {
      check_operations<Word>(log_n, bits, {4, 2, 2, 2}, {Fill::kRandom}, verdict);
      if (all_fills) check_operations<Word>(log_n, bits, {4, 2, 2, 2}, {Fill::kMax, Fill::kZero}, verdict);
    });
  }
  const auto add = [&](int log_n, int bits_of, Shape shape, Fill fill) {
    checks.push_back([=](Verdict& verdict) { check_operations<Word>(log_n, bits_of, shape, {fill}, verdict); });
  };
  add(12, bits, {48, 12, 12, 1}, Fill::kRandom);  // the size that is measured
  add(12, bits, {24, 6, 6, 1}, Fill::kRandom);
  add(12, bits, {5, 1, 1, 9}, Fill::kRandom);  // more digits and ciphertexts than one launch takes
  add(12, bits, {11, 9, 10, 2}, Fill::kMax);   // more sources than a step of a tensor core
  add(12, bits, {11, 9, 10, 2}, Fill::kRandom);
  add(13, bits - 4, {20, 17, 17, 1}, Fill::kRandom);
  add(13, bits - 4, {20, 17, 17, 1}, Fill::kSingle);
  return checks;
}

/// all_fills: also runs operations on zeros and on the largest residues at every N. Errors are printed on standard
/// error.
inline Counts check_all(bool all_fills) {
  auto checks = checks_of<uint64_t>(61, all_fills);
  for (auto& check_of : checks_of<uint32_t>(31, all_fills))
    checks.push_back(std::move(check_of));
  std::atomic<size_t> next{0};
  std::mutex mutex;
  Counts counts;
  const auto work = [&] {
    for (size_t i = next++; i < checks.size(); i = next++) {
      Verdict verdict;
      checks[i](verdict);
      const std::lock_guard lock(mutex);
      counts.compared += verdict.compared();
      counts.wrong += verdict.faults();
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers)
    worker.wait();
  for (std::future<void>& worker : workers)
    worker.get();
  return counts;
}

}  // namespace polykem::ckks::test
