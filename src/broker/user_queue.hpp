// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "broker/fair_queue.hpp"

namespace polykem::broker {

/// Waiting clients of several users. Users get equal shares of the time, however many clients each has, and a user's
/// clients get equal parts of that share. Not thread-safe.
class UserQueue {
 public:
  struct Turn {
    uint64_t user, client;
  };

  /// Until more than `clients` clients of the user are in the queue, push() allocates nothing.
  void reserve(uint64_t user, size_t clients) {
    users_[user].clients.reserve(clients);
    queue_.reserve(users_.size());
  }
  /// Removes a user who has no client left.
  void forget(uint64_t user) { users_.erase(user); }

  bool empty() const { return size_ == 0; }
  /// The number of waiting clients of all users.
  size_t size() const { return size_; }

  /// Adds a client that has work, unless it is in the queue.
  void push(uint64_t user, uint64_t client, FairQueue::Share& share) {
    if (share.waits) return;
    User& owner = users_.at(user);
    owner.clients.push(client, share);
    queue_.push(user, owner.share);
    ++size_;
  }
  /// Removes and returns the next client of the next user. The caller clears share.waits, adds the cost of the turn to
  /// the share, and calls charge().
  std::optional<Turn> pop() {
    const std::optional<uint64_t> user = queue_.pop();
    if (!user) return std::nullopt;
    User& owner = users_.at(*user);
    owner.share.waits = false;
    --size_;
    return Turn{*user, *owner.clients.pop()};
  }
  /// Charges the user for a turn. The user's other clients wait until then.
  void charge(uint64_t user, uint64_t ns) {
    User& owner = users_.at(user);
    owner.share.used_ns += ns;
    if (!owner.clients.empty()) queue_.push(user, owner.share);
  }
  /// Removes a client that is in the queue.
  void remove(uint64_t user, uint64_t client) {
    User& owner = users_.at(user);
    owner.clients.remove(client);
    --size_;
    if (!owner.clients.empty()) return;
    queue_.remove(user);
    owner.share.waits = false;
  }

 private:
  struct User {
    FairQueue clients;       ///< the user's waiting clients
    FairQueue::Share share;  ///< the user's own share
  };

  std::unordered_map<uint64_t, User> users_;
  FairQueue queue_;  ///< users with a waiting client
  size_t size_ = 0;
};

}  // namespace polykem::broker
