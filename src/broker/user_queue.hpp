// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "broker/fair_queue.hpp"

namespace polykem::broker {

/// Clients of several users that wait for their turn. Users have equal shares of the time, however many clients each
/// has, and so have the clients of one user among each other. Not thread-safe.
class UserQueue {
 public:
  struct Turn {
    uint64_t user, client;
  };

  /// push() takes no memory while no more than `clients` clients of the user are in the queue.
  void reserve(uint64_t user, size_t clients) {
    users_[user].clients.reserve(clients);
    queue_.reserve(users_.size());
  }
  /// For a user who has no client left.
  void forget(uint64_t user) { users_.erase(user); }

  bool empty() const { return size_ == 0; }
  /// Clients, of all users together.
  size_t size() const { return size_; }

  /// The client has work; nothing happens if it is in the queue.
  void push(uint64_t user, uint64_t client, FairQueue::Share& share) {
    if (share.waits) return;
    User& owner = users_.at(user);
    owner.clients.push(client, share);
    queue_.push(user, owner.share);
    ++size_;
  }
  /// Takes out the next client of the user who is next. The caller marks the client's share, adds to it what its turn
  /// costs, and calls charge().
  std::optional<Turn> pop() {
    const std::optional<uint64_t> user = queue_.pop();
    if (!user) return std::nullopt;
    User& owner = users_.at(*user);
    owner.share.waits = false;
    --size_;
    return Turn{*user, *owner.clients.pop()};
  }
  /// What a turn has cost. Only then is it the turn of the user's other clients.
  void charge(uint64_t user, uint64_t ns) {
    User& owner = users_.at(user);
    owner.share.had_ns += ns;
    if (!owner.clients.empty()) queue_.push(user, owner.share);
  }
  /// Takes out a client that is in the queue.
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
    FairQueue clients;       ///< those that wait
    FairQueue::Share share;  ///< of the user among users
  };

  std::unordered_map<uint64_t, User> users_;
  FairQueue queue_;  ///< users of whom a client waits
  size_t size_ = 0;
};

}  // namespace polykem::broker
