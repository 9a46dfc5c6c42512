// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.hpp"

#include <algorithm>
#include <new>

namespace polykem {

std::unique_ptr<Worker> WorkerPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::unique_ptr<Worker>(new (std::nothrow) Worker);
  auto worker = std::move(idle_.back());
  idle_.pop_back();
  return worker;
}

/// If there is no memory for the list, the worker is freed instead of kept.
void WorkerPool::give_back(std::unique_ptr<Worker> worker) noexcept {
  worker->zeroize();
  const std::lock_guard lock(mutex_);
  try {
    idle_.push_back(std::move(worker));
  } catch (const std::bad_alloc&) {
  }
}

bool Worker::reserve_workspace(const Operation& operation, size_t items) {
  const size_t bytes = operation.workspace_bytes(items);
  clean_ = false;
  if (!workspace.reserve(bytes)) {
    used_bytes_ = 0;
    return false;
  }
  used_bytes_ = std::max(used_bytes_, bytes);
  return true;
}

bool Worker::reserve_keys(size_t bytes) {
  clean_ = false;
  return keys.reserve(bytes);
}

void Worker::zeroize(ZeroizeStack* stack) {
  if (clean_) return;
  polykem::zeroize(workspace.data(), used_bytes_);
  polykem::zeroize(keys.data(), keys.size());
  stack();
  used_bytes_ = 0;
  clean_ = true;
}

}  // namespace polykem
