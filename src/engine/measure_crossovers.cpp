// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>

#include "core/secure.hpp"
#include "engine/engine.hpp"
#include "schemes/registry.hpp"

namespace polykem {

namespace {

constexpr size_t kMaxItems = 8192;  ///< a device that is slower with this many items is not used
constexpr int kRepeats = 5;
constexpr int kWinsInARow = 3;  ///< consecutive doublings of the size at which the device must win
constexpr int kRefinements = 3;

/// One key pair and one exchange, or one signature of the empty message, repeated for kMaxItems items.
class CrossoverBatch {
 public:
  explicit CrossoverBatch(const Scheme& scheme) : scheme_(scheme) {}

  Status make(Engine& engine) {
    const RecordBytes bytes = scheme_.record_bytes(Op::kKeygen);
    const size_t sizes[] = {bytes.pk, bytes.sk, bytes.ct + bytes.sig, bytes.ss};
    SecureBuffer* all[] = {&pk_, &sk_, &sent_, &ss_};
    for (size_t i = 0; i < 4; ++i) {
      if (!all[i]->reserve(kMaxItems * sizes[i])) return Status::kOutOfMemory;
    }
    for (const Op op : {Op::kKeygen, scheme_.is_signature() ? Op::kSign : Op::kEncaps}) {
      const Status status = engine.run(request(op, 1));
      if (status != Status::kOk) return status;
    }
    for (size_t i = 0; i < 3; ++i) {
      for (size_t item = 1; item < kMaxItems; ++item)
        std::memcpy(all[i]->data() + item * sizes[i], all[i]->data(), sizes[i]);
    }
    return Status::kOk;
  }

  Request request(Op op, size_t count) const {
    const auto bytes = [](const SecureBuffer& buffer) { return reinterpret_cast<uint8_t*>(buffer.data()); };
    BatchView r{.count = count};
    if (op == Op::kKeygen) r.pk_out = bytes(pk_), r.sk_out = bytes(sk_);
    if (op == Op::kEncaps) r.pk = bytes(pk_), r.ct_out = bytes(sent_), r.ss_out = bytes(ss_);
    if (op == Op::kDecaps) r.sk = bytes(sk_), r.ct = bytes(sent_), r.ss_out = bytes(ss_);
    if (op == Op::kSign) r.sk = bytes(sk_), r.sig_out = bytes(sent_);
    if (op == Op::kVerify) r.pk = bytes(pk_), r.sig = bytes(sent_);
    return {.op = op, .scheme = &scheme_, .records = r};
  }

 private:
  const Scheme& scheme_;
  SecureBuffer pk_, sk_, sent_, ss_;  ///< sent_: ciphertexts or signatures
};

/// The shortest time of a batch, after one to warm up; infinite if it fails.
double seconds(Engine& engine, const Request& request) {
  using Clock = std::chrono::steady_clock;
  double shortest = 1e9;
  for (int i = 0; i <= kRepeats; ++i) {
    const auto begin = Clock::now();
    if (engine.run(request) != Status::kOk) return std::numeric_limits<double>::infinity();
    const double taken = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i > 0) shortest = std::min(shortest, taken);
  }
  return shortest;
}

/// Doubles the batch until the device has won three times in a row, then halves the step before the first win.
size_t crossover(Engine& device, Engine& cpu, const CrossoverBatch& records, Op op) {
  const auto device_wins = [&](size_t count) {
    const Request request = records.request(op, count);
    return seconds(device, request) < seconds(cpu, request);
  };
  size_t first = Crossovers::kNever;
  int wins = 0;
  for (size_t count = 1; count <= kMaxItems && wins < kWinsInARow; count *= 2) {
    if (!device_wins(count)) {
      first = Crossovers::kNever;
      wins = 0;
      continue;
    }
    if (wins++ == 0) first = count;
  }
  if (first == Crossovers::kNever || first == 1) return first;
  size_t loses = first / 2;
  for (int i = 0; i < kRefinements && first - loses > 1; ++i) {
    const size_t middle = (first + loses) / 2;
    (device_wins(middle) ? first : loses) = middle;
  }
  return first;
}

}  // namespace

Status measure_crossovers(Accelerator& accelerator, const Scheme& scheme) {
  const SchemeBackend* on_cpu = best_cpu_backend(scheme);
  if (on_cpu == nullptr || accelerator.backend_for(scheme) == nullptr) return Status::kBackendUnavailable;
  Accelerator* const only[] = {&accelerator};
  std::unique_ptr<Engine> device, cpu;
  Status status = Engine::create({.backend = accelerator.name(), .accelerators = only}, device);
  if (status == Status::kOk) status = Engine::create({.backend = on_cpu->name, .accelerators = only}, cpu);
  if (status != Status::kOk) return status;
  CrossoverBatch records(scheme);
  status = records.make(*cpu);
  if (status != Status::kOk) return status;
  CrossoverOps ops{};
  for (size_t i = 0; i < kOpCount; ++i) {
    const auto op = static_cast<Op>(i);
    if (scheme.has(op)) ops[index_of_op(op)] = crossover(*device, *cpu, records, op);
  }
  accelerator.crossovers().set(scheme, ops);
  return Status::kOk;
}

}  // namespace polykem
