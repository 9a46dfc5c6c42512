// SPDX-License-Identifier: Apache-2.0
// Handshakes without a network: both ends in one process, frames passed in memory.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include <asio/io_context.hpp>

#include "net/operations.hpp"
#include "net/session.hpp"

namespace polykem::cli::net {

struct InprocOptions {
  Role role = Role::kServerDecaps;
  std::uint64_t clients = 10000;
  std::size_t concurrency = 10000;  ///< handshakes in progress at once
  BatchPolicy batch;
};

class InprocPair;

/// Runs `clients` handshakes, `concurrency` at once. Server and clients have a context and a batcher each, as over TCP.
/// Everything happens on the loop's thread.
class InprocExchange {
 public:
  InprocExchange(asio::io_context& loop, const Context& server, const Context& client, const Scheme& scheme,
                 const InprocOptions& options);
  ~InprocExchange();

  void start();
  /// Called once, when every handshake has ended.
  void on_end(std::function<void()> callback) { on_end_ = std::move(callback); }
  /// Starts no more handshakes and ends those in progress.
  void stop();

  const OutcomeCounts& outcomes() const { return client_report_.outcomes; }
  EndReport server_report() const;
  EndReport client_report() const;

 private:
  friend class InprocPair;

  void start_pairs();
  void on_pair_done(InprocPair& pair);
  static void record(EndReport& report, Outcome outcome, const std::string& detail);

  asio::io_context& loop_;
  Scheme scheme_;
  InprocOptions options_;
  KemOperations server_operations_;
  KemOperations client_operations_;
  std::unordered_map<InprocPair*, std::shared_ptr<InprocPair>> pairs_;
  std::uint64_t started_ = 0;
  bool stopping_ = false;
  std::function<void()> on_end_;
  EndReport server_report_;
  EndReport client_report_;
};

}  // namespace polykem::cli::net
