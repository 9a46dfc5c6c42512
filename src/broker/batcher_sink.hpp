// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "broker/operation_sink.hpp"
#include "engine/batcher/batcher.hpp"

namespace polykem::broker {

/// A Batcher as the OperationSink of a Server.
class BatcherSink final : public OperationSink {
 public:
  explicit BatcherSink(Batcher& batcher) : batcher_(batcher) {}
  uint64_t cost_ns(const Request& item) override;
  Status add(const Request& item, Done done, void* user, std::unique_ptr<PendingItem>& out) override;
  void hold() override { batcher_.hold(); }
  void release() override { batcher_.release(); }

 private:
  Batcher& batcher_;
};

}  // namespace polykem::broker
