// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>

namespace tls_load {

void Report::add(const Connection& connection) {
  switch (connection.phase()) {
    case Phase::kDone:
      handshakes_us_.push_back(static_cast<uint32_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(connection.handshake_time()).count()));
      break;
    case Phase::kReset:
      ++resets_;
      break;
    case Phase::kFailed:
      ++errors_[connection.error()];
      break;
    default:
      break;
  }
}

void Report::merge(const Report& other) {
  handshakes_us_.insert(handshakes_us_.end(), other.handshakes_us_.begin(), other.handshakes_us_.end());
  resets_ += other.resets_;
  for (const auto& [error, count] : other.errors_)
    errors_[error] += count;
}

uint64_t Report::failed() const {
  uint64_t sum = 0;
  for (const auto& [error, count] : errors_)
    sum += count;
  return sum;
}

nlohmann::json Report::json(double seconds) const {
  std::vector<uint32_t> sorted = handshakes_us_;
  std::sort(sorted.begin(), sorted.end());
  auto quantile = [&](double q) { return sorted.empty() ? 0 : sorted[static_cast<size_t>(q * (sorted.size() - 1))]; };
  nlohmann::json out = {{"handshakes", sorted.size()},
                        {"failed", failed()},
                        {"resets", resets_},
                        {"seconds", seconds},
                        {"per_second", static_cast<double>(sorted.size()) / seconds},
                        {"p50_us", quantile(0.5)},
                        {"p90_us", quantile(0.9)},
                        {"p99_us", quantile(0.99)},
                        {"max_us", quantile(1)}};
  if (!errors_.empty()) out["errors"] = errors_;
  return out;
}

}  // namespace tls_load
