// SPDX-License-Identifier: Apache-2.0
// Measures kernels with all data on the GPU: each operation as a whole, then step by step.
#pragma once

#include <sys/random.h>

#include <algorithm>
#include <string>
#include <vector>

#include "accelerators/cuda/module/module.hpp"
#include "common.hpp"
#include "floors.hpp"
#include "timing.hpp"

namespace polykem::bench {

struct StepResult {
  std::string name;
  double ns_per_item, floor;
};

struct OpResult {
  Op op;
  double items_per_second;
  std::vector<StepResult> steps;  ///< empty with one shared key
};

struct ResidentResult {
  std::vector<OpResult> ops;         ///< with a key per item
  std::vector<OpResult> shared_ops;  ///< with one key, all but keygen; empty if not requested
};

/// One launch of an operation.
struct Launch {
  size_t step, tile;
};

/// Returns the launches of a batch. Neighbouring tiled steps are repeated as a group.
inline std::vector<Launch> launches(const DeviceOperation& o, const DeviceBatch& batch) {
  std::vector<Launch> all;
  for (size_t i = 0; i < o.steps.size();) {
    const bool tiled = o.steps[i].info.tiled;
    size_t end = i + 1;
    while (tiled && end < o.steps.size() && o.steps[end].info.tiled)
      ++end;
    const size_t tiles = tiled ? o.tiles(batch) : 1;
    for (size_t tile = 0; tile < tiles; ++tile) {
      for (size_t step = i; step < end; ++step)
        all.push_back({step, tile});
    }
    i = end;
  }
  return all;
}

class Resident {
 public:
  Resident(const cuda::ModuleTable& table, const Set& set, size_t items)
      : table_(table),
        set_(set),
        items_(items),
        pk_(items * set.info.public_key_bytes + 4),
        sk_(items * set.info.secret_key_bytes + 4),
        ct_(items * set.ciphertext_bytes() + 4),
        ss_(items * set.info.shared_secret_bytes + 4),
        ss2_(items * set.info.shared_secret_bytes + 4),
        messages_(items * kMessageBytes),
        status_(items * sizeof(Status)),
        seed_(cuda::kSeedBytes),
        workspace_(largest_workspace()) {
    if (getrandom(host_seed_, sizeof host_seed_, 0) != sizeof host_seed_) die("no entropy");
    check(cudaMemcpy(seed_.data, host_seed_, sizeof host_seed_, cudaMemcpyHostToDevice), "seed");
    check(cudaStreamCreate(&stream_), "stream");
    batch_.count = items;
    batch_.seed = reinterpret_cast<const uint32_t*>(seed_.data);
    batch_.pk = batch_.pk_out = pk_.data;
    batch_.sk = batch_.sk_out = sk_.data;
    (set.signs() ? batch_.sig : batch_.ct) = ct_.data;
    (set.signs() ? batch_.sig_out : batch_.ct_out) = ct_.data;
    if (!set.signs()) return;
    std::vector<uint8_t> messages(items * kMessageBytes);
    for (size_t i = 0; i < messages.size(); ++i)
      messages[i] = static_cast<uint8_t>(i ^ i >> 8 ^ i >> 16);
    check(cudaMemcpy(messages_.data, messages.data(), messages.size(), cudaMemcpyHostToDevice), "messages");
    batch_.message.strings = {messages_.data, nullptr, kMessageBytes, false};
    batch_.item_status = reinterpret_cast<Status*>(status_.data);
  }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  ~Resident() { cudaStreamDestroy(stream_); }

  /// with_shared: also measures one key for all items.
  ResidentResult run(bool with_shared) {
    ResidentResult result;
    for (const Op op : set_.ops()) {
      result.ops.push_back({op, rate(op), {}});
      result.ops.back().steps = run_steps(operation(op));
    }
    check_outputs();
    if (!with_shared) return result;
    batch_.shared_key = true;
    for (const Op op : set_.ops()) {
      if (op == Op::kKeygen) continue;
      result.shared_ops.push_back({op, rate(op), {}});
      result.shared_ops.back().steps = run_steps(operation(op));
    }
    set_.signs() ? check_verdicts() : check_secrets();
    batch_.shared_key = false;
    return result;
  }

 private:
  const DeviceOperation& operation(Op op) const {
    const DeviceScheme* found = table_.scheme(set_.info.name);
    if (found == nullptr) die("the module lacks " + set_.name());
    return found->operation(op);
  }

  size_t largest_workspace() const {
    size_t bytes = 0;
    for (const Op op : set_.ops())
      bytes = std::max(bytes, table_.queue_workspace_bytes(operation(op), items_));
    return bytes;
  }

  void queue(const DeviceOperation& o) {
    cuda::ErrorText why{};
    if (table_.queue(o, batch_, host_seed_, reinterpret_cast<std::byte*>(workspace_.data), stream_, &why) !=
        cuda::Outcome::kOk) {
      die(set_.name() + ": " + why.text);
    }
  }

  /// Measures the whole operation, in items per second.
  double rate(Op op) {
    batch_.ss_out = op == Op::kDecaps ? ss2_.data : ss_.data;
    const DeviceOperation& o = operation(op);
    for (int warm = 0; warm < 3; ++warm)
      queue(o);
    Marks marks(2);
    std::vector<float> samples;
    for (int i = 0; i < kSamples; ++i) {
      marks.record(0, stream_);
      queue(o);
      marks.record(1, stream_);
      marks.wait(o.scheme);
      samples.push_back(marks.after(0));
    }
    return static_cast<double>(items_) / (median(samples) * 1e-3);
  }

