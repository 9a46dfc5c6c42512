// SPDX-License-Identifier: Apache-2.0
#include "net/service_times.hpp"

#include <algorithm>
#include <cmath>

namespace polykem::cli::net {
namespace {

constexpr double kWeightOfNewest = 0.5;
// The clock cannot measure less than a nanosecond per item.
constexpr double kLeastNs = 1;

}  // namespace

void ServiceTimes::add(polykem_op op, std::size_t items, Clock::time_point submitted, Clock::time_point finished) {
  const Clock::duration service = finished - std::max(submitted, last_finished_);
  last_finished_ = std::max(last_finished_, finished);
  const double ns = static_cast<double>(std::chrono::nanoseconds(service).count());
  const double newest = std::max(ns / static_cast<double>(items), kLeastNs);
  std::optional<double>& mean = item_ns_[op];
  mean = mean ? *mean + kWeightOfNewest * (newest - *mean) : newest;
}

std::optional<std::chrono::nanoseconds> ServiceTimes::of(polykem_op op, std::size_t items) const {
  if (!item_ns_[op]) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(*item_ns_[op] * static_cast<double>(items)));
}

std::optional<std::size_t> ServiceTimes::items_in(polykem_op op, std::chrono::nanoseconds time) const {
  if (!item_ns_[op]) return std::nullopt;
  return std::max<std::size_t>(static_cast<std::size_t>(static_cast<double>(time.count()) / *item_ns_[op]), 1);
}

}  // namespace polykem::cli::net
