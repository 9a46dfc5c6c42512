// SPDX-License-Identifier: Apache-2.0
// An accelerator for tests, with memory of its own, in which the reference backend computes. It shows everything that
// the engine requires of an accelerator.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/secure.hpp"
#include "engine/accelerator.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/registry.hpp"

namespace polykem::test {

class TestAccelerator final : public Accelerator {
 public:
  TestAccelerator()
      : Accelerator({"test", "the reference behind the interface", "a test"}, "crossover-of-test", Crossovers::kNever) {
  }

  std::atomic<bool> broken{false};    ///< batches fail, and owner_of() no longer knows its memory
  std::atomic<bool> fails{false};     ///< batches fail, but the memory is known
  std::atomic<bool> lies{false};      ///< batches succeed with a wrong byte in every record
  std::atomic<bool> stalls{false};    ///< batches wait while this is set
  std::atomic<int> delay_us{0};       ///< additional time of a chunk
  std::atomic<size_t> max_items{40};  ///< limit of a chunk
  size_t queue_item_bytes = 1;        ///< bytes of an item that queue_workspace_bytes() states
  std::atomic<size_t> chunks{0};      ///< number of chunks so far

  bool available() override { return true; }
  std::string devices() override { return "1 x test"; }
  const char* problem() override { return broken ? "broken by a test" : ""; }
  size_t chunk_items(const Scheme&, Op, const BatchView&, unsigned) override { return max_items; }

  const SchemeBackend* backend_for(const Scheme& scheme) override {
    const std::lock_guard lock(mutex_);
    auto& known = schemes_[&scheme];
    if (known == nullptr) known = std::make_unique<SchemeContext>(*this, scheme);
    return &known->backend;
  }

  Owner owner_of(const void* pointer) override {
    const std::lock_guard lock(mutex_);
    const auto* p = static_cast<const std::byte*>(pointer);
    for (const auto& [begin, block] : memory_) {
      if (p >= begin && p < begin + block.size()) return broken ? Owner::kUnknown : Owner::kSelf;
    }
    return Owner::kOther;
  }
  void zero(void* memory, size_t bytes) override { std::memset(memory, 0, bytes); }

  uint8_t* allocate(size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte> block(bytes + 64);
    std::byte* begin = block.data();
    memory_[begin] = std::move(block);
    return reinterpret_cast<uint8_t*>(begin + (64 - reinterpret_cast<uintptr_t>(begin) % 64) % 64);
  }

  std::unique_ptr<KeyMemory> place_keys(const Scheme& scheme, KeyKind kind, size_t count) override {
    const SchemeBackend& ref = *cpu_backend(scheme, cpu::kRef);
    const bool is_public = kind == KeyKind::kPublicKeys;
    return std::make_unique<Keys>(*this, is_public ? ref.expanded_public_key : ref.expanded_secret_key, count,
                                  is_public ? scheme.public_key_bytes : scheme.secret_key_bytes);
  }

  Status queue_workspace_bytes(const Scheme&, Op, size_t count, size_t& bytes) override {
    bytes = count * queue_item_bytes;
    return Status::kOk;
  }
  Status queue(const Scheme& scheme, Op op, const Batch& batch, void*, void*) override {
    return run(scheme, op, batch);
  }

 private:
  struct SchemeContext {
    struct OperationContext {
      TestAccelerator* accelerator;
      const Scheme* scheme;
      Op op;
    };
    SchemeContext(TestAccelerator& accelerator, const Scheme& scheme) {
      backend.name = accelerator.name();
      for (size_t i = 0; i < kOpCount; ++i) {
        const auto op = static_cast<Op>(i);
        if (!scheme.has(op)) continue;
        const auto& ref = cpu_backend(scheme, cpu::kRef)->op(op);
        operations[i] = {&accelerator, &scheme, op};
        backend.ops[i] = {ref.steps, 1, 1, [](size_t) { return size_t{0}; }, run_operation, &operations[i]};
      }
    }
    static Status run_operation(const void* context, const Batch& batch, std::byte*, StepTimes*) {
      const auto& o = *static_cast<const OperationContext*>(context);
      return o.accelerator->run(*o.scheme, o.op, batch);
    }
    OperationContext operations[kOpCount];
    SchemeBackend backend{};
  };

  class Keys final : public KeyMemory {
   public:
    Keys(TestAccelerator& accelerator, const ExpandedKeyFormat& format, size_t count, size_t bytes)
        : accelerator_(accelerator),
          format_(format),
          count_(count),
          bytes_(bytes),
          data_(accelerator.allocate(count * bytes)) {}
    uint8_t* records() override { return data_; }
    Status fill(const uint8_t* records) override {
      std::memcpy(data_, records, count_ * bytes_);
      return Status::kOk;
    }
    void expand() override {
      if (format_.bytes == 0) return;
      expanded_ = reinterpret_cast<std::byte*>(accelerator_.allocate(count_ * format_.bytes));
      SecureBuffer workspace;
      if (!workspace.reserve(format_.workspace_bytes(count_) + 64)) throw std::bad_alloc();
      format_.expand(expanded_, data_, count_, workspace.data());
    }
    ExpandedKeys expanded(bool) const override { return {.data = expanded_, .bytes = format_.bytes}; }

   private:
    TestAccelerator& accelerator_;
    const ExpandedKeyFormat format_;
    const size_t count_, bytes_;
    uint8_t* const data_;
    std::byte* expanded_ = nullptr;
  };

  /// Runs one item at a time and chooses its key here.
  Status run(const Scheme& scheme, Op op, const Batch& batch) {
    ++chunks;
    while (stalls)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    if (broken || fails) {
      std::memset(batch.ss_out != nullptr ? batch.ss_out : batch.pk_out, 0xee, batch.count);
      return Status::kBackendUnavailable;
    }
    const Operation& ref = cpu_backend(scheme, cpu::kRef)->op(op);
    const RecordBytes bytes = scheme.record_bytes(op);
    SecureBuffer workspace;
    if (!workspace.reserve(ref.workspace_bytes(1))) return Status::kOutOfMemory;
    for (size_t i = 0; i < batch.count; ++i) {
      Batch item{batch.slice(bytes, i, 1), batch.drbg};
      if (item.key_index != nullptr) {
        const size_t key = *item.key_index;
        if (item.pk != nullptr) item.pk += key * bytes.pk;
        if (item.sk != nullptr) item.sk += key * bytes.sk;
        item.key_index = nullptr;
      }
      const Status status = ref.run(ref.context, item, workspace.data(), nullptr);
      if (status != Status::kOk) return status;
      if (lies) *(item.ss_out != nullptr ? item.ss_out : item.pk_out) ^= 1;
    }
    return Status::kOk;
  }

  std::mutex mutex_;
  std::map<const Scheme*, std::unique_ptr<SchemeContext>> schemes_;
  std::map<const std::byte*, std::vector<std::byte>> memory_;
};

}  // namespace polykem::test
