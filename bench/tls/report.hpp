// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "connection.hpp"

namespace tls_load {

// The events of an interval.
class Report {
 public:
  void add(const Connection& connection);
  void merge(const Report& other);
  void clear() { *this = Report(); }
  bool empty() const { return handshakes_us_.empty() && resets_ == 0 && errors_.empty(); }
  uint64_t failed() const;

  // The JSON has handshakes, failed, resets, seconds, per_second, and p50_us, p90_us, p99_us, max_us of the handshakes.
  nlohmann::json json(double seconds) const;

 private:
  std::vector<uint32_t> handshakes_us_;
  uint64_t resets_ = 0;
  std::map<std::string, uint64_t> errors_;
};

}  // namespace tls_load