  /// Returns the bytes that the first GPU's L2 cache holds.
  static double cache_bytes() {
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, 0), "asking for the cache's size");
    return bytes;
  }

  /// Measures each step by itself, over all its tiles, and the wiping of the workspace.
  std::vector<StepResult> run_steps(const DeviceOperation& o) {
    const std::vector<Launch> list = launches(o, batch_);
    const size_t wipe = o.steps.size();
    Marks marks(list.size() + 2);
    std::vector<std::vector<float>> samples(wipe + 1);
    auto* workspace = reinterpret_cast<std::byte*>(workspace_.data);
    for (int i = 0; i < kSamples; ++i) {
      marks.record(0, stream_);
      for (size_t l = 0; l < list.size(); ++l) {
        const auto [step, tile] = list[l];
        check(static_cast<cudaError_t>(o.run_step(step, tile, batch_, workspace, stream_)), o.steps[step].info.name);
        marks.record(l + 1, stream_);
      }
      check(cudaMemsetAsync(workspace, 0, o.zeroized_bytes(items_), stream_), "wipe");
      marks.record(list.size() + 1, stream_);
      marks.wait(o.scheme);
      std::vector<float> sums(wipe + 1);
      for (size_t l = 0; l < list.size(); ++l)
        sums[list[l].step] += marks.after(l);
      sums[wipe] = marks.after(list.size());
      for (size_t s = 0; s <= wipe; ++s)
        samples[s].push_back(sums[s]);
    }
    const double items = static_cast<double>(items_), per_item = 1e6 / items, cached = cache_bytes() / items;
    std::vector<StepResult> results;
    for (size_t s = 0; s < wipe; ++s)
      results.push_back(
          {o.steps[s].info.name, median(samples[s]) * per_item, floor_ns(o, o.steps[s], batch_.shared_key, cached)});
    const Work wiping{.bytes = static_cast<double>(o.zeroized_bytes(items_)) / items};
    results.push_back({"wipe", median(samples[wipe]) * per_item, wiping.seconds(cached) * 1e9});
    return results;
  }

  void check_outputs() const {
    if (set_.signs()) return check_verdicts(), check_signatures_with_ref();
    check_secrets();
    check_with_ref();
  }

  /// Checks that all signatures were verified.
  void check_verdicts() const {
    for (const uint8_t byte : read(status_, 0, status_.size))
      if (byte != 0) die(set_.name() + ": a signature was refused");
  }

  /// Checks that `ref` verifies the last signatures.
  void check_signatures_with_ref() const {
    const auto& info = set_.info;
    const size_t count = std::min<size_t>(items_, 4), first = items_ - count;
    const Context ref("ref");
    const std::vector<uint8_t> pk = read(pk_, first * info.public_key_bytes, count * info.public_key_bytes);
    const std::vector<uint8_t> sig = read(ct_, first * info.signature_bytes, count * info.signature_bytes);
    const std::vector<uint8_t> texts = read(messages_, first * kMessageBytes, count * kMessageBytes);
    polykem_messages messages{};
    messages.struct_size = sizeof messages;
    messages.strings = {texts.data(), nullptr, kMessageBytes, 0};
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = POLYKEM_VERIFY;
    r.scheme = set_.scheme;
    r.count = count;
    r.pk = pk.data();
    r.messages = &messages;
    r.sig = sig.data();
    check(polykem_run(ref.context, &r), set_.name() + ": ref refuses a signature");
  }

  /// Checks that both sides have the same secrets.
  void check_secrets() const {
    const size_t bytes = items_ * set_.info.shared_secret_bytes;
    if (read(ss_, 0, bytes) != read(ss2_, 0, bytes)) die(set_.name() + ": the two sides have different secrets");
  }

  static std::vector<uint8_t> read(const DeviceBytes& from, size_t offset, size_t bytes) {
    std::vector<uint8_t> out(bytes);
    check(cudaMemcpy(out.data(), from.data + offset, bytes, cudaMemcpyDeviceToHost), "copy");
    return out;
  }

  /// Checks that `ref` decapsulates the last ciphertexts to the same secrets, and that ciphertexts that `ref` makes for
  /// their keys decapsulate correctly.
  void check_with_ref() const {
    const auto& info = set_.info;
    const size_t count = std::min<size_t>(items_, 4), first = items_ - count;
    const Context ref("ref");
    const std::vector<uint8_t> pk = read(pk_, first * info.public_key_bytes, count * info.public_key_bytes);
    const std::vector<uint8_t> sk = read(sk_, first * info.secret_key_bytes, count * info.secret_key_bytes);
    std::vector<uint8_t> ct = read(ct_, first * info.ciphertext_bytes, count * info.ciphertext_bytes);
    std::vector<uint8_t> ss = read(ss_, first * info.shared_secret_bytes, count * info.shared_secret_bytes);
    std::vector<uint8_t> got(ss.size());
    const auto decapsulate = [&] {
      check(polykem_decaps(ref.context, set_.scheme, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), got.data(),
                           nullptr),
            info.name);
      if (got != ss) die(set_.name() + ": ref has other secrets");
    };
    decapsulate();
    check(
        polykem_encaps(ref.context, set_.scheme, count, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), ss.data(), nullptr),
        info.name);
    decapsulate();
  }

  const cuda::ModuleTable& table_;
  const Set set_;
  const size_t items_;
  DeviceBytes pk_, sk_, ct_, ss_, ss2_, messages_, status_, seed_, workspace_;
  cudaStream_t stream_ = nullptr;
  uint8_t host_seed_[cuda::kSeedBytes];
  DeviceBatch batch_;
};

}  // namespace polykem::bench
