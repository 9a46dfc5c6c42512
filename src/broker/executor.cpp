// SPDX-License-Identifier: Apache-2.0
#include "broker/executor.hpp"

#include <utility>

namespace polykem::broker {

bool BrokerExecutor::available(const Scheme& /*scheme*/, Op /*op*/) {
  const std::lock_guard connecting(connecting_);
  std::shared_ptr<Connection> dead;
  {
    const std::lock_guard lock(mutex_);
    if (connection_ != nullptr && connection_->alive()) return true;
    if (connection_.use_count() > 1) return false;  // the user may be its own thread, which would wait for itself
    dead = std::move(connection_);
  }
  dead.reset();
  const char* problem = "";
  std::shared_ptr<Connection> fresh = Connection::open(path_.c_str(), kSlots, problem);
  problem_ = problem;
  const std::lock_guard lock(mutex_);
  connection_ = std::move(fresh);
  return connection_ != nullptr;
}

Status BrokerExecutor::submit(const Request& request, Done done) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    connection = connection_;
  }
  if (connection == nullptr) return Status::kBackendUnavailable;
  const auto deadline = static_cast<uint64_t>(std::chrono::nanoseconds(deadline_).count());
  return connection->submit(request, deadline == 0 ? 0 : monotonic_ns() + deadline, std::move(done));
}

}  // namespace polykem::broker
