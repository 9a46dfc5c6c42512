// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "broker/connection.hpp"
#include "engine/batcher/executor.hpp"

namespace polykem::broker {

/// polykemd as an executor of a batcher. It connects when it is asked whether it is available, and again after a
/// hang-up; the batcher decides when to ask. A fork of the process makes its own.
class BrokerExecutor final : public Executor {
 public:
  /// deadline: how long a result is of use to the batcher; 0: for ever.
  BrokerExecutor(std::string path, std::chrono::microseconds deadline) : path_(std::move(path)), deadline_(deadline) {}

  Kind kind() const override { return Kind::kBroker; }
  const char* name() const override { return "broker"; }
  unsigned slots() const override { return kBatches; }
  /// To find out that nobody listens costs little.
  Clock::duration longest_pause() const override { return std::chrono::seconds(1); }
  /// The protocol has no messages.
  bool has(const Scheme& scheme) const override { return !scheme.is_signature(); }
  bool available(const Scheme& scheme, Op op) override;
  Status submit(const Request& request, Done done) override;
  const char* problem() const override { return problem_; }

 private:
  /// The daemon puts the batches of all its clients together: many may be on their way, however small.
  static constexpr unsigned kBatches = 16;
  static constexpr uint32_t kSlots = 256;

  const std::string path_;
  const std::chrono::microseconds deadline_;
  std::mutex connecting_, mutex_;
  std::shared_ptr<Connection> connection_;
  std::atomic<const char*> problem_{"not asked yet"};
};

}  // namespace polykem::broker
