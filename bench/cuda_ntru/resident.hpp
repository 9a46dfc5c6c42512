// SPDX-License-Identifier: Apache-2.0
// Kernels with all data on the card: each operation as a whole, then step by step.
#pragma once

#include <sys/random.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common.hpp"
#include "cuda_module/module.hpp"
#include "floors.hpp"

namespace polykem::bench {

struct StepResult {
  std::string name;
  double ns_per_item, floor;
};

struct OpResult {
  Op op;
  double items_per_second;
  std::vector<StepResult> steps;
};

class Resident {
 public:
  Resident(const cuda::ModuleTable& table, const char* scheme, const NtruParams& p, size_t items)
      : table_(table),
        scheme_(scheme),
        params_(p),
        items_(items),
        pk_(items * p.public_key_bytes() + 4),
        sk_(items * p.secret_key_bytes() + 4),
        ct_(items * p.ciphertext_bytes() + 4),
        ss_(items * 32),
        ss2_(items * 32),
        seed_(32),
        workspace_(largest_workspace()) {
    if (getrandom(host_seed_, sizeof host_seed_, 0) != sizeof host_seed_) die("no entropy");
    check(cudaMemcpy(seed_.data, host_seed_, sizeof host_seed_, cudaMemcpyHostToDevice), "seed");
    check(cudaStreamCreate(&stream_), "stream");
    batch_.count = items;
    batch_.seed = reinterpret_cast<const uint32_t*>(seed_.data);
    batch_.pk = batch_.pk_out = pk_.data;
    batch_.sk = batch_.sk_out = sk_.data;
    batch_.ct = batch_.ct_out = ct_.data;
    batch_.ss_out = ss_.data;
  }

  std::vector<OpResult> run() {
    std::vector<OpResult> results;
    for (const Op op : {Op::keygen, Op::encaps, Op::decaps}) {
      if (op == Op::decaps) batch_.ss_out = ss2_.data;
      results.push_back(run(op));
    }
    std::vector<uint8_t> a(items_ * 32), b(items_ * 32);
    check(cudaMemcpy(a.data(), ss_.data, a.size(), cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(b.data(), ss2_.data, b.size(), cudaMemcpyDeviceToHost), "copy");
    if (a != b) die(scheme_ + ": the two sides have different secrets");
    return results;
  }

 private:
  const DeviceOperation& operation(Op op) const {
    const DeviceScheme* found = table_.scheme(scheme_.c_str());
    if (found == nullptr) die("the module lacks " + scheme_);
    return found->operation(op);
  }

  size_t largest_workspace() const {
    size_t most = 0;
    for (const Op op : {Op::keygen, Op::encaps, Op::decaps})
      most = std::max(most, table_.queue_bytes(operation(op), items_));
    return most;
  }

  void queue(const DeviceOperation& o) {
    cuda::ErrorText why{};
    if (table_.queue(o, batch_, host_seed_, reinterpret_cast<std::byte*>(workspace_.data), stream_, &why) !=
        cuda::Outcome::ok) {
      die(scheme_ + ": " + why.text);
    }
  }

  OpResult run(Op op) {
    const DeviceOperation& o = operation(op);
    for (int warm = 0; warm < 3; ++warm)
      queue(o);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> samples;
    for (int i = 0; i < kSamples; ++i) {
      check(cudaEventRecord(begin, stream_), "event");
      queue(o);
      check(cudaEventRecord(end, stream_), "event");
      check(cudaEventSynchronize(end), o.scheme);
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "event");
      samples.push_back(ms);
    }
    return {op, static_cast<double>(items_) / (median(samples) * 1e-3), run_steps(op, o)};
  }

  std::vector<StepResult> run_steps(Op op, const DeviceOperation& o) {
    const size_t steps = o.steps.size() + 1;
    std::vector<cudaEvent_t> events(steps + 1);
    for (auto& event : events)
      check(cudaEventCreate(&event), "event");
    std::vector<std::vector<float>> samples(steps);
    auto* workspace = reinterpret_cast<std::byte*>(workspace_.data);
    for (int i = 0; i < kSamples; ++i) {
      check(cudaEventRecord(events[0], stream_), "event");
      for (size_t s = 0; s + 1 < steps; ++s) {
        check(static_cast<cudaError_t>(o.run_step(s, 0, batch_, workspace, stream_)), o.steps[s].info.name);
        check(cudaEventRecord(events[s + 1], stream_), "event");
      }
      check(cudaMemsetAsync(workspace, 0, o.workspace_bytes(items_), stream_), "wipe");
      check(cudaEventRecord(events[steps], stream_), "event");
      check(cudaEventSynchronize(events[steps]), o.scheme);
      for (size_t s = 0; s < steps; ++s) {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, events[s], events[s + 1]), "event");
        samples[s].push_back(ms);
      }
    }
    std::vector<StepResult> results;
    for (size_t s = 0; s < steps; ++s) {
      const bool wipe = s + 1 == steps;
      const std::string name = wipe ? "wipe" : o.steps[s].info.name;
      const double floor =
          wipe ? static_cast<double>(o.workspace_bytes(items_)) / static_cast<double>(items_) / kBytesPerSecond * 1e9
               : floor_ns(params_, op, name);
      results.push_back({name, median(samples[s]) * 1e6 / static_cast<double>(items_), floor});
    }
    return results;
  }

  const cuda::ModuleTable& table_;
  const std::string scheme_;
  const NtruParams params_;
  const size_t items_;
  DeviceBytes pk_, sk_, ct_, ss_, ss2_, seed_, workspace_;
  cudaStream_t stream_ = nullptr;
  uint8_t host_seed_[cuda::kSeedBytes];
  DeviceBatch batch_;
};

}  // namespace polykem::bench
