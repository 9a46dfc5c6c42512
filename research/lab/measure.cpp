// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <atomic>

#include "core/cpu_features.hpp"
#include "cpu/cpu_job.hpp"
#include "parallel.hpp"
#include "schoolbook.hpp"

namespace polykem::lab {

namespace {

bool cpu_runs(const Method& method) {
  const std::string on = method.on;
  if (on == "avx2") return cpu_features().avx2();
  if (on == "avx512") return cpu_features().avx512();
  if (on == "amx") return cpu_features().amx() && may_use_tiles();
  return on == "portable";
}

/// Returns core cycles per second, from a chain of decrements; 0 on CPUs without such a chain.
double core_clock() {
#ifdef __x86_64__
  constexpr uint64_t kChain = 2000000;
  double best = 1;
  for (int run = 0; run < 5; ++run) {
    uint64_t left = kChain;
    const double start = now();
    asm volatile("1: dec %0\n jnz 1b" : "+r"(left));
    best = std::min(best, now() - start);
  }
  return kChain / best;
#else
  return 0;
#endif
}

/// Two vector multiplications per cycle, as on the cores that were measured, and a product of 16 x 16 x 64 bytes on
/// matrix tiles in sixteen cycles.
Rates core_rates() {
  Rates rates;
  const double clock = core_clock();
  rates.of[static_cast<size_t>(Unit::kVector)] = 2 * clock;
  rates.of[static_cast<size_t>(Unit::kTile)] = 1024 * clock;
  rates.of[static_cast<size_t>(Unit::kScalar)] = clock;
  return rates;
}

double floor_of(const Work& work, const Rates& rates) {
  const double rate = rates.of[static_cast<size_t>(work.unit)];
  const double compute = rate > 0 ? work.operations / rate : 0;
  return compute > 0 && rates.bytes > 0 ? std::max(compute, work.bytes / rates.bytes) : compute;
}

/// Throws WrongProduct at the first wrong coefficient.
void compare(const Method& method, const Operands& operands, const uint16_t* want, const uint16_t* got) {
  const size_t words = operands.problem.c_words();
  std::atomic<size_t> wrong{operands.items};
  in_parallel(operands.items, [&](size_t item) {
    if (std::memcmp(want + item * words, got + item * words, words * sizeof *got) == 0) return;
    for (size_t first = wrong; item < first && !wrong.compare_exchange_weak(first, item);) {
    }
  });
  if (wrong == operands.items) return;
  const size_t begin = wrong * words;
  const auto at = static_cast<size_t>(std::mismatch(want + begin, want + begin + words, got + begin).first - want);
  throw WrongProduct(std::string(method.name) + " (" + method.on + "), " + operands.problem.name + ", shared " +
                     sharing_name(operands.sharing) + ": of " + std::to_string(operands.items) + " products number " +
                     std::to_string(wrong) + " is wrong, coefficient " + std::to_string(at - begin) + " is " +
                     std::to_string(got[at]) + ", not " + std::to_string(want[at]));
}

}  // namespace

const char* sharing_name(Sharing sharing) {
  return sharing == Sharing::kNone ? "none" : sharing == Sharing::kA ? "a" : "b";
}

Laboratory::Laboratory() : device_(open_gpu(no_gpu_)) {
  for (const Method& method : registered_methods()) {
    if (cpu_runs(method)) methods_.push_back(&method);
  }
  if (device_ == nullptr) return;
  gpu_ = device_->name();
  for (const Method& method : device_->methods())
    methods_.push_back(&method);
}

Rates Laboratory::gpu_rates() {
  if (gpu_rates_.bytes == 0 && device_ != nullptr) gpu_rates_ = device_->rates();
  return gpu_rates_;
}

const Rates& Laboratory::rates_of(const Method& method) {
  if (!is_cuda(method)) return cpu_rates_ = core_rates();
  gpu_rates();
  return gpu_rates_;
}

Row Laboratory::measure_job(const Step& step, const Method& method, Job& job, double budget) {
  Row row{step.problem, &method, step.sharing, step.items};
  row.resources = job.resources();
  if (budget == 0) return row;
  row.seconds = job.seconds(budget) / static_cast<double>(step.items);
  const Rates& rates = rates_of(method);
  row.floor = floor_of(method.work(*step.problem, step.sharing), rates);
  if (!is_cuda(method)) row.cycles = row.seconds * rates.of[static_cast<size_t>(Unit::kScalar)];
  return row;
}

void Laboratory::measure(const Step& step, double budget, const std::function<void(const Row&)>& done) {
  const Operands operands = generator_.make(*step.problem, step.sharing, step.items, step.extreme);
  const size_t words = step.items * step.problem->c_words();
  uint16_t *const want = want_.room_for(words), *const got = got_.room_for(words);
  schoolbook(operands, want);
  for (const Trial& trial : step.trials) {
    const std::unique_ptr<Job> job = trial.method->start(operands);
    std::fill_n(got, words, uint16_t{0xa5a5});
    job->run();
    job->read(got);
    compare(*trial.method, operands, want, got);
    compared_ += operands.items;
    if (trial.figure) done(measure_job(step, *trial.method, *job, budget));
  }
}

}  // namespace polykem::lab
