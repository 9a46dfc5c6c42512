// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "broker/connection.hpp"
#include "engine/batcher/executor.hpp"

namespace polykem::broker {

/// polykemd as an executor of a batcher. It connects when the batcher first asks whether it is available, and
/// reconnects when asked after a hang-up. A forked child opens its own connection.
class BrokerExecutor final : public Executor {
 public:
  /// deadline: how long a result is useful to the batcher; 0: forever.
  BrokerExecutor(std::string path, std::chrono::microseconds deadline) : path_(std::move(path)), deadline_(deadline) {}

  Kind kind() const override { return Kind::kBroker; }
  const char* name() const override { return "broker"; }
  unsigned max_in_flight() const override { return kBatches; }
  /// Short, because it costs little to find out that no daemon listens.
  Clock::duration longest_pause() const override { return std::chrono::seconds(1); }
  /// The protocol does not carry messages to be signed or verified.
  bool has(const Scheme& scheme) const override { return !scheme.is_signature(); }
  bool available(const Scheme& scheme, Op op) override;
  Status submit(const Request& request, Done done) override;
  const char* problem() const override { return problem_; }

 private:
  /// Many, since the daemon combines small batches of all its clients.
  static constexpr unsigned kBatches = 16;
  static constexpr uint32_t kSlots = 256;

  const std::string path_;
  const std::chrono::microseconds deadline_;
  std::mutex connecting_, mutex_;
  std::shared_ptr<Connection> connection_;
  std::atomic<const char*> problem_{"not asked yet"};
};

}  // namespace polykem::broker
